# SPDX-License-Identifier: Apache-2.0
"""The Model's tensors in an arena, under every name that a candidate may know them by."""
import torch

import kagent_native as native
from forms import spec
from model_state import slots


def signature(model):
    """[WeightSpec]."""
    persistent = set(model.state_dict(keep_vars=True))
    return [{"path": slot.path, "spec": native.arena_form(spec(slot.get(), f"Model.{slot.path}")),
             "in_state_dict": slot.path in persistent} for slot in slots(model)]


class WeightArena:
    """Owns the arena. Parameters live in it from then on; buffers and plain tensors stay private copies."""

    def __init__(self, model, new_arena):
        found = slots(model)
        unique = {}
        for slot in found:
            unique.setdefault(id(slot.get()), slot)
        layout = native.lay_out([
            (slot.path, native.arena_form(spec(slot.get(), f"Model.{slot.path}"))) for slot in unique.values()])
        self.arena = new_arena(layout["bytes"])
        entry_of = {identity: entry for identity, entry in zip(unique, layout["entries"])}
        self.layout = {"bytes": layout["bytes"],
                       "entries": [{**entry_of[id(slot.get())], "name": slot.path} for slot in found]}
        self._places = [(slot, entry_of[identity]) for identity, slot in unique.items()]
        in_chunks = _parameters_of_recurrent_modules(model)
        for identity, slot in unique.items():
            tensor = slot.get()
            view = self.arena.tensor(entry_of[identity]).copy_(tensor.detach())
            if slot.is_parameter and identity not in in_chunks and tensor.stride() == view.stride():
                tensor.data = view
        self.arena.remember(self.layout)

    def refresh(self):
        """The arena's values once the Model's own have changed."""
        for slot, entry in self._places:
            self.arena.tensor(entry).copy_(slot.get().detach())
        self.arena.remember(self.layout)

    def modified(self):
        """Path of the first weight that has changed, or None."""
        entry = self.arena.first_changed()
        return None if entry is None else self.layout["entries"][entry]["name"]


def _parameters_of_recurrent_modules(model):
    """cuDNN wants the weights of one RNN in one chunk, and copies them at every call where they are not."""
    return {id(parameter) for module in model.modules() if isinstance(module, torch.nn.RNNBase)
            for parameter in module.parameters(recurse=False)}
