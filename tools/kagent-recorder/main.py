# SPDX-License-Identifier: Apache-2.0
"""kagent's recorder: model_new.py to a plan, without a GPU. Started with a channel as descriptor 3."""
import os
import sys

sys.dont_write_bytecode = True
_OWN = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_OWN, *(os.path.join(os.path.dirname(_OWN), name) for name in ("shared-python", "python"))]
os.environ.update({
    "TORCHINDUCTOR_CACHE_DIR": "/",   # exists; without it, importing torch needs a writable /tmp. Nothing is written
    "CUDA_VISIBLE_DEVICES": "", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})


def main():
    try:
        import torch
    except ImportError as error:
        sys.exit(f"kagent-recorder: cannot import torch with {sys.executable}: {error}")
    torch.set_num_threads(1)   # never a parallel region: children forked after one would hang

    import gc
    import logging
    from confine import Nest
    from kagent_channel import Channel
    from server import serve
    from warmup import warm_up

    logging.disable(logging.CRITICAL)   # fake tensors log the whole traceback of what is a fault in one line here
    channel = Channel.from_descriptor()
    nest = Nest()
    nest.hide_server()
    warm_up()
    gc.collect()
    gc.freeze()                # objects that live for ever are not touched, so their pages stay shared
    serve(channel, nest)


if __name__ == "__main__":
    main()
