# SPDX-License-Identifier: Apache-2.0
"""One candidate to one plan: load, construct, place, record prepare, record forward."""
import contextlib

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import kagent.session
from arguments import DTYPES, decode, encode_scalar
from construct import construct, load_module
from faults import CandidateFault, SourceLines, fault_of
from gpu_answers import answered_from
from outputs import output_tree
from placement import Placement
from plan_builder import PlanBuilder
from session import RecordingSession
from tracer import FunctionNames, PlanTracer


class Recording:
    """request: the body of a `record` request. on_phase is told where the work stands, for crash messages."""

    def __init__(self, request, on_phase):
        self._request = request
        self._on_phase = on_phase
        self._phase = "model_new.py"
        backend = request["backend"]
        self._device = torch.device("cuda:0" if backend == "cuda" else "cpu")
        self._lines = SourceLines(request["candidate"])
        self._builder = PlanBuilder(backend, self._lines)
        self._fake_mode = FakeTensorMode(allow_non_fake_inputs=False)
        self._names = FunctionNames(self._lines)
        self._tracer = PlanTracer(self._builder, self._fake_mode, self._device, self._lines, self._names)
        self._session = RecordingSession(self._builder, self._lines, request["candidate"], request["device"],
                                         request.get("tunables", {}), self._device, backend)

    def answer(self):
        """{"ok": {"plan"}} or {"fault"}."""
        try:
            return {"ok": {"plan": self._plan()}}
        except BaseException as error:  # a candidate may raise anything, SystemExit included
            return {"fault": fault_of(error, self._lines, self._phase)}

    def _plan(self):
        signature = self._request["signature"]
        with kagent.session.use(self._session), answered_from(self._request["device"], self._device, self._lines):
            self._enter("model_new.py")
            module = load_module(self._request["candidate"])
            self._enter("ModelNew.__init__")
            init = [decode(argument, self._device) for argument in signature["init"]]
            model = construct(module, init, self._request["mode"])
            self._enter("placing ModelNew's tensors")
            Placement(signature, self._builder, self._fake_mode, self._device).place(model)
            if hasattr(model, "prepare"):
                self._enter("prepare")
                self._record_prepare(model)
            self._enter("forward")
            return self._record_forward(model, signature["inputs"])

    def _enter(self, phase):
        self._phase = phase
        self._on_phase(phase)

    @contextlib.contextmanager
    def _recording(self, section):
        self._builder.begin_section(section)
        self._session.tracer = self._tracer
        with torch.no_grad(), _frozen_attributes(section), self._fake_mode, self._tracer, self._names:
            yield
        self._session.tracer = None

    def _record_prepare(self, model):
        with self._recording("prepare"):
            returned = model.prepare()
        if not isinstance(returned, dict) or not all(isinstance(name, str) for name in returned):
            raise CandidateFault("unsupported", "prepare() must return a dict from names to tensors",
                                 'return {"folded": weight}', self._line_of(model.prepare))
        visible = {}
        for name, value in returned.items():
            if isinstance(value, torch.Tensor):
                visible[name] = self._prepared_value(name, value)
            elif encode_scalar(value) is not None:
                visible[name] = value
            else:
                raise CandidateFault("unsupported", f"prepare() returns a {type(value).__name__} as '{name}'",
                                     "return tensors and Python scalars", self._line_of(model.prepare))
        model.__dict__["prepared"] = visible

    def _prepared_value(self, name, value):
        """forward's own view of a tensor that prepare returned."""
        if not isinstance(value, FakeTensor):
            value = self._tracer.constant(value)
        self._builder.prepared[name] = self._builder.id_of(value)
        with self._fake_mode:
            seen = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=self._device)
        self._builder.declare_prepared(seen, name)
        return seen

    def _record_forward(self, model, inputs):
        arguments = [self._input(position, spec) for position, spec in enumerate(inputs)]
        with self._recording("forward"):
            returned = model(*arguments)
        return self._builder.finish(output_tree(returned, self._output_id))

    def _input(self, position, spec):
        if "tensor" not in spec:
            return decode(spec["scalar"], self._device)
        tensor = spec["tensor"]
        with self._fake_mode:
            fake = torch.empty_strided(tensor["shape"], tensor["stride"], dtype=DTYPES[tensor["dtype"]],
                                       device=self._device)
        self._builder.declare_input(fake, position)
        return fake

    def _output_id(self, tensor):
        if not isinstance(tensor, FakeTensor):
            if self._device.type != "cpu":
                raise CandidateFault("unsupported", "forward returns a tensor on the CPU", "make it with device=x.device")
            tensor = self._tracer.constant(tensor)
        return self._builder.id_of(tensor)

    def _line_of(self, function):
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        file = self._lines.relative(code.co_filename) if code is not None else None
        return (file, code.co_firstlineno) if file is not None else None


@contextlib.contextmanager
def _frozen_attributes(section):
    """Setting an attribute of a module is a fault: what one call leaves behind, a replay would not see."""
    original = torch.nn.Module.__setattr__

    def refuse(module, name, _value):
        raise CandidateFault(
            "unsupported", f"{section} sets self.{name}",
            "keep it in a local variable; what depends on weights only is returned by prepare()")

    torch.nn.Module.__setattr__ = refuse
    try:
        yield
    finally:
        torch.nn.Module.__setattr__ = original
