# SPDX-License-Identifier: Apache-2.0
"""Runs of the Model whose results are expected of a candidate; they never leave this process."""
import random

import torch

import kagent_native as native
from exact import ExactRun, perturbed
from forms import describe, flatten_outputs, spec
from inputs import derived_seed
from model_state import SavedState
from task_file import TaskInvalid, first_line

EXACT_SECONDS = {"cpu": 20.0, "cuda": 5.0}   # an fp64 run that takes longer is given up


class Answers:
    """The eager run in the task's own types, and beside it the exact one or the next best."""

    def __init__(self, task, model, device, numerics):
        self._task = task
        self._model = model
        self._device = device
        self._numerics = numerics
        self.state = SavedState(model)
        self.is_random = False
        self._exact = ExactRun(task, model, device, EXACT_SECONDS[device.type])
        self.source = "fp64"   # or "fp32": what the last trial was judged by

    def first_run(self, arguments):
        """forward's value; learns whether it draws random numbers or changes its own state."""
        before = self._generator_states()
        value = self._forward(arguments)
        self.is_random = not _equal(before, self._generator_states())
        self.state.learn()
        return value

    def expect(self, judge, number, arguments, output_specs):
        """Tells the judge what is expected on input set `number`."""
        eager = self._outputs(arguments, output_specs)
        if self.is_random:
            return
        self.state.restore()
        exact = self._exact(arguments)
        self.source = "fp32" if exact is None else "fp64"
        other = None
        if exact is None:
            exact, other = self._next_best(arguments, output_specs)
        for i in range(len(eager)):
            judge.expect(number, eager[i], _take(exact, i), _take(other, i))
            eager[i] = None

    def run(self, arguments, output_specs):
        """The eager outputs alone."""
        return self._outputs(arguments, output_specs)

    def notes(self):
        return [f"judged by an fp32 run: {self._exact.why_not}"] if self._exact.why_not else []

    def _next_best(self, arguments, output_specs):
        """(strict fp32 run, None) where shortcuts are allowed; else (None, a run on inputs an ulp away)."""
        if self._numerics != "strict":
            native.apply_numerics("strict")
            try:
                return self._outputs(arguments, output_specs), None
            finally:
                native.apply_numerics(self._numerics)
        with torch.random.fork_rng(devices=[self._device] if self._device.type == "cuda" else []):
            torch.manual_seed(derived_seed(0, "perturbation"))
            moved = perturbed(arguments)
        return None, self._outputs(moved, output_specs)

    def _outputs(self, arguments, output_specs):
        tensors = []
        flatten_outputs(self._forward(arguments), tensors)
        now = [spec(tensor, "an output") for tensor in tensors]
        if [(form["dtype"], form["shape"]) for form in now] != [(form["dtype"], form["shape"]) for form in output_specs]:
            raise TaskInvalid("forward returns " + ", ".join(map(describe, now)) + " now and " +
                              ", ".join(map(describe, output_specs)) + " at first",
                              first_line(self._model.forward, self._task.path))
        tensors = [tensor.detach().to(self._device) for tensor in tensors]
        # What a stateful Model returns may be its state, which the next call puts back.
        return [tensor.clone() for tensor in tensors] if self.state.is_stateful else tensors

    def _forward(self, arguments):
        self.state.restore()
        return self._task.call("forward", self._model, *arguments)

    def _generator_states(self):
        states = [torch.get_rng_state(), random.getstate()]
        if self._device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self._device))
        return states


def _take(tensors, index):
    if tensors is None:
        return None
    tensor, tensors[index] = tensors[index], None
    return tensor


def _equal(before, after):
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(before, after))
