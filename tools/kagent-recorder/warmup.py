# SPDX-License-Identifier: Apache-2.0
"""Records a small candidate in the server, so that forked children find every lazy import and cache filled."""
import os

from record import Recording

_EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example")



def _weight(path, shape):
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= size
    return {"path": path, "spec": {"dtype": "float32", "shape": shape, "stride": stride}}


def warm_up():
    """Raises RuntimeError where the machinery does not work in this installation."""
    weights = [_weight("conv.weight", [4, 4, 3, 3]), _weight("conv.bias", [4]), _weight("line.weight", [4, 4]),
               _weight("line.bias", [4])]
    weights += [_weight(f"norm.{name}", [4]) for name in ("weight", "bias", "running_mean", "running_var")]
    image = {"dtype": "float32", "shape": [2, 4, 8, 8], "stride": [256, 64, 8, 1]}
    for backend in ("cuda", "cpu"):
        request = {"candidate": _EXAMPLE, "backend": backend, "device": {}, "mode": "eval",
                   "signature": {"init": [], "inputs": [{"tensor": image}], "weights": weights}}
        answer = Recording(request, lambda phase: None).answer()
        if "ok" not in answer:
            raise RuntimeError(f"the recorder cannot record its own example: {answer['fault']}")
