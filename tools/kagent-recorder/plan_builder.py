# SPDX-License-Identifier: Apache-2.0
"""Collects values, kernels and steps into the plan of docs/plan-format.md."""
import base64
import ctypes

from torch.utils._python_dispatch import _disable_current_modes

from arguments import dtype_name
from faults import CandidateFault

MAX_VALUES = 4096
MAX_KERNELS = 256
MAX_STEPS = 2048
MAX_CONSTANT_BYTES = 64 << 20
MAX_TENSOR_BYTES = 1 << 40


def extent_of(tensor):
    """Bytes from a tensor's first element to behind its last."""
    if tensor.numel() == 0:
        return 0
    return (1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))) * tensor.element_size()


class PlanBuilder:
    """Knows every tensor of the plan by object identity and keeps it alive, so that identities stay unique.

    Inputs, weights and constants are declared, and enter `values` once something uses them.
    """

    def __init__(self, backend, lines):
        self._backend = backend
        self._lines = lines
        self._values = []
        self._ids = {}        # id(tensor) -> (index, tensor)
        self._declared = {}   # id(tensor) -> (tensor, description, bytes or None)
        self._kernels = []
        self._kernel_index = {}
        self._sections = {"prepare": [], "forward": []}
        self._steps = self._sections["prepare"]
        self._constant_bytes = 0
        self._tunables = {}
        self.prepared = {}

    def begin_section(self, name):
        self._steps = self._sections[name]

    # --- values ---
    def declare_input(self, tensor, position):
        self._declared[id(tensor)] = (tensor, {"origin": "input", "input": position}, None)

    def declare_weight(self, tensor, path):
        self._declared[id(tensor)] = (tensor, {"origin": "weight", "path": path}, None)

    def declare_prepared(self, tensor, name):
        self._declared[id(tensor)] = (tensor, {"origin": "prepared", "path": name}, None)

    def declare_constant(self, tensor, data):
        """tensor: how the plan sees it (contiguous); data: a real CPU tensor of the same shape and dtype."""
        self._declared[id(tensor)] = (tensor, {"origin": "constant"}, data)

    def knows(self, tensor):
        return id(tensor) in self._ids or id(tensor) in self._declared

    def id_of(self, tensor):
        """Index of a tensor that is known, entering it where it is new to the plan."""
        known = self._ids.get(id(tensor))
        if known is not None:
            return known[0]
        declared = self._declared.get(id(tensor))
        if declared is None:
            raise CandidateFault(
                "unsupported", "a tensor comes from outside of what was recorded",
                "use forward's arguments, the module's own tensors, or tensors made in forward", self._lines.current())
        _, description, data = declared
        if data is not None:
            description = dict(description, data=self._constant_text(data))
        return self._append(tensor, description)

    def add_computed(self, tensor):
        """A new index for what a step has just returned; an in-place result gets one as well."""
        return self._append(tensor, {"origin": "computed"})

    def alias(self, tensor, source):
        """From now on `tensor` is another name of `source`."""
        self._ids[id(tensor)] = (self.id_of(source), tensor)

    def _append(self, tensor, description):
        if len(self._values) >= MAX_VALUES:
            raise CandidateFault("unsupported", f"the plan has more than {MAX_VALUES} tensors",
                                 "a loop that does not end, or one that a kernel should do", self._lines.current())
        if extent_of(tensor) > MAX_TENSOR_BYTES:
            raise CandidateFault("out_of_memory", f"a tensor of {extent_of(tensor)} bytes is more than any card has",
                                 "", self._lines.current())
        value = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape), "stride": list(tensor.stride())}
        value.update(description)
        self._values.append(value)
        self._ids[id(tensor)] = (len(self._values) - 1, tensor)
        return len(self._values) - 1

    def _constant_text(self, data):
        size = data.numel() * data.element_size()
        self._constant_bytes += size
        if self._constant_bytes > MAX_CONSTANT_BYTES:
            raise CandidateFault(
                "unsupported", f"constants take more than {MAX_CONSTANT_BYTES >> 20} MiB",
                "compute large tables in prepare() or in forward, with device=…", self._lines.current())
        with _disable_current_modes():
            contiguous = data.resolve_conj().resolve_neg().contiguous()
        return base64.b64encode(ctypes.string_at(contiguous.data_ptr(), size) if size else b"").decode("ascii")

    # --- steps ---
    def add_step(self, step):
        if len(self._steps) >= MAX_STEPS:
            raise CandidateFault("unsupported", f"more than {MAX_STEPS} steps",
                                 "a loop that does not end, or one that a kernel should do", self._lines.current())
        at = self._lines.current()
        if at is not None:
            step["at"] = {"file": at[0], "line": at[1]}
        self._steps.append(step)

    def kernel(self, source, name, options, at):
        """Index of a kernel; asked for at its first launch, so that what is never launched is never built."""
        key = (source, name, tuple(options))
        index = self._kernel_index.get(key)
        if index is None:
            if len(self._kernels) >= MAX_KERNELS:
                raise CandidateFault("unsupported", f"more than {MAX_KERNELS} kernels", "", at)
            index = self._kernel_index[key] = len(self._kernels)
            entry = {"source": source, "name": name, "options": list(options)}
            if at is not None:
                entry["at"] = {"file": at[0], "line": at[1]}
            self._kernels.append(entry)
        return index

    def add_tunable(self, name, values):
        self._tunables[name] = {"name": name, "values": list(values)}

    def finish(self, outputs):
        plan = {
            "schema": "kagent.plan/1", "backend": self._backend, "values": self._values, "kernels": self._kernels,
            "prepare": self._sections["prepare"], "prepared": self.prepared, "forward": self._sections["forward"],
            "outputs": outputs}
        if self._tunables:
            plan["tunables"] = list(self._tunables.values())
        return plan
