# SPDX-License-Identifier: Apache-2.0
"""Hidden inputs and weights besides the task's own: other values, the same structure (docs/verdict.md)."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from model_state import slots

INPUT_FAMILIES = ("signed", "small", "large", "heavy_tailed", "one_hot", "ties", "permuted")
SCALES = ("small", "large")
WEIGHTS = "weights"
CHUNK = 1 << 24              # elements changed at a time, so that temporaries stay small
SAMPLE = 1 << 20             # elements that structure is read from
MAX_SAVED_WEIGHTS = 2 << 30  # bytes; larger Models keep their weights
SHORT_ROW = 32               # elements; in shorter rows ties may leave nothing but cancellation
FEW_OUTPUTS = 32             # elements; so few sums of mixed signs may happen to cancel

# Operators that end the card's context where an input leaves its range.
_RANGE_CHECKED = ("binary_cross_entropy.", "multinomial.", "bernoulli.", "bernoulli_.")


class RangeWatch(TorchDispatchMode):
    """Notices whether a Model could trip over values of another range: it checks them, or makes indices of them."""

    def __init__(self):
        super().__init__()
        self.needs_range = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = str(func).removeprefix("aten.")
        if name.startswith(_RANGE_CHECKED):
            self.needs_range = True
        elif name.startswith("_to_copy") and not result.is_floating_point() and result.dtype != torch.bool and \
                args[0].is_floating_point():
            self.needs_range = True
        return result


def families(views, outputs, needs_range, has_weights):
    """Names of the families that can be asked of a task. `views`: its input tensors; `outputs`: their specs."""
    kinds = [kind_of(view) for view in views]
    if needs_range or not any(kind != "fixed" for kind in kinds):
        names = []
    elif all(kind != "free" for kind in kinds):
        names = list(SCALES)
    else:
        names = list(INPUT_FAMILIES)
    if any(not form["dtype"].startswith(("float", "bfloat", "complex")) for form in outputs):
        names = [name for name in names if name not in ("one_hot", "ties")]   # equal values have no right index
    if any(torch.Size(form["shape"]).numel() < FEW_OUTPUTS for form in outputs):
        names = [name for name in names if name in (*SCALES, "ties", "permuted")]
    if any(kind == "free" and view.shape[-1] < SHORT_ROW for kind, view in zip(kinds, views)):
        names = [name for name in names if name != "ties"]
    return names + [WEIGHTS] * has_weights


def kind_of(view):
    """free: any values go; scale: only a common factor goes; fixed: the values are what the input means."""
    if not view.is_floating_point() or view.numel() < 2:
        return "fixed"
    rows = view.reshape(-1, view.shape[-1])[:max(1, SAMPLE // max(1, view.shape[-1]))][:, :SAMPLE].double()
    if not torch.isfinite(rows).all() or torch.unique(rows[:64]).numel() <= 4:
        return "fixed"   # a mask of -inf; a mask of 0 and 1
    if rows.min() >= 0 and rows.shape[1] > 1 and torch.allclose(rows.sum(1), torch.ones_like(rows[:, 0]), atol=1e-2):
        return "fixed"   # probabilities
    if rows.shape[1] >= 8 and (rows.diff(dim=1) >= 0).all():
        return "fixed"   # sorted
    if view.dim() >= 2 and view.shape[-1] == view.shape[-2]:
        first = view.reshape(-1, *view.shape[-2:])[0]
        if first.shape[0] <= 8192 and torch.equal(first, first.mT):
            return "scale"
    return "free"


def change_inputs(views, family, generator):
    """Other values in place. Zeros stay zeros in every family but `permuted`, so triangles and diagonals survive."""
    for view in views:
        kind = kind_of(view)
        if kind == "fixed" or (kind == "scale" and family not in SCALES):
            continue
        if family == "permuted":
            if (view[..., :SAMPLE] == 0).sum() * 8 < view[..., :SAMPLE].numel():
                _permute(view, generator)
            continue
        rows = view.flatten(0, -2) if view.dim() > 1 and view.is_contiguous() else view.unsqueeze(0) \
            if view.dim() == 1 else view
        step = max(1, CHUNK // max(1, rows[0].numel()))
        for first in range(0, rows.shape[0], step):
            _CHANGES[family](rows[first:first + step], generator)


def _permute(view, generator):
    shift = int(torch.randint(1, max(2, view.shape[-1]), (1,), generator=generator, device=view.device))
    step = max(1, CHUNK // max(1, view[0].numel()))
    for first in range(0, view.shape[0], step):
        part = view[first:first + step]
        part.copy_(part.roll(shift, -1))


def _random(part, generator):
    return torch.rand(part.shape, generator=generator, device=part.device)


def _signed(part, generator):
    part.mul_(_random(part, generator).sub_(0.5).sign_())


def _heavy_tailed(part, generator):
    # Student's t with two degrees of freedom, about; cut where fp16 would overflow.
    factor = _random(part, generator).clamp_(min=1e-3).rsqrt_()
    part.mul_(factor)
    _signed(part, generator)


def _one_hot(part, generator):
    where = torch.randint(part.shape[-1], (*part.shape[:-1], 1), generator=generator, device=part.device)
    kept = part.gather(-1, where)
    part.zero_().scatter_(-1, where, kept)


def _ties(part, _generator):
    part.mul_(4).round_().div_(4)


_CHANGES = {"signed": _signed, "heavy_tailed": _heavy_tailed, "one_hot": _one_hot, "ties": _ties,
            "small": lambda part, _: part.mul_(1e-3), "large": lambda part, _: part.mul_(64)}


class WeightVariant:
    """Parameters and running statistics re-drawn away from their defaults, and put back."""

    def __init__(self, model, weights, is_stateful):
        self._weights = weights
        self._saved = None
        statistics = {id(tensor): name for module in model.modules()
                      if isinstance(module, torch.nn.modules.batchnorm._NormBase) and not is_stateful
                      for name, tensor in module._buffers.items()
                      if tensor is not None and name in ("running_mean", "running_var")}
        unique = {}
        for slot in slots(model):
            tensor = slot.get()
            if tensor.is_floating_point() and (slot.is_parameter or id(tensor) in statistics):
                unique.setdefault(id(tensor), (tensor, statistics.get(id(tensor), "")))
        self._tensors = list(unique.values())
        size = sum(tensor.numel() * tensor.element_size() for tensor, _ in self._tensors)
        self.possible = bool(self._tensors) and size <= MAX_SAVED_WEIGHTS

    def draw(self, generator):
        self.restore()
        self._saved = [tensor.detach().clone() for tensor, _ in self._tensors]
        for tensor, name in self._tensors:
            _redraw(tensor.data, name, generator)
        self._weights.refresh()

    def restore(self):
        if self._saved is None:
            return False
        for (tensor, _), saved in zip(self._tensors, self._saved):
            tensor.data.copy_(saved)
        self._saved = None
        self._weights.refresh()
        return True


def _redraw(tensor, statistic, generator):
    factor = _random(tensor, generator).add_(0.5)
    if statistic == "running_mean" or not tensor.any():
        tensor.copy_(factor.sub_(1).mul_(0.4))
    else:
        tensor.mul_(factor)   # zeros stay: the structure of triangular weights


def tensors_among(values):
    return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]
