# SPDX-License-Identifier: Apache-2.0
"""Python values to the bytes of a kernel's parameters; the same rules as kagent's own check of a plan."""
import ctypes
import math
import struct

import torch

from kagent.launch import LaunchError, TensorMap

_POINTEES = {
    "float64": (torch.float64,), "float32": (torch.float32,), "float16": (torch.float16,),
    "bfloat16": (torch.bfloat16,), "float8_e4m3fn": (torch.float8_e4m3fn,), "float8_e5m2": (torch.float8_e5m2,),
    "complex64": (torch.complex64,), "complex128": (torch.complex128,), "int64": (torch.int64,),
    "int32": (torch.int32,), "int16": (torch.int16,), "int8": (torch.int8,), "uint8": (torch.uint8, torch.bool),
    "bool": (torch.bool,)}
_INTEGERS = {("signed_integer", 1): "<b", ("signed_integer", 2): "<h", ("signed_integer", 4): "<i",
             ("signed_integer", 8): "<q", ("unsigned_integer", 1): "<B", ("unsigned_integer", 2): "<H",
             ("unsigned_integer", 4): "<I", ("unsigned_integer", 8): "<Q"}


class PackedArguments:
    """Owns the bytes of all parameters, and the array of pointers to them that a launch takes."""

    def __init__(self, name, arguments, parameters, encode_tensor_map):
        if len(arguments) != len(parameters):
            wanted = ", ".join(parameter.get("type", "?") for parameter in parameters)
            raise LaunchError(f"{name}: {len(arguments)} arguments for {len(parameters)} parameters ({wanted})")
        self._buffers = []
        self.pointers = (ctypes.c_void_p * max(1, len(parameters)))()
        for position, (argument, parameter) in enumerate(zip(arguments, parameters)):
            try:
                address = self._keep(argument, parameter, encode_tensor_map)
            except LaunchError as error:
                raise LaunchError(f"{name}: argument {position + 1} is {error}") from None
            self.pointers[position] = address

    def _keep(self, argument, parameter, encode_tensor_map):
        if isinstance(argument, TensorMap):
            if parameter["kind"] != "tensor_map":
                raise LaunchError(f"a tensor map for a parameter of type {parameter.get('type')}")
            buffer, address = encode_tensor_map(argument)
        else:
            data = pack(argument, parameter)
            buffer = ctypes.create_string_buffer(data, len(data))
            address = ctypes.addressof(buffer)
        self._buffers.append(buffer)
        return address


def pack(argument, parameter):
    """The bytes of one tensor or number as its C++ parameter wants them."""
    kind, size, written = parameter["kind"], parameter["bytes"], parameter.get("type", "")
    if isinstance(argument, torch.Tensor):
        return _pack_tensor(argument, parameter)
    described = str(argument) if isinstance(argument, bool) else f"{type(argument).__name__} {argument}"
    wrong_type = LaunchError(f"{described} for a parameter of type {written}")
    wrong_range = LaunchError(f"{described}, which does not fit into {written}")
    if kind == "boolean":
        if isinstance(argument, float):
            raise wrong_type
        if argument not in (0, 1):
            raise wrong_range
        return struct.pack("<?", bool(argument))
    if kind in ("signed_integer", "unsigned_integer"):
        if isinstance(argument, float):
            raise wrong_type
        try:
            return struct.pack(_INTEGERS[kind, size], int(argument))
        except struct.error:
            raise wrong_range from None
    if kind in ("floating", "half", "bfloat16"):
        if isinstance(argument, bool):
            raise wrong_type
        data = _pack_float(float(argument), kind, size)
        if data is None:
            raise wrong_range
        return data
    raise wrong_type


def _pack_tensor(tensor, parameter):
    if parameter["kind"] != "pointer":
        raise LaunchError(f"a tensor for a parameter of type {parameter.get('type')}")
    pointee = parameter.get("pointee")
    if pointee is not None and tensor.dtype not in _POINTEES[pointee]:
        raise LaunchError(f"a tensor of {tensor.dtype} for a parameter of type {parameter.get('type')}")
    return struct.pack("<Q", tensor.data_ptr())


def _pack_float(value, kind, size):
    """None where a finite value would become infinite."""
    dtype = {"half": torch.float16, "bfloat16": torch.bfloat16}.get(kind)
    if dtype is None:
        dtype = torch.float64 if size == 8 else torch.float32
    rounded = torch.tensor(value, dtype=dtype, device="cpu")   # whatever the default device is
    if math.isfinite(value) and not bool(torch.isfinite(rounded)):
        return None
    return ctypes.string_at(rounded.data_ptr(), rounded.element_size())
