# SPDX-License-Identifier: Apache-2.0
"""kagent.kernel(...)[grid, block](...): kernels and their launches."""
import dataclasses
import numbers
import operator

import torch

from kagent import session

MAX_ARGUMENTS = 64
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)


class LaunchError(ValueError):
    """A launch, or the declaration of a kernel, that cannot be right."""


@dataclasses.dataclass(frozen=True)
class LaunchConfig:
    grid: tuple
    block: tuple
    shared_bytes: int
    cluster: "tuple | None"
    cooperative: bool
    programmatic: bool


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """A TMA descriptor over a tensor; made by kagent.tensor_map."""
    tensor: torch.Tensor
    box: tuple
    element_strides: tuple
    swizzle: str
    interleave: str
    l2_promotion: str
    fill_nan: bool

    def to_dict(self):
        """Everything but the tensor, as docs/plan-format.md has it."""
        return {"box": list(self.box), "element_strides": list(self.element_strides), "swizzle": self.swizzle,
                "interleave": self.interleave, "l2_promotion": self.l2_promotion, "fill_nan": self.fill_nan}


def tensor_map(tensor, box, element_strides=None, swizzle="none", interleave="none", l2_promotion="none",
               fill_nan=False):
    """A TMA descriptor, for a kernel parameter `const __grid_constant__ CUtensorMap map`.

    box: elements that one copy moves in each dimension, innermost (last) dimension first.
    """
    if not isinstance(tensor, torch.Tensor):
        raise LaunchError(f"kagent.tensor_map: a tensor is needed, not {type(tensor).__name__}")
    rank = tensor.dim()
    if not 1 <= rank <= 5:
        raise LaunchError(f"kagent.tensor_map: the tensor has {rank} dimensions; 1 to 5 are possible")
    box = _integers(box, "box")
    strides = (1,) * rank if element_strides is None else _integers(element_strides, "element_strides")
    if len(box) != rank or len(strides) != rank:
        raise LaunchError(f"kagent.tensor_map: box and element_strides need {rank} numbers, innermost first")
    if not all(1 <= size <= 256 for size in box):
        raise LaunchError(f"kagent.tensor_map: box {list(box)} has a side outside of 1 … 256")
    for what, value, words in (("swizzle", swizzle, ("none", "32B", "64B", "128B")),
                               ("interleave", interleave, ("none", "16B", "32B")),
                               ("l2_promotion", l2_promotion, ("none", "64B", "128B", "256B"))):
        if value not in words:
            raise LaunchError(f"kagent.tensor_map: {what} is {value!r}; one of {', '.join(words)}")
    return TensorMap(tensor, box, strides, swizzle, interleave, l2_promotion, bool(fill_nan))


def kernel(source, name, options=()):
    """Declares a kernel of the candidate.

    source: "kernels/softmax.cu" (".cpp" on the CPU backend), relative to model_new.py.
    name: the kernel's C++ name; template arguments included: "softmax_rows<1024>".
    options: compiler options ("-DTILE=64", "-use_fast_math", …).
    """
    if not isinstance(source, str) or not isinstance(name, str) or not name.strip():
        raise LaunchError('kagent.kernel: write kagent.kernel("kernels/file.cu", "kernel_name")')
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise LaunchError('kagent.kernel: options is a list of strings, ["-DTILE=64"]')
    return Kernel(source, name.strip(), tuple(options))


class Kernel:
    """k[grid, block](…), k[grid, block, shared_bytes](…), or k.launch(grid=…, block=…, …)(…)."""

    def __init__(self, source, name, options):
        self.source, self.name, self.options = source, name, options
        self._session = session.current()
        self._handle = self._session.declare(source, name, options)

    def __repr__(self):
        return f"kagent.kernel({self.source!r}, {self.name!r})"

    def __getitem__(self, index):
        if not isinstance(index, tuple) or not 2 <= len(index) <= 3:
            raise LaunchError(f"{self.name}: write k[grid, block](…) or k[grid, block, shared_bytes](…)")
        return self.launch(*index)

    def __call__(self, *_):
        raise LaunchError(f"{self.name}: write k[grid, block](…); a kernel needs its grid and block")

    def launch(self, grid, block, shared_bytes=0, cluster=None, cooperative=False, programmatic=False):
        """grid, block, cluster: an int or up to three. shared_bytes: dynamic shared memory.

        cooperative: all blocks resident at once, so that grid-wide barriers work.
        programmatic: may start before the launch in front of it has ended (programmatic dependent launch).
        """
        config = LaunchConfig(
            _extent(grid, "grid", self.name), _extent(block, "block", self.name),
            _whole(shared_bytes, "shared_bytes", self.name),
            None if cluster is None else _extent(cluster, "cluster", self.name), bool(cooperative), bool(programmatic))
        self._check(config)
        return _Launcher(self, config)

    def _check(self, config):
        if self._session.backend_of(self.source) == "cpu":
            if config.block != (1, 1, 1):
                raise LaunchError(f"{self.name}: block must be 1 on the CPU; a kernel is called once for each block")
            if config.shared_bytes or config.cluster or config.cooperative or config.programmatic:
                raise LaunchError(f"{self.name}: shared memory, clusters and launch modes do not exist on the CPU")
            return
        threads = config.block[0] * config.block[1] * config.block[2]
        if threads > 1024 or any(size > most for size, most in zip(config.block, _BLOCK_LIMITS)):
            raise LaunchError(f"{self.name}: block {list(config.block)} has {threads} threads; "
                              "1024 are possible, at most 64 of them in z")
        if any(size > most for size, most in zip(config.grid, _GRID_LIMITS)):
            raise LaunchError(f"{self.name}: grid {list(config.grid)} is too large; y and z end at 65535")
        if config.cluster is not None and any(g % c for g, c in zip(config.grid, config.cluster)):
            raise LaunchError(f"{self.name}: grid {list(config.grid)} is not a multiple of cluster {list(config.cluster)}")


class _Launcher:
    def __init__(self, owner, config):
        self._owner, self._config = owner, config

    def __call__(self, *arguments):
        name = self._owner.name
        if len(arguments) > MAX_ARGUMENTS:
            raise LaunchError(f"{name}: {len(arguments)} arguments; {MAX_ARGUMENTS} are possible")
        checked = [_argument(value, position, name) for position, value in enumerate(arguments)]
        devices = {value.device for value in checked if isinstance(value, torch.Tensor)}
        if len(devices) > 1:
            raise LaunchError(f"{name}: its tensors lie on {', '.join(sorted(map(str, devices)))}; "
                              "make all of them with device=x.device")
        self._owner._session.launch(self._owner._handle, self._config, checked)


def _argument(value, position, name):
    if isinstance(value, (torch.Tensor, TensorMap, bool)):
        return value
    if isinstance(value, numbers.Integral):
        value = int(value)
        if not -2**63 <= value < 2**63:
            raise LaunchError(f"{name}: argument {position + 1} does not fit in 64 bits")
        return value
    if isinstance(value, numbers.Real):
        return float(value)
    raise LaunchError(f"{name}: argument {position + 1} is a {type(value).__name__}; "
                      "tensors, numbers and kagent.tensor_map are possible")


def _integers(values, what):
    try:
        return tuple(operator.index(value) for value in values)
    except TypeError:
        raise LaunchError(f"kagent.tensor_map: {what} is a list of integers") from None


def _whole(value, what, name):
    try:
        number = operator.index(value)
    except TypeError:
        raise LaunchError(f"{name}: {what} is {value!r}, not a whole number") from None
    if number < 0:
        raise LaunchError(f"{name}: {what} is {number}")
    return number


def _extent(value, what, name):
    """Three positive integers from one to three."""
    sizes = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"{name}: {what} has {len(sizes)} dimensions; one to three are possible")
    sizes = tuple(_whole(size, what, name) for size in sizes)
    if 0 in sizes:
        raise LaunchError(f"{name}: {what} {list(sizes)} has nothing to run")
    return sizes + (1,) * (3 - len(sizes))
