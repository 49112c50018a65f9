# SPDX-License-Identifier: Apache-2.0
"""Tagged arguments of docs/plan-format.md, to and from Python values."""
import math

import torch

from faults import CandidateFault

DTYPES = {
    "float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2, "complex64": torch.complex64,
    "complex128": torch.complex128, "int64": torch.int64, "int32": torch.int32, "int16": torch.int16,
    "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
MEMORY_FORMATS = {
    "contiguous": torch.contiguous_format, "channels_last": torch.channels_last,
    "channels_last_3d": torch.channels_last_3d, "preserve": torch.preserve_format}
MEMORY_FORMAT_NAMES = {form: name for name, form in MEMORY_FORMATS.items()}
MEMORY_FORMAT_CODES = ["contiguous", "preserve", "channels_last", "channels_last_3d"]   # c10::MemoryFormat


def decode(argument, device):
    """The Python value of a tagged argument that kagent sent."""
    (tag, value), = argument.items()
    if tag == "none":
        return None
    if tag in ("int", "bool", "string"):
        return value
    if tag == "float":
        return float.fromhex(value)
    if tag == "dtype":
        return DTYPES[value]
    if tag == "memory_format":
        return MEMORY_FORMATS[value]
    if tag == "layout":
        return torch.strided
    if tag == "device":
        return device
    if tag == "list":
        return [decode(item, device) for item in value]
    raise ValueError(f"an argument cannot be a {tag}")


def encode_float(value):
    if math.isfinite(value):
        return {"float": value.hex()}
    return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def encode_scalar(value):
    """None, bool, int, float, str; anything else gives None."""
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise CandidateFault("unsupported", f"the integer {value} does not fit in 64 bits")
        return {"int": int(value)}
    if isinstance(value, float):
        return encode_float(float(value))
    if isinstance(value, str):
        return {"string": str(value)}
    return None


def dtype_name(dtype):
    name = DTYPE_NAMES.get(dtype)
    if name is None:
        raise CandidateFault("unsupported", f"tensors of {dtype} are not supported")
    return name


class Encoder:
    """Operator arguments to tagged form. tensor_id: function from a tensor to its index in the plan."""

    def __init__(self, device, tensor_id):
        self._device = device
        self._tensor_id = tensor_id

    def operator(self, schema, args, kwargs):
        """One entry for each argument of the schema, in its order, defaults filled in."""
        encoded = []
        for position, argument in enumerate(schema.arguments):
            if not argument.kwarg_only and position < len(args):
                encoded.append(self.value(args[position], argument))
            elif argument.name in kwargs:
                encoded.append(self.value(kwargs[argument.name], argument))
            else:
                encoded.append(self._default(argument))
        return encoded

    def _default(self, argument):
        default = argument.default_value
        kind = str(argument.real_type)
        if isinstance(default, int) and not isinstance(default, bool):   # enumerations arrive as their number
            if "MemoryFormat" in kind:
                return {"memory_format": MEMORY_FORMAT_CODES[default]}
            if "Layout" in kind:
                return {"layout": "strided"}
            if "ScalarType" in kind:
                raise CandidateFault("unsupported", f"the default of {argument.name} cannot be written in a plan")
        return self.value(default, argument)

    def value(self, value, argument):
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor_id(value)}
        if isinstance(value, (list, tuple)):
            return {"list": [self.value(item, argument) for item in value]}
        scalar = encode_scalar(value)
        if scalar is not None:
            if "int" in scalar and str(argument.real_type) in ("float", "Optional[float]"):
                return encode_float(float(value))
            return scalar
        if isinstance(value, torch.dtype):
            return {"dtype": dtype_name(value)}
        if isinstance(value, torch.memory_format):
            return {"memory_format": MEMORY_FORMAT_NAMES[value]}
        if isinstance(value, torch.layout):
            if value != torch.strided:
                raise CandidateFault("unsupported", f"tensors of layout {value} are not supported")
            return {"layout": "strided"}
        if isinstance(value, torch.device):
            if value != self._device:
                raise CandidateFault("unsupported", f"a tensor on {value} cannot be part of a plan",
                                     f"everything lives on {self._device}: pass device=x.device")
            return {"device": "plan"}
        raise CandidateFault("unsupported", f"argument {argument.name} is a {type(value).__name__}, which a plan cannot hold")
