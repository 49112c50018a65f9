# SPDX-License-Identifier: Apache-2.0
"""What `import kagent` talks to while a candidate is recorded: launches become steps of the plan."""
import os

import torch
from torch._subclasses.fake_tensor import FakeTensor

from arguments import encode_float
from faults import CandidateFault
from kagent import LaunchError, TensorMap


class RecordingSession:
    """Implements the interface that python/kagent/session.py describes."""

    def __init__(self, builder, lines, folder, device_record, tunables, device, backend):
        self._builder = builder
        self._lines = lines
        self._folder = os.path.realpath(folder)
        self._tunables = tunables
        self._device = device
        self.backend = backend
        self.device_record = device_record
        self.tracer = None    # set while prepare or forward is recorded

    def backend_of(self, _source):
        return self.backend

    def declare(self, source, name, options):
        """A handle for a kernel; a fault names the line when its file is not there."""
        at = self._lines.current()
        path = os.path.realpath(os.path.join(self._folder, source))
        inside = path.startswith(os.path.join(self._folder, "kernels") + os.sep)
        if not inside or not os.path.isfile(path):
            what = "is not in the candidate's folder kernels/" if not inside else "does not exist"
            raise CandidateFault("build_failed", f"kagent.kernel: {source} {what}", self._sources(), at)
        return os.path.relpath(path, self._folder), name, tuple(options), at

    def _sources(self):
        folder = os.path.join(self._folder, "kernels")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return f"kernels/ holds: {', '.join(names[:20])}" if names else "there is no file in kernels/"

    def launch(self, handle, config, arguments):
        if self.tracer is None:
            raise CandidateFault("unsupported", f"kernel {handle[1]} is launched outside of prepare and forward",
                                 "launch it in forward, or in prepare for what depends on weights only",
                                 self._lines.current())
        source, name, options, at = handle
        encoded = [self._argument(position, value) for position, value in enumerate(arguments)]
        self._builder.add_step({
            "launch": self._builder.kernel(source, name, options, at), "grid": list(config.grid),
            "block": list(config.block), "shared_bytes": config.shared_bytes,
            "cluster": list(config.cluster) if config.cluster is not None else None,
            "cooperative": config.cooperative, "programmatic": config.programmatic, "args": encoded})

    def _argument(self, position, value):
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(position, value)}
        if isinstance(value, TensorMap):
            form = value.to_dict()
            form["tensor"] = self._tensor(position, value.tensor)
            return {"tensor_map": form}
        if isinstance(value, bool):
            return {"bool": value}
        if isinstance(value, int):
            return {"int": value}
        return encode_float(value)

    def _tensor(self, position, tensor):
        if not isinstance(tensor, FakeTensor):
            if self._device.type != "cpu":
                raise LaunchError(f"argument {position + 1} is a tensor on the CPU; make it with device=x.device")
            tensor = self.tracer.constant(tensor)
        return self._builder.id_of(tensor)

    def tune(self, name, values):
        self._builder.add_tunable(name, values)
        chosen = self._tunables.get(name, values[0])
        return chosen if chosen in values else values[0]
