# SPDX-License-Identifier: Apache-2.0
"""kagent's reference: what a task's Model answers, and how long it takes. Started with a channel as descriptor 3."""
import os
import sys

sys.dont_write_bytecode = True
_OWN = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_OWN, os.path.join(os.path.dirname(_OWN), "shared-python")]


def main():
    try:
        import torch
    except ImportError as error:
        sys.exit(f"kagent-reference: cannot import torch with {sys.executable}: {error}")
    torch.set_grad_enabled(False)

    from kagent_channel import Channel
    from server import serve

    channel = Channel.from_descriptor()
    serve(channel)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)   # nothing to save, and what task.py left running must not hold us up


if __name__ == "__main__":
    main()
