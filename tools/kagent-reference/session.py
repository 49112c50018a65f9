# SPDX-License-Identifier: Apache-2.0
"""One task from its file to its answers and times; one method for each request of docs/protocol.md."""
import math
import os

import torch

import device as machine
import kagent_native as native
import shared_weights
from answers import Answers
from baselines import Baselines, timed_milliseconds
from forms import argument, flatten_outputs, spec
from inputs import InputMaker, InputSet, derived_seed
from model_state import move_to
from null_models import null_models
from task_file import OutOfMemory, TaskFile, TaskInvalid, first_line, seed_everything
from variants import WEIGHTS, RangeWatch, WeightVariant, change_inputs, families, tensors_among

MAX_SETS = 16
REFUTED = 16       # times the allowed error: session_variants.cpp asks the same of candidates
ILL_POSED = 1e-4   # relative RMS error of the eager run beyond which a variant separates nothing


class WrongRequest(Exception):
    """kagent asked for something out of order or out of range."""


class Session:
    def __init__(self):
        self._task = None
        self._sets = []
        self._instruments = None
        self._meters = {}
        self._baselines = None

    def open(self, request, _descriptors):
        """Runs task.py and builds Model."""
        if self._task is not None:
            raise WrongRequest("reference: a task is open already")
        _use_cache(request["cache"])
        numerics = native.apply_numerics(request["numerics"])
        self._numerics = request["numerics"]
        self._device = machine.start(request["backend"], request["device_index"])
        task = TaskFile(request["task"])
        self._seed = request["weights_seed"]
        self._inputs = InputMaker(task, self._device)
        seed_everything(derived_seed(self._seed, "init"))
        arguments = task.get_init_inputs()
        init = [argument(value, f"item {i} of get_init_inputs()") for i, value in enumerate(arguments)]
        self._model = self._construct(task, arguments, request["mode"])
        self._input_specs = self._inputs.signature(derived_seed(self._seed, "signature"))
        self._task = task
        record = machine.record(self._device)
        signature = {"init": init, "inputs": self._input_specs, "weights": shared_weights.signature(self._model)}
        return {"signature": signature, "device": record, "versions": machine.versions(record),
                "numerics": numerics, "notes": []}, []

    def share(self, request, _descriptors):
        """Allocates arenas, fills them, runs the reference once to learn what it returns."""
        count = request["sets"]
        if self._task is None or self._sets:
            raise WrongRequest("reference: share comes once, after open")
        if not isinstance(count, int) or not 1 <= count <= MAX_SETS:
            raise WrongRequest(f"reference: sets is {count}, and may be 1 to {MAX_SETS}")
        self._weights = shared_weights.WeightArena(self._model, lambda size: self._new_arena(size, True))
        layout = native.lay_out(InputSet.entries(self._input_specs))
        sets = [InputSet(self._input_specs, self._new_arena(layout["bytes"], True), layout) for _ in range(count)]
        for number, inputs in enumerate(sets):
            inputs.fill(self._inputs.make(derived_seed(self._seed, f"set {number}")))
        self._answers = Answers(self._task, self._model, self._device, self._numerics)
        tree, outputs, notes = self._learn(sets[0])
        output_layout = native.lay_out([(str(i), form) for i, form in enumerate(outputs)])
        self._output_arena = self._new_arena(output_layout["bytes"], False)
        self._outputs = [self._output_arena.tensor(entry) for entry in output_layout["entries"]]
        self._judge = native.Judge(self._operand_shapes())
        self._variant_judges = {}
        self._judge_of = [self._judge] * count
        self._sets = sets
        self._weight_variant = WeightVariant(self._model, self._weights, self._answers.state.is_stateful)
        self._families = [] if self._answers.is_random else families(
            tensors_among(sets[0].arguments), outputs, self._needs_range, self._weight_variant.possible)
        arenas = [self._weights.arena, *(inputs.arena for inputs in sets), self._output_arena]
        return {"weights": self._weights.layout, "inputs": [layout] * count, "outputs": output_layout,
                "output_tree": tree, "notes": notes, "random_in_forward": self._answers.is_random,
                "variants": self._families}, \
            _descriptors_of(arenas)

    def trial(self, request, _descriptors):
        """New inputs in one set, and what is expected for them."""
        number, inputs = self._input_set(request)
        self._judge_of[number].forget(number)
        self._judge_of[number] = self._judge
        inputs.fill(self._inputs.make(request["seed"]))
        self._answers.expect(self._judge, number, inputs.arguments, self._output_specs)
        self._release_memory()
        return {"reference": self._answers.source, "notes": self._answers.notes()}, []

    def variant(self, request, _descriptors):
        """As trial, on values of another family; does not apply where the reference itself is in doubt there."""
        number, inputs = self._input_set(request)
        name = request["family"]
        if name not in self._families:
            raise WrongRequest(f"reference: no family {name!r} for this task")
        self._judge_of[number].forget(number)
        if name not in self._variant_judges:
            self._variant_judges[name] = native.Judge(self._operand_shapes())
        judge = self._judge_of[number] = self._variant_judges[name]
        inputs.fill(self._inputs.make(request["seed"]))
        generator = torch.Generator(self._device).manual_seed(derived_seed(request["seed"], name))
        why = ""
        try:
            if name == WEIGHTS:
                self._weight_variant.draw(generator)
            else:
                inputs.change(lambda tensors: change_inputs(tensors, name, generator))
            self._answers.expect(judge, number, inputs.arguments, self._output_specs)
            ratio = judge.noise(number)
            if not ratio <= ILL_POSED:
                why = "the reference is not finite, zero, or mostly rounding errors there"
        except TaskInvalid as error:
            why = f"the reference does not run there ({error.message})"
        except (OutOfMemory, torch.OutOfMemoryError, MemoryError):
            why = "no memory"
        self._release_memory()
        if why:
            judge.forget(number)
            self._families.remove(name)
        return {"applies": not why, "why": why, "weights_changed": name == WEIGHTS}, []

    def restore(self, _request, _descriptors):
        """Ends a variant: the weights are the task's own again."""
        self._need_share()
        return {"weights_changed": self._weight_variant.restore()}, []

    def audit(self, request, _descriptors):
        """What null models come to: on the task's own inputs, then on the families that apply."""
        self._need_share()
        if self._answers.is_random:
            return {"null_models": [], "degenerate": False, "changed_sets": []}, []
        seed = request["seed"]
        last = len(self._sets) - 1
        self._sets[last].fill(self._inputs.make(derived_seed(seed, "another input")))
        self._judge_of[last].forget(last)
        stale = [tensor.clone() for tensor in self._answers.run(self._sets[last].arguments, self._output_specs)]
        self.trial({"seed": derived_seed(seed, "own"), "set": 0}, ())
        rows = {}
        for name, outputs in null_models(self._sets[0].arguments, stale).items():
            own = self._compare_values(outputs)
            rows[name] = {"name": name, "passed": own["passed"], "error_ratio": own["error_ratio"], "refuted_by": ""}
        for family in list(self._families):
            left = [row for row in rows.values() if row["passed"] and not row["refuted_by"]]
            if not left:
                break
            applies = self.variant({"family": family, "seed": derived_seed(seed, family), "set": 0}, ())[0]["applies"]
            models = null_models(self._sets[0].arguments, stale) if applies else {}
            for row in left if applies else ():
                found = self._compare_values(models[row["name"]])
                if not found["passed"] and found["error_ratio"] > REFUTED:
                    row["refuted_by"] = family
            self._weight_variant.restore()
        found = list(rows.values())
        return {"null_models": found, "changed_sets": sorted({0, last}),
                "degenerate": any(row["passed"] and not row["refuted_by"] for row in found)}, []

    def _compare_values(self, values):
        for output, value in zip(self._outputs, values):
            output.copy_(value)
        return self._judge_of[0].compare(0, self._outputs, None)

    def compare(self, request, _descriptors):
        """The verdict on what lies in the output arena."""
        number, inputs = self._input_set(request)
        if self._answers.is_random:
            return _failed("unsupported", "Model draws random numbers in forward, so that there is no right answer to "
                           "compare with", "only its baselines can be measured")
        changed = inputs.modified()
        if changed is not None:
            return _failed("input_modified", f"input {changed} was overwritten", "write to a tensor of your own")
        path = self._weights.modified()
        if path is not None:
            return _failed("input_modified", f"weight '{path}' was overwritten", "write to a tensor of your own")
        return self._judge_of[number].compare(number, self._outputs, request.get("poison")), []

    def instruments(self, _request, descriptors):
        if len(descriptors) != 1:
            raise WrongRequest("reference: instruments takes one descriptor")
        if self._instruments is not None:
            os.close(self._instruments)
        self._instruments = os.dup(descriptors[0])
        self._meters.clear()
        return {}, []

    def compile(self, request, _descriptors):
        """Builds and warms the callables that are timed."""
        self._need_share()
        if self._baselines is None:
            self._baselines = Baselines(self._model, self._synchronize)
            if self._answers.is_random:
                self._baselines.notes.append("Model draws random numbers in forward: there is no right answer")
        arguments = [inputs.arguments for inputs in self._sets]
        arms, taken = timed_milliseconds(lambda: self._task.call(
            "forward", self._baselines.prepare, request["arms"], arguments, self._answers.state.restore))
        self._release_memory()
        return {"arms": arms, "graph_breaks": self._baselines.graph_breaks, "notes": self._baselines.notes,
                "compile_ms": taken}, []

    def time(self, request, _descriptors):
        """Samples of one arm on a card."""
        _, inputs = self._input_set(request)
        arm, function = self._arm(request)
        if self._device.type != "cuda":
            raise WrongRequest("reference: time is for cards; loop is for the CPU")
        if self._instruments is None:
            raise WrongRequest("reference: time needs the instruments first")
        if arm not in self._meters:
            self._meters[arm] = native.Meter(self._instruments, torch.cuda.current_stream(self._device).cuda_stream)
        return self._meters[arm].measure(request["samples"], self._before_call(), function, inputs.arguments), []

    def loop(self, request, descriptors):
        """Calls of one arm on the CPU, timed by kagent."""
        _, inputs = self._input_set(request)
        _, function = self._arm(request)
        if len(descriptors) != 2:
            raise WrongRequest("reference: loop takes two descriptors")
        native.call_loop(descriptors[0], descriptors[1], request["calls"], request["touch"], self._before_call(),
                         function, inputs.arguments)
        return {}, []

    def _construct(self, task, arguments, mode):
        """Model on the device, its weights drawn there where its constructor allows that."""
        seed = derived_seed(self._seed, "weights")
        places = [torch.device("cpu")] if self._device.type == "cpu" else [self._device, torch.device("cpu")]
        for place in places:
            seed_everything(seed)
            try:
                with place:
                    model = task.construct(arguments)
                break
            except TaskInvalid:
                if place.type == "cpu":
                    raise
        model.train(mode == "train")
        task.call("moving Model to the device", move_to, model, self._device)
        return model

    def _learn(self, inputs):
        """(OutputTree, [TensorSpec], notes) from one run; faults that only the task can have."""
        with RangeWatch() as watch:
            value = self._answers.first_run(inputs.arguments)
        self._needs_range = watch.needs_range
        line = first_line(self._model.forward, self._task.path)
        changed = inputs.modified()
        if changed is not None:
            raise TaskInvalid(f"forward overwrites its input {changed}", line)
        path = self._weights.modified()
        if path is not None:
            raise TaskInvalid(f"forward overwrites the parameter '{path}'", line)
        tensors = []
        tree = flatten_outputs(value, tensors)
        if not tensors:
            raise TaskInvalid("forward returns no tensor", line)
        forms = [native.contiguous(spec(tensor, f"output {i}")) for i, tensor in enumerate(tensors)]
        self._output_specs = forms
        notes = ["random_in_forward: true"] if self._answers.is_random else []
        return tree, forms, notes

    def _operand_shapes(self):
        """What bounds the length of a sum: inputs, weights, and convolution weights by their fan-in."""
        shapes = [form["tensor"]["shape"] for form in self._input_specs if "tensor" in form]
        for entry in self._weights.layout["entries"]:
            shape = entry["shape"]
            shapes.append(shape)
            if len(shape) > 2:
                shapes.append([math.prod(shape[1:])])
        return shapes

    def _new_arena(self, size, read_only):
        return native.Arena(self._device.type, self._device.index or 0, size, read_only)

    def _need_share(self):
        if not self._sets:
            raise WrongRequest("reference: share comes first")

    def _input_set(self, request):
        self._need_share()
        number = request["set"]
        if not isinstance(number, int) or not 0 <= number < len(self._sets):
            raise WrongRequest(f"reference: no input set {number}")
        return number, self._sets[number]

    def _arm(self, request):
        arm = request["arm"]
        if self._baselines is None or arm not in self._baselines.callables:
            raise WrongRequest(f"reference: arm {arm!r} was not compiled")
        return arm, self._baselines.callables[arm]

    def _before_call(self):
        return self._answers.state.restore if self._answers.state.is_stateful else None

    def _synchronize(self):
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def _release_memory(self):
        """The runner needs the card's memory too."""
        if self._device.type == "cuda":
            free, total = torch.cuda.mem_get_info(self._device)
            if free < total // 2:
                torch.cuda.empty_cache()


def _use_cache(folder):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


def _descriptors_of(arenas):
    descriptors = []
    try:
        for arena in arenas:
            descriptors.append(arena.descriptor())
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise
    return descriptors


def _failed(kind, message, hint):
    return {"passed": False, "max_error": 0.0, "error_ratio": 0.0,
            "fault": {"kind": kind, "message": message, "hint": hint}}, []
