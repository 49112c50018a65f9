# SPDX-License-Identifier: Apache-2.0
"""Cubins on the card, through the driver that torch has loaded."""
import ctypes
import os

import torch

from kagent.live.packing import PackedArguments
from kagent.launch import LaunchError

_COOPERATIVE, _CLUSTER, _PROGRAMMATIC = 2, 4, 6                 # CUlaunchAttributeID
_MAX_DYNAMIC_SHARED, _NON_PORTABLE_CLUSTER = 8, 14              # CUfunction_attribute
_MAP_TYPES = {torch.float64: 8, torch.float32: 7, torch.float16: 6, torch.bfloat16: 9, torch.int64: 5,
              torch.int32: 3, torch.int16: 1, torch.int8: 0, torch.uint8: 0, torch.bool: 0,
              torch.float8_e4m3fn: 0, torch.float8_e5m2: 0}     # CUtensorMapDataType
_SWIZZLE = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
_INTERLEAVE = {"none": 0, "16B": 1, "32B": 2}
_PROMOTION = {"none": 0, "64B": 1, "128B": 2, "256B": 3}


class _Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16)]


class _Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint)]


class _Driver:
    _loaded = None

    @classmethod
    def get(cls):
        if cls._loaded is None:
            cls._loaded = cls()
        return cls._loaded

    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown error').decode()} ({status})")


def _attribute(identity, *values):
    attribute = _Attribute(id=identity)
    for index, value in enumerate(values):
        attribute.value[index] = value
    return attribute


class CudaKernel:
    def __init__(self, name, build, image):
        """image: a descriptor of the cubin, which the caller closes."""
        self._name = name
        self._entry = build["entry"].encode()
        self._parameters = build["parameters"]
        self._cubin = os.pread(image, os.fstat(image).st_size, 0)
        self._functions = {}      # device index -> CUfunction
        self._shared_bytes = {}   # device index -> dynamic shared memory that is allowed so far

    def launch(self, config, arguments):
        devices = {value.device for value in arguments if isinstance(value, torch.Tensor)}
        devices |= {value.tensor.device for value in arguments if hasattr(value, "swizzle")}
        device = devices.pop() if len(devices) == 1 else torch.device("cuda", torch.cuda.current_device())
        if devices or device.type != "cuda":
            raise LaunchError(f"{self._name}: all tensors must be on one CUDA device")
        driver = _Driver.get()
        with torch.cuda.device(device):
            stream = torch.cuda.current_stream(device).cuda_stream
            function = self._function(driver, device.index)
            self._allow(driver, function, device.index, config)
            packed = PackedArguments(self._name, arguments, self._parameters, self._encode)
            driver.call("cuLaunchKernelEx", ctypes.byref(self._config(config, stream)), function, packed.pointers, None)

    def _function(self, driver, index):
        function = self._functions.get(index)
        if function is None:
            context = ctypes.c_void_p()
            driver.call("cuCtxGetCurrent", ctypes.byref(context))
            if not context:
                torch.cuda.set_device(index)
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            driver.call("cuModuleLoadData", ctypes.byref(module), self._cubin)   # stays loaded
            driver.call("cuModuleGetFunction", ctypes.byref(function), module, self._entry)
            self._functions[index] = function
        return function

    def _allow(self, driver, function, index, config):
        if config.shared_bytes > self._shared_bytes.get(index, 48 << 10):
            driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, ctypes.c_int(config.shared_bytes))
            self._shared_bytes[index] = config.shared_bytes
        if config.cluster and config.cluster[0] * config.cluster[1] * config.cluster[2] > 8:
            driver.call("cuFuncSetAttribute", function, _NON_PORTABLE_CLUSTER, ctypes.c_int(1))

    @staticmethod
    def _config(config, stream):
        attributes = []
        if config.cluster is not None:
            attributes.append(_attribute(_CLUSTER, *config.cluster))
        if config.cooperative:
            attributes.append(_attribute(_COOPERATIVE, 1))
        if config.programmatic:
            attributes.append(_attribute(_PROGRAMMATIC, 1))
        array = (_Attribute * max(1, len(attributes)))(*attributes)
        return _Config(grid=config.grid, block=config.block, shared_bytes=config.shared_bytes, stream=stream,
                       attributes=array, count=len(attributes))

    @staticmethod
    def _encode(tensor_map):
        tensor = tensor_map.tensor
        rank = tensor.dim()
        size = tensor.element_size()
        if tensor.dtype not in _MAP_TYPES or tensor.stride(-1) != 1:
            raise LaunchError("a tensor map over a tensor whose last dimension is not dense")
        storage = ctypes.create_string_buffer(128 + 64)
        address = (ctypes.addressof(storage) + 63) // 64 * 64
        _Driver.get().call(
            "cuTensorMapEncodeTiled", ctypes.c_void_p(address), _MAP_TYPES[tensor.dtype], ctypes.c_uint(rank),
            ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * rank)(*reversed(tensor.shape)),
            (ctypes.c_uint64 * max(1, rank - 1))(*(stride * size for stride in reversed(tensor.stride()[:-1]))),
            (ctypes.c_uint32 * rank)(*tensor_map.box), (ctypes.c_uint32 * rank)(*tensor_map.element_strides),
            _INTERLEAVE[tensor_map.interleave], _SWIZZLE[tensor_map.swizzle], _PROMOTION[tensor_map.l2_promotion],
            int(tensor_map.fill_nan))
        return storage, address
