# SPDX-License-Identifier: Apache-2.0
"""Writes down every ATen operator that runs while it is active, as a step of the plan.

It stands above FakeTensorMode on torch's stack of dispatch modes: tensors of the plan are fake (shape, stride and
dtype without memory), and FakeTensorMode says what an operator would return. Tensors that hold real values on the
CPU (torch.tensor([...]), tables made in forward) are computed at once and become constants of the plan when a
tensor of the plan meets them.
"""
import functools

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils import _pytree as pytree

from arguments import Encoder
from faults import CandidateFault

aten = torch.ops.aten
CPU = torch.device("cpu")
_LIFTS = (aten.lift_fresh.default, aten.lift.default)
_ALIASES = (aten.detach.default, aten.alias.default)   # matter to autograd only
# Operators that take a CPU tensor beside tensors of the device, as eager PyTorch does.
_CPU_SOURCE = {aten.copy_.default: 1, aten.index.Tensor: 1, aten.index_put.default: 1, aten.index_put_.default: 1,
               aten._index_put_impl_.default: 1}


@functools.lru_cache(maxsize=None)
def torch_name(function):
    """"torch.softmax", "torch.Tensor.item": the name under which the candidate knows a function."""
    name = resolve_name(function)
    if name is None:
        module, own = getattr(function, "__module__", None), getattr(function, "__name__", None)
        name = f"{module}.{own}" if module and own else str(own or function)
    return name.replace("torch.nn.modules.", "torch.nn.").removesuffix(".__get__")


@functools.lru_cache(maxsize=None)
def _is_composite(name):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")


@functools.lru_cache(maxsize=None)
def _writes(operator):
    """Positions and names of the arguments that an operator changes."""
    return tuple((position, argument.name) for position, argument in enumerate(operator._schema.arguments)
                 if argument.alias_info is not None and argument.alias_info.is_write)


class FunctionNames(TorchFunctionMode):
    """Remembers which torch function the candidate called, for messages; refuses those that want raw memory."""

    _RAW = {torch.Tensor.numpy: "needs a tensor's values", torch.Tensor.__array__: "needs a tensor's values",
            torch.Tensor.data_ptr: "needs a tensor's address"}

    def __init__(self, lines):
        super().__init__()
        self._lines = lines
        self.function = None

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in self._RAW and args and isinstance(args[0], FakeTensor):
            raise CandidateFault(
                "unsupported", f"{torch_name(function)} {self._RAW[function]} while forward is being recorded",
                "pass the tensor itself to a kernel, and keep decisions about values on the device",
                self._lines.current())
        before = self.function
        self.function = function
        try:
            return function(*args, **(kwargs or {}))
        finally:
            self.function = before

    def name(self):
        return torch_name(self.function) if self.function is not None else None


class PlanTracer(TorchDispatchMode):
    """device: where the plan's tensors live. names: the FunctionNames that is active beside it."""

    def __init__(self, builder, fake_mode, device, lines, names):
        super().__init__()
        self._builder = builder
        self._fake_mode = fake_mode
        self._device = device
        self._lines = lines
        self._names = names
        self._encoder = Encoder(device, builder.id_of)
        self._constants = {}   # id(real tensor) -> (its version, fake, real tensor)

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if operator.namespace == "prim":
            return operator(*args, **kwargs)
        if operator in _LIFTS:
            return args[0]
        if _is_composite(operator.name()):
            # Seen whole only in inference mode. torch's own kernel takes it apart, as it does outside of that mode.
            with self:
                return operator._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
        device = kwargs.get("device")
        if isinstance(device, torch.device) and device.type == self._device.type and device.index is None:
            kwargs = dict(kwargs, device=self._device)
        tensors = [leaf for leaf in pytree.arg_tree_leaves(*args, **kwargs) if isinstance(leaf, torch.Tensor)]
        self._refuse_random(operator, args, kwargs)
        if not any(isinstance(tensor, FakeTensor) for tensor in tensors):
            if self._is_host_work(tensors, kwargs.get("device")):
                with _disable_current_modes():
                    return operator(*args, **kwargs)
            if operator is aten._to_copy.default:
                return self._moved_constant(args[0], kwargs)
        if len(tensors) > 0:
            args, kwargs = self._without_real(operator, args, kwargs)
        if operator is aten._local_scalar_dense.default:
            raise self._fault(
                "unsupported", f"{self._called(operator)} needs a tensor's value while forward is being recorded",
                "forward must be the same for all values: keep the decision on the device, inside a kernel")
        result = operator(*args, **kwargs)   # FakeTensorMode answers
        if operator in _ALIASES:
            self._builder.alias(result, args[0])
            return result
        return self._record(operator, args, kwargs, result)

    def constant(self, real):
        """The plan's view of a real CPU tensor: a fake tensor on the plan's device."""
        known = self._constants.get(id(real))
        if known is not None and known[0] == real._version:
            return known[1]
        if isinstance(real, torch.nn.Parameter):
            raise self._fault("unsupported", "a parameter that is no attribute of ModelNew or its submodules is used",
                              "make it an attribute, or use nn.ModuleList and nn.ParameterList")
        with _disable_current_modes():
            frozen = real.detach().clone(memory_format=torch.contiguous_format)
            with self._fake_mode:
                fake = torch.empty(real.shape, dtype=real.dtype, device=self._device)
        self._builder.declare_constant(fake, frozen)
        self._constants[id(real)] = (real._version, fake, real)
        return fake

    def _is_host_work(self, tensors, device):
        """No tensor of the plan takes part and the result stays on the CPU: done now, once."""
        if tensors:
            return device is None or device == CPU
        return self._device != CPU and (device is None or device == CPU)

    def _moved_constant(self, real, kwargs):
        with _disable_current_modes():
            moved = aten._to_copy.default(real, dtype=kwargs.get("dtype"))
        return self.constant(moved)

    def _without_real(self, operator, args, kwargs):
        """Arguments with real tensors replaced by constants of the plan."""
        for position, name in _writes(operator):
            target = args[position] if position < len(args) else kwargs.get(name)
            if isinstance(target, torch.Tensor) and not isinstance(target, FakeTensor):
                raise self._fault("unsupported", f"{self._called(operator)} writes into a constant",
                                  "make the tensor in forward with torch.empty(…, device=x.device)")

        def replace(position, value):
            if isinstance(value, (list, tuple)):
                return type(value)(replace(position, item) for item in value) if type(value) in (list, tuple) else value
            if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
                return value
            allowed = value.dim() == 0 or _CPU_SOURCE.get(operator) == position
            if self._device != CPU and not allowed:
                raise self._fault(
                    "unsupported", f"{self._called(operator)} mixes a tensor on the CPU with tensors on {self._device}",
                    "make it with device=x.device, or keep it as a buffer of the module")
            return self.constant(value)

        return (tuple(replace(position, value) for position, value in enumerate(args)),
                {name: replace(-1, value) for name, value in kwargs.items()})

    def _refuse_random(self, operator, args, kwargs):
        if torch.Tag.nondeterministic_seeded not in operator.tags:
            return
        given = dict(zip((argument.name for argument in operator._schema.arguments), args))
        given.update(kwargs)
        if any(given.get(name) == 0 for name in ("dropout_p", "dropout", "p")) or \
                any(given.get(name) is False for name in ("train", "training")):
            return
        raise self._fault("unsupported", f"{self._called(operator)} draws random numbers",
                          "a candidate must give the same result each time: pass a generator's state as an input, "
                          "or leave it out in eval mode")

    def _record(self, operator, args, kwargs, result):
        leaves = result if isinstance(result, (list, tuple)) else (result,)
        returned = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not returned and not operator._schema.is_mutable:
            return result    # a question about shape or dtype
        for tensor in returned:
            if tensor.device != self._device:
                raise self._fault("unsupported", f"{self._called(operator)} puts a tensor on {tensor.device}",
                                  f"everything stays on {self._device}; pass device=x.device")
        try:
            arguments = self._encoder.operator(operator._schema, args, kwargs)
        except CandidateFault as fault:
            raise self._fault(fault.fault["kind"], f"{self._called(operator)}: {fault.fault['message']}",
                              fault.fault["hint"]) from None
        step = {"op": operator.name(), "args": arguments,
                "results": [self._builder.add_computed(tensor) for tensor in returned]}
        name = self._names.name()
        if name is not None:
            step["torch"] = name
        self._builder.add_step(step)
        return result

    def _called(self, operator):
        return self._names.name() or operator.name()

    def _fault(self, kind, message, hint):
        return CandidateFault(kind, message, hint, self._lines.current())
