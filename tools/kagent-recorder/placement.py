# SPDX-License-Identifier: Apache-2.0
"""Turns every tensor that a constructed ModelNew reaches by attribute path into a fake tensor on the plan's device."""
import torch
from torch._subclasses.fake_tensor import FakeTensor

from arguments import DTYPES, dtype_name
from faults import CandidateFault

MAX_DEPTH = 32
MAX_TENSORS = 20000
_INTERNAL = frozenset(vars(torch.nn.Module()))   # _parameters, hooks, training, …
_NAN_CHECK_LIMIT = 1 << 20


class Placement:
    """Finds tensors, checks them against the signature's weights, and replaces them."""

    def __init__(self, signature, builder, fake_mode, device):
        self._weights = {weight["path"]: weight for weight in signature["weights"]}
        self._builder = builder
        self._fake_mode = fake_mode
        self._device = device
        self._paths = {}        # id(real tensor) -> [paths]
        self._tensors = []      # (path, tensor, is a parameter), in the order found
        self._fakes = {}        # id(real tensor) -> fake
        self._storages = {}     # storage address -> weight path, to find views of weights

    def place(self, model):
        walk(model, self._collect)
        self._check_names()
        for path, tensor, _ in self._tensors:
            if path in self._weights:
                self._check_weight(path, tensor)
                if tensor.numel() > 0:
                    self._storages.setdefault(tensor.untyped_storage().data_ptr(), path)
        walk(model, self._replace)

    def _collect(self, path, tensor, is_parameter):
        if isinstance(tensor, FakeTensor):
            return tensor
        if len(self._tensors) >= MAX_TENSORS:
            raise CandidateFault("unsupported", f"ModelNew holds more than {MAX_TENSORS} tensors")
        self._tensors.append((path, tensor, is_parameter))
        self._paths.setdefault(id(tensor), []).append(path)
        return tensor

    def _check_names(self):
        own = {path for path, _, _ in self._tensors}
        extra = [path for path, _, is_parameter in self._tensors if is_parameter and path not in self._weights]
        missing = [path for path, weight in self._weights.items()
                   if weight.get("in_state_dict", True) and path not in own
                   and path.rpartition(".")[2] != "num_batches_tracked"]
        if not extra and not missing:
            return
        names = [path for path, weight in self._weights.items() if weight.get("in_state_dict", True)]
        shown = ", ".join(names[:20]) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
        message = (f"ModelNew has parameter '{extra[0]}' that Model has not" if extra
                   else f"ModelNew lacks '{missing[0]}', which Model has")
        message += f"; Model's are: {shown}" if names else "; Model has none"
        raise CandidateFault("unsupported", message,
                             "weights are given by name: use the same module structure and attribute names as Model")

    def _check_weight(self, path, tensor):
        spec = self._weights[path]["spec"]
        if list(tensor.shape) != list(spec["shape"]):
            raise CandidateFault("shape", f"'{path}' has shape {list(tensor.shape)}; Model's has {list(spec['shape'])}",
                                 "declare it as Model does; repack it in prepare()")
        if dtype_name(tensor.dtype) != spec["dtype"]:
            raise CandidateFault("dtype", f"'{path}' is {dtype_name(tensor.dtype)}; Model's is {spec['dtype']}",
                                 "declare it as Model does; convert it in prepare()")

    def _replace(self, path, tensor, is_parameter):
        if isinstance(tensor, FakeTensor):
            return tensor
        fake = self._fakes.get(id(tensor))
        if fake is None:
            weight = next((name for name in self._paths[id(tensor)] if name in self._weights), None)
            fake = self._weight(weight) if weight is not None else self._constant(path, tensor)
            self._fakes[id(tensor)] = fake
        if is_parameter:
            fake._is_param = True    # what isinstance(value, torch.nn.Parameter) asks for
        return fake

    def _weight(self, path):
        spec = self._weights[path]["spec"]
        with self._fake_mode:
            fake = torch.empty_strided(spec["shape"], spec["stride"], dtype=DTYPES[spec["dtype"]], device=self._device)
        self._builder.declare_weight(fake, path)
        return fake

    def _constant(self, path, tensor):
        source = self._storages.get(tensor.untyped_storage().data_ptr()) if tensor.numel() > 0 else None
        stale = tensor.is_floating_point() and 0 < tensor.numel() <= _NAN_CHECK_LIMIT \
            and bool(torch.isnan(tensor).any())
        if source is not None or stale:
            why = f"is a view of '{source}'" if source is not None else "is computed from weights or drawn at random"
            raise CandidateFault("unsupported", f"'{path}' {why}, and the weights' values are not there yet in __init__",
                                 "compute it in prepare(self), which returns a dict, and use self.prepared[name]")
        with self._fake_mode:
            fake = torch.empty(tensor.shape, dtype=tensor.dtype, device=self._device)
        self._builder.declare_constant(fake, tensor.detach())
        return fake


def walk(module, visit, prefix="", depth=0, active=()):
    """Calls visit(path, tensor, is_parameter) for every tensor and stores what it returns in the tensor's place."""
    if depth > MAX_DEPTH or module in active:
        return
    for table, are_parameters in ((module._parameters, True), (module._buffers, False)):
        for name, tensor in list(table.items()):
            if tensor is not None:
                table[name] = visit(prefix + name, tensor, are_parameters)
    for name, value in list(vars(module).items()):
        if name not in _INTERNAL:
            replaced = _walk_value(value, visit, prefix + name, depth)
            if replaced is not value:
                module.__dict__[name] = replaced
    for name, child in list(module._modules.items()):
        if child is not None:
            walk(child, visit, f"{prefix}{name}.", depth + 1, (*active, module))


def _walk_value(value, visit, path, depth):
    if isinstance(value, torch.Tensor):
        return visit(path, value, False)
    if depth > MAX_DEPTH:
        return value
    if type(value) is list:
        value[:] = [_walk_value(item, visit, f"{path}.{i}", depth + 1) for i, item in enumerate(value)]
    elif type(value) is dict:
        for key in list(value):
            value[key] = _walk_value(value[key], visit, f"{path}.{key}", depth + 1)
    elif type(value) is tuple and any(isinstance(item, (torch.Tensor, list, dict, tuple)) for item in value):
        return tuple(_walk_value(item, visit, f"{path}.{i}", depth + 1) for i, item in enumerate(value))
    return value
