# SPDX-License-Identifier: Apache-2.0
"""C++ kernels in this process. An image exports `void entry(const void* const* arguments, const int64_t* grid)`."""
import ctypes
import glob
import os

import torch

from kagent.live.packing import PackedArguments
from kagent.launch import LaunchError

_openmp = None


def _load_openmp():
    """Images carry no OpenMP of their own: they use torch's, whose symbols must be visible to all."""
    global _openmp
    if _openmp is None:
        found = glob.glob(os.path.join(os.path.dirname(torch.__file__), "lib", "libgomp*.so*"))
        _openmp = ctypes.CDLL(found[0] if found else "libgomp.so.1", mode=ctypes.RTLD_GLOBAL)


class CpuKernel:
    def __init__(self, name, build, image):
        """image: a descriptor of the shared object, which the caller closes."""
        _load_openmp()
        self._name = name
        self._parameters = build["parameters"]
        self._library = ctypes.CDLL(f"/proc/self/fd/{image}")   # stays loaded
        self._entry = getattr(self._library, build["entry"])
        self._entry.restype = None
        self._entry.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64))

    def launch(self, config, arguments):
        for position, value in enumerate(arguments):
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                raise LaunchError(f"{self._name}: argument {position + 1} is on {value.device}, and this is a C++ kernel")
        packed = PackedArguments(self._name, arguments, self._parameters, self._no_tensor_map)
        self._entry(packed.pointers, (ctypes.c_int64 * 3)(*config.grid))

    @staticmethod
    def _no_tensor_map(_):
        raise LaunchError("a tensor map, which only a card has")
