# SPDX-License-Identifier: Apache-2.0
"""forward's return value as the output tree of docs/plan-format.md."""
import torch

from arguments import encode_scalar
from faults import CandidateFault

MAX_DEPTH = 8


def output_tree(value, tensor_id, depth=0):
    """tensor_id: function from a tensor to its index in the plan."""
    if depth > MAX_DEPTH:
        raise CandidateFault("unsupported", f"forward returns a nest deeper than {MAX_DEPTH}")
    if isinstance(value, torch.Tensor):
        return {"tensor": tensor_id(value)}
    if isinstance(value, tuple):
        return {"tuple": [output_tree(item, tensor_id, depth + 1) for item in value]}
    if isinstance(value, list):
        return {"list": [output_tree(item, tensor_id, depth + 1) for item in value]}
    if isinstance(value, dict):
        keys = list(value.keys())
        if not all(isinstance(key, str) for key in keys):
            raise CandidateFault("unsupported", "forward returns a dict with keys that are not strings")
        return {"dict": {"keys": [str(key) for key in keys],
                         "items": [output_tree(value[key], tensor_id, depth + 1) for key in keys]}}
    scalar = encode_scalar(value)
    if scalar is None:
        raise CandidateFault("unsupported", f"forward returns a {type(value).__name__}",
                             "return tensors, Python scalars, and lists, tuples and dicts of them")
    return {"scalar": scalar}
