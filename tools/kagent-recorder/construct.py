# SPDX-License-Identifier: Apache-2.0
"""Loads model_new.py and constructs ModelNew on real CPU tensors, without paying for random fills.

Values of weights do not matter here, since the reference's are used later; a constructor under fake tensors would
lose tables and masks that it computes. Random fills leave NaN (in small tensors), so that a constant that was
drawn at random, or computed from weights, can be told from an honest one.
"""
import contextlib
import importlib.util
import os
import sys

import torch
from torch.overrides import TorchFunctionMode

from faults import CandidateFault

MODULE_NAME = "model_new"
MARK_LIMIT = 1 << 16   # elements; larger tensors keep what memory held

_INIT_FILLS = ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
               "kaiming_normal_", "orthogonal_", "sparse_")
_TENSOR_FILLS = ("uniform_", "normal_", "exponential_", "cauchy_", "log_normal_", "geometric_")


def _mark(tensor):
    if tensor.numel() <= MARK_LIMIT and tensor.is_floating_point():
        with torch.no_grad():
            tensor.fill_(float("nan"))
    return tensor


def _fill(tensor, *_, **__):
    return _mark(tensor)


def _make(maker):
    def make(*args, **kwargs):
        kwargs.pop("generator", None)
        return _mark(maker(*args, **kwargs))
    return make


def _replacements():
    table = {getattr(torch.Tensor, name): _fill for name in _TENSOR_FILLS}
    table.update({getattr(torch.nn.init, name): _fill for name in _INIT_FILLS})
    table[torch.rand] = table[torch.randn] = _make(torch.empty)
    table[torch.rand_like] = table[torch.randn_like] = _make(torch.empty_like)
    return table


class ConstructorMode(TorchFunctionMode):
    """Random fills cost nothing; what asks for the GPU gets the CPU, since kagent moves everything afterwards."""

    _table = None

    def __init__(self):
        super().__init__()
        if ConstructorMode._table is None:
            ConstructorMode._table = _replacements()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.Tensor.cuda:
            return args[0]
        if kwargs.get("device") is not None and _names_gpu(kwargs["device"]):
            kwargs = dict(kwargs, device="cpu")
        if function is torch.Tensor.to:
            args = tuple("cpu" if _names_gpu(value) else value for value in args)
        return self._table.get(function, function)(*args, **kwargs)


@contextlib.contextmanager
def _cheap():
    """ConstructorMode, and torch.nn.init without its work: not all of its functions can be seen by a mode."""
    originals = {name: getattr(torch.nn.init, name) for name in _INIT_FILLS}
    for name in originals:
        setattr(torch.nn.init, name, _fill)
    try:
        with ConstructorMode():
            yield
    finally:
        for name, original in originals.items():
            setattr(torch.nn.init, name, original)


def _names_gpu(value):
    if isinstance(value, str):
        return value.startswith("cuda")
    return isinstance(value, torch.device) and value.type == "cuda"


def load_module(folder):
    """Executes the candidate's model_new.py as a module of that name."""
    path = os.path.join(folder, "model_new.py")
    if not os.path.isfile(path):
        raise CandidateFault("unsupported", "the candidate has no model_new.py", "put class ModelNew there")
    specification = importlib.util.spec_from_file_location(MODULE_NAME, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[MODULE_NAME] = module
    with _cheap():
        specification.loader.exec_module(module)
    return module


def construct(module, init_arguments, mode):
    """ModelNew(*init_arguments) in eval or train mode, its tensors real and on the CPU."""
    model_class = getattr(module, "ModelNew", None)
    if model_class is None:
        raise CandidateFault("unsupported", "model_new.py defines no class ModelNew",
                             "name the optimised module ModelNew", ("model_new.py", 1))
    if not (isinstance(model_class, type) and issubclass(model_class, torch.nn.Module)):
        raise CandidateFault("unsupported", "ModelNew is not a subclass of torch.nn.Module",
                             "class ModelNew(torch.nn.Module)", ("model_new.py", 1))
    with _cheap():
        model = model_class(*init_arguments)
    return model.train(mode == "train")
