# SPDX-License-Identifier: Apache-2.0
"""The exact answer: a double-precision copy of the Model on double-precision inputs (pitfall 28)."""
import copy
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
    """Runs the wide copy while that works, fits and takes at most `seconds`; then says why not."""

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
            wide = self._wide_model()
            outputs = self._run(wide, [self._widened(value) for value in arguments])
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

    def _run(self, wide, arguments):
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            if self._watched:
                value = self._task.call("forward in fp64", wide, *arguments)
            else:
                with _Watch():
                    value = self._task.call("forward in fp64", wide, *arguments)
                self._watched = True
        finally:
            torch.set_default_dtype(default)
        outputs = []
        flatten_outputs(value, outputs)
        if any(tensor.dtype in WIDER for tensor in outputs):
            raise TaskInvalid("an output is not in fp64") from _Narrow("an output is not in fp64")
        return outputs

    def _wide_model(self):
        wide = copy.deepcopy(self._model)
        done = {}
        for slot in slots(wide):
            tensor = slot.get()
            if slot.is_parameter:
                continue
            slot.set(done.setdefault(id(tensor), (tensor, self._widened(tensor)))[1])
        for parameter in wide.parameters():
            parameter.data = self._widened(parameter.data)
        return wide

    @staticmethod
    def _widened(value):
        if isinstance(value, torch.Tensor) and value.dtype in WIDER:
            return value.to(WIDER[value.dtype])
        return value

    def _synchronize(self):
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def _give_up(self, why):
        self.why_not = why
        return None


def perturbed(arguments):
    """The inputs moved by half an ulp at random: what rounding them differently would have given."""
    moved = []
    for value in arguments:
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            width = value.real.dtype if value.is_complex() else value.dtype
            if torch.finfo(width).bits >= 16:
                step = torch.finfo(width).eps
                up = torch.rand(value.shape, device=value.device) < 0.5
                value = torch.where(up, value * (1 + step), value * (1 - step))
        moved.append(value)
    return moved
