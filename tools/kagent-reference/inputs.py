# SPDX-License-Identifier: Apache-2.0
"""What get_inputs() gives: its signature, and its values in arenas."""
import contextlib
import hashlib

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import kagent_native as native
from forms import argument, describe, spec
from task_file import OutOfMemory, TaskInvalid, seed_everything

SMALL_BYTES = 64 << 20   # up to here get_inputs() is simply called


def derived_seed(seed, label):
    """Another seed for another purpose, from which the first cannot be told."""
    digest = hashlib.sha256(f"{label}:{seed}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


class InputMaker:
    """Calls get_inputs() with the backend's device as the default one, so that a card fills its own memory."""

    def __init__(self, task, device):
        self._task = task
        self._device = device

    def signature(self, seed):
        """[InputSpec]. Without making the values where they are large (pitfall 2)."""
        specs = self._fake_signature(seed)
        size = sum(form["tensor"]["bytes"] for form in specs if "tensor" in form) if specs else 0
        if specs is None or size <= SMALL_BYTES:
            specs = [self._input_form(i, value) for i, value in enumerate(self.make(seed))]
        for form in specs:
            if "tensor" in form:
                del form["tensor"]["bytes"]
        return specs

    def make(self, seed):
        """Real values under the seed, tensors on the device."""
        if self._device.type == "cpu":
            values = self._called(seed, contextlib.nullcontext())
        else:
            try:
                values = self._called(seed, self._device)
            except TaskInvalid:   # it mixes in tensors that it insists to have on the CPU
                values = self._called(seed, contextlib.nullcontext())
        for i, value in enumerate(values):
            if isinstance(value, torch.Tensor):
                values[i] = value.detach().to(self._device)
        return values

    def _called(self, seed, context):
        seed_everything(seed)
        with context:
            return self._task.get_inputs()

    def _fake_signature(self, seed):
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                values = self._called(seed, self._device)
            return [self._input_form(i, value) for i, value in enumerate(values)]
        except (TaskInvalid, OutOfMemory):
            return None   # it looks at values, or is wrong: a real call will tell

    def _input_form(self, index, value):
        if not isinstance(value, torch.Tensor):
            return {"scalar": argument(value, f"input {index} of get_inputs()")}
        form = native.arena_form(spec(value, f"input {index} of get_inputs()"))
        return {"tensor": {**form, "bytes": value.numel() * value.element_size()}}


class InputSet:
    """One arena of inputs and the arguments of forward() over it."""

    def __init__(self, specs, arena, layout):
        self._specs = specs
        self.arena = arena
        self.layout = layout
        views = iter(arena.tensor(entry) for entry in layout["entries"])
        self._views = [next(views) if "tensor" in form else None for form in specs]
        self.arguments = ()

    @staticmethod
    def entries(specs):
        """[(name, spec)] for a layout: only tensors have memory."""
        return [(str(i), form["tensor"]) for i, form in enumerate(specs) if "tensor" in form]

    def fill(self, values):
        """Copies get_inputs()'s values into the arena; the list is emptied on the way, to free memory."""
        if len(values) != len(self._specs):
            raise TaskInvalid(f"get_inputs() returns {len(values)} inputs, and {len(self._specs)} at first")
        arguments = []
        for i, (form, view) in enumerate(zip(self._specs, self._views)):
            value, values[i] = values[i], None
            self._check(i, form, value)
            arguments.append(value if view is None else view.copy_(value))
        value = None   # may be as large as the arena
        self.arguments = tuple(arguments)
        self.arena.remember(self.layout)

    def change(self, change):
        """change(tensors) gives them other values in place."""
        change([view for view in self._views if view is not None])
        self.arena.remember(self.layout)

    def modified(self):
        """Position of the first input that has changed since fill(), or None."""
        entry = self.arena.first_changed()
        return None if entry is None else int(self.layout["entries"][entry]["name"])

    @staticmethod
    def _check(index, form, value):
        name = f"input {index} of get_inputs()"
        if isinstance(value, torch.Tensor) != ("tensor" in form):
            raise TaskInvalid(f"{name} is a tensor in one call and none in the next")
        if not isinstance(value, torch.Tensor):
            if argument(value, name) != form["scalar"]:
                raise TaskInvalid(f"{name} is {value!r} now and was another value at first; make it a 0-dimensional "
                                  "tensor, since numbers are fixed when a candidate is recorded")
            return
        now = spec(value, name)
        if (now["dtype"], now["shape"]) != (form["tensor"]["dtype"], form["tensor"]["shape"]):
            raise TaskInvalid(f"{name} is {describe(now)} now and was {describe(form['tensor'])} at first")
