# SPDX-License-Identifier: Apache-2.0
"""The tensors that a Model reaches by attribute path, and putting them back after a call changed them (pitfall 6)."""
import torch

MAX_DEPTH = 32
_INTERNAL = frozenset(vars(torch.nn.Module()))   # _parameters, hooks, training, …


class Slot:
    """One place that holds a tensor. `path` is what a candidate knows it by."""

    def __init__(self, path, container, key, is_parameter):
        self.path = path
        self.is_parameter = is_parameter
        self._container = container
        self._key = key

    def get(self):
        return self._container[self._key]

    def set(self, tensor):
        self._container[self._key] = tensor


def slots(model):
    """Every place in the order parameters, buffers, plain attributes, children; tied tensors once per name."""
    found = []
    _walk_module(model, "", 0, (), found)
    registered = {id(slot.get()) for slot in found if slot.is_parameter}
    # nn.LSTM and its like keep a list of their own parameters beside the registered ones.
    return [slot for slot in found if slot.is_parameter or id(slot.get()) not in registered]


def _walk_module(module, prefix, depth, active, found):
    if depth > MAX_DEPTH or module in active:
        return
    for table, are_parameters in ((module._parameters, True), (module._buffers, False)):
        found.extend(Slot(prefix + name, table, name, are_parameters)
                     for name, tensor in table.items() if tensor is not None)
    for name, value in module.__dict__.items():
        if name not in _INTERNAL:
            _walk_value(module.__dict__, name, value, prefix + name, depth, found)
    for name, child in module._modules.items():
        if child is not None:
            _walk_module(child, f"{prefix}{name}.", depth + 1, (*active, module), found)


def _walk_value(container, key, value, path, depth, found):
    if isinstance(value, torch.Tensor):
        found.append(Slot(path, container, key, False))
    elif depth > MAX_DEPTH:
        return
    elif type(value) is list:
        for i, item in enumerate(value):
            _walk_value(value, i, item, f"{path}.{i}", depth + 1, found)
    elif type(value) is dict:
        for name, item in value.items():
            _walk_value(value, name, item, f"{path}.{name}", depth + 1, found)
    elif type(value) is tuple and any(isinstance(item, torch.Tensor) for item in value):
        value = container[key] = list(value)   # so that its tensors have places of their own
        _walk_value(container, key, value, path, depth, found)


def move_to(model, device):
    """Model.to(device) and what that leaves behind: tensors that are plain attributes."""
    model.to(device)
    moved = {}
    for slot in slots(model):
        tensor = slot.get()
        if slot.is_parameter or not isinstance(tensor, torch.Tensor):
            continue
        if tensor.device != device or tensor.requires_grad:
            slot.set(moved.setdefault(id(tensor), (tensor, tensor.detach().to(device)))[1])


class SavedState:
    """What forward may change: attributes of every module, and values of tensors that are not parameters."""

    def __init__(self, model):
        self._modules = [(module, _attributes(module)) for module in model.modules()]
        unique = {id(slot.get()): slot.get() for slot in slots(model) if not slot.is_parameter}
        self._values = [(tensor, tensor.clone()) for tensor in unique.values()]
        self._lists = [(value, list(value) if isinstance(value, list) else dict(value))
                       for _, attributes in self._modules for value in attributes.values()
                       if type(value) in (list, dict)]
        self._changing = None   # tensors whose values forward changes; None: not known yet
        self.is_stateful = False

    def learn(self):
        """Call after the first forward: finds out whether restore() has anything to do."""
        self._changing = [(tensor, saved) for tensor, saved in self._values if not torch.equal(tensor, saved)]
        self.is_stateful = bool(self._changing) or any(
            not _same(_attributes(module), saved) for module, saved in self._modules) or any(
            not _same_items(value, saved) for value, saved in self._lists)
        self.restore()

    def restore(self):
        if self._changing is not None and not self.is_stateful:
            return
        for module, saved in self._modules:
            now = _attributes(module)
            for name in now.keys() - saved.keys():
                del module.__dict__[name]
            for name, value in saved.items():
                if now.get(name) is not value:
                    module.__dict__[name] = value
        for value, saved in self._lists:
            if not _same_items(value, saved):
                value.clear()
                value.extend(saved) if isinstance(value, list) else value.update(saved)
        for tensor, saved in self._values if self._changing is None else self._changing:
            tensor.copy_(saved)


def _attributes(module):
    own = {name: value for name, value in module.__dict__.items() if name not in _INTERNAL}
    own["training"] = module.training
    return own


def _same(now, saved):
    return now.keys() == saved.keys() and all(now[name] is value for name, value in saved.items())


def _same_items(value, saved):
    if isinstance(value, list):
        return len(value) == len(saved) and all(a is b for a, b in zip(value, saved))
    return _same(value, saved)
