# SPDX-License-Identifier: Apache-2.0
"""Python values in the forms of docs/plan-format.md: tagged arguments, tensor specs, output trees."""
import math

import torch

from task_file import TaskInvalid

MAX_DEPTH = 8
DTYPE_NAMES = {
    torch.float64: "float64", torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e5m2: "float8_e5m2", torch.complex64: "complex64",
    torch.complex128: "complex128", torch.int64: "int64", torch.int32: "int32", torch.int16: "int16",
    torch.int8: "int8", torch.uint8: "uint8", torch.bool: "bool"}


def argument(value, where, depth=0):
    """The tagged form of a Python value; TaskInvalid, naming `where`, if it has none."""
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise TaskInvalid(f"{where} is {value}, which does not fit in 64 bits")
        return {"int": int(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return {"float": float(value).hex()}
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, str):
        return {"string": str(value)}
    if isinstance(value, torch.dtype) and value in DTYPE_NAMES:
        return {"dtype": DTYPE_NAMES[value]}
    if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        return {"list": [argument(item, where, depth + 1) for item in value]}
    raise TaskInvalid(f"{where} is a {type(value).__name__}; kagent takes tensors, numbers, bools, strings, None and "
                      "lists of these")


def spec(tensor, where):
    """TensorSpec of a dense tensor."""
    name = DTYPE_NAMES.get(tensor.dtype)
    if name is None:
        raise TaskInvalid(f"{where} has dtype {tensor.dtype}, which kagent does not support")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
        raise TaskInvalid(f"{where} is not a dense tensor")
    return {"dtype": name, "shape": list(tensor.shape), "stride": list(tensor.stride())}


def describe(form):
    """float32[4, 512]."""
    return f"{form['dtype']}{form['shape']}"


def flatten_outputs(value, tensors, depth=0):
    """The OutputTree of forward's value; its tensors are appended to `tensors` in the order of the walk."""
    if depth > MAX_DEPTH:
        raise TaskInvalid(f"forward returns a nest deeper than {MAX_DEPTH}")
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, dict):
        keys = list(value)
        if not all(isinstance(key, str) for key in keys):
            raise TaskInvalid("forward returns a dict whose keys are not strings")
        return {"dict": {"keys": keys, "items": [flatten_outputs(value[key], tensors, depth + 1) for key in keys]}}
    if isinstance(value, (list, tuple)):
        items = [flatten_outputs(item, tensors, depth + 1) for item in value]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    return {"scalar": argument(value, "forward's result")}
