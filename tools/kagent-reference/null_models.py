# SPDX-License-Identifier: Apache-2.0
"""What an answer that computes nothing would be taken for (docs/verdict.md, "Null models")."""
import torch


def null_models(arguments, stale):
    """{name: [output]}. `stale`: the outputs of another input set."""
    found = {"zeros": [torch.zeros_like(output) for output in stale],
             "constant": [_mean(output) for output in stale],
             "another input's output": stale}
    copies = [_like(arguments, output) for output in stale]
    if all(copy is not None for copy in copies):
        found["input copy"] = copies
    return found


def _mean(output):
    if output.dtype == torch.bool or output.numel() == 0:
        return torch.zeros_like(output)
    wide = output.double() if not output.is_complex() else output
    return torch.full_like(output, wide.mean().item() if output.is_floating_point() or output.is_complex()
                           else round(wide.mean().item()))


def _like(arguments, output):
    for value in arguments:
        if isinstance(value, torch.Tensor) and (value.shape, value.dtype) == (output.shape, output.dtype):
            return value
    return None
