# SPDX-License-Identifier: Apache-2.0
"""The exact answer: the Model in double precision on double-precision inputs (pitfall 28)."""
import contextlib
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from forms import flatten_outputs
from model_state import slots
from task_file import OutOfMemory, TaskInvalid

WIDER = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
         torch.float8_e4m3fn: torch.float64, torch.float8_e5m2: torch.float64, torch.complex64: torch.complex128}


class _Narrow(Exception):
    """The Model computes in a narrower type than double whatever its inputs are."""


class _Watch(TorchDispatchMode):
    """Stops at the first operator whose result is not in double precision."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, torch.Tensor) and value.dtype in WIDER:
                raise _Narrow(f"{func} gives {value.dtype}")
        return result


class ExactRun:
    """Runs the widened Model while that works, fits and takes at most `seconds`; then says why not."""

    def __init__(self, task, model, device, seconds):
        self._task = task
        self._model = model
        self._device = device
        self._seconds = seconds
        self._watched = False
        self.why_not = ""   # empty: exact answers are to be had

    def __call__(self, arguments):
        """The outputs in double precision, in the order of the output tree; None where there are none."""
        if self.why_not:
            return None
        try:
            started = time.monotonic()
            with _double_precision(self._model):
                outputs = self._run([_widened(value) for value in arguments])
                self._synchronize()
        except (OutOfMemory, torch.OutOfMemoryError, MemoryError):
            return self._give_up("an fp64 run does not fit into memory")
        except Exception as error:
            reason = error.__cause__ or error
            if isinstance(reason, _Narrow):
                return self._give_up(f"Model computes in fixed types ({reason})")
            return self._give_up(f"Model does not run in fp64 ({type(reason).__name__})")
        taken = time.monotonic() - started
        if taken > self._seconds:
            self._give_up(f"an fp64 run takes {taken:.1f} s")   # this one still counts
        return outputs

    def _run(self, arguments):
        if self._watched:
            value = self._task.call("forward in fp64", self._model, *arguments)
        else:
            with _Watch():
                value = self._task.call("forward in fp64", self._model, *arguments)
            self._watched = True
        outputs = []
        flatten_outputs(value, outputs)
        if any(tensor.dtype in WIDER for tensor in outputs):
            raise TaskInvalid("an output is not in fp64") from _Narrow("an output is not in fp64")
        return outputs

    def _synchronize(self):
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def _give_up(self, why):
        self.why_not = why
        return None


@contextlib.contextmanager
def _double_precision(model):
    """Every tensor of the Model in double precision meanwhile. In place, since a copy would not reach what closures
    hold (a lambda over submodules, say)."""
    parameters = [(parameter, parameter.data) for parameter in model.parameters()]
    others = [(slot, slot.get()) for slot in slots(model) if not slot.is_parameter]
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for parameter, narrow in parameters:
            parameter.data = _widened(narrow)
        wide = {}
        for slot, narrow in others:
            # What forward changes in place is a copy, also where nothing is to be widened.
            slot.set(wide.setdefault(id(narrow), _widened(narrow) if narrow.dtype in WIDER else narrow.clone()))
        yield
    finally:
        torch.set_default_dtype(default)
        for parameter, narrow in parameters:
            parameter.data = narrow
        for slot, narrow in others:
            slot.set(narrow)


def _widened(value):
    if isinstance(value, torch.Tensor) and value.dtype in WIDER:
        return value.to(WIDER[value.dtype])
    return value


def perturbed(arguments):
    """The inputs moved by an ulp at random: what rounding them differently would have given."""
    return [_moved(value) if isinstance(value, torch.Tensor) and value.dtype in WIDER else value for value in arguments]


def _moved(value):
    real = torch.float32 if value.is_complex() else value.dtype
    step = torch.finfo(real).eps
    if torch.finfo(real).bits < 16:
        return value   # an ulp is too far there
    factors = torch.empty(value.shape, dtype=real, device=value.device).bernoulli_(0.5).mul_(2 * step).add_(1 - step)
    return value * factors if value.is_complex() else factors.mul_(value)
