# SPDX-License-Identifier: Apache-2.0
"""The operator table against the installed torch: every row exists, its rules stand at the right
arguments, and what torch records for ordinary model code is in the table."""
import json
import os
import subprocess
import unittest

import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import recorded_calls

ROWS = [json.loads(line) for line in subprocess.run(
    [os.environ["KAGENT_PRINT_ROWS"]], check=True, capture_output=True, text=True).stdout.splitlines()]


def schema_of(overload):
    name, _, overload_name = overload.partition(".")
    return torch._C._get_schema(name, overload_name)


def argument_names(overload):
    return [argument.name for argument in schema_of(overload).arguments]


class Rows(unittest.TestCase):
    def test_exist(self):
        self.assertGreater(len(ROWS), 300)
        missing = []
        for row in ROWS:
            try:
                torch._C._dispatch_find_schema_or_throw(*(row["overload"].split(".") + [""])[:2])
            except RuntimeError:
                missing.append(row["overload"])
        self.assertEqual(missing, [])

    def test_rules_stand_at_their_arguments(self):
        wanted = {"strided_view": ("self",), "factory_bytes": ("size",), "no_running_update": ("training",),
                  "must_be_zero": ("dropout_p",)}
        for row in ROWS:
            if row["rule"] != "none":
                names = argument_names(row["overload"])
                self.assertIn(names[row["position"]], wanted[row["rule"]], row["overload"])
            if row["rule"] == "no_running_update":
                self.assertEqual(names[3:5], ["running_mean", "running_var"], row["overload"])

    def test_every_training_dropout_and_pinning_argument_has_its_rule(self):
        for row in ROWS:
            names = argument_names(row["overload"])
            with self.subTest(row["overload"]):
                self.assertEqual(row["pin_memory"], names.index("pin_memory") if "pin_memory" in names else -1)
                if "training" in names:
                    self.assertEqual(row["rule"], "no_running_update")
                if "dropout_p" in names:
                    self.assertEqual(row["rule"], "must_be_zero")

    def test_take_no_storage_generator_or_output(self):
        for row in ROWS:
            for argument in schema_of(row["overload"]).arguments:
                with self.subTest(f"{row['overload']}, {argument.name}"):
                    self.assertNotRegex(str(argument.type), "Storage|Generator|Stream")
                    self.assertFalse(argument.is_out)

    def test_never_reseat_a_tensor(self):
        for row in ROWS:
            name, _, overload = row["overload"].partition(".")
            op = getattr(getattr(torch.ops.aten, name.removeprefix("aten::")), overload or "default")
            with self.subTest(row["overload"]):
                self.assertNotIn(torch.Tag.inplace_view, op.tags)
                self.assertNotIn(torch.Tag.nondeterministic_seeded, set(op.tags) - allowed_by_rule(row))
                self.assertNotIn(torch.Tag.data_dependent_output, op.tags)


def allowed_by_rule(row):
    """Attention is seeded only where it drops out."""
    return {torch.Tag.nondeterministic_seeded} if row["rule"] == "must_be_zero" else set()


class Recorded(unittest.TestCase):
    """CUDA_VISIBLE_DEVICES is empty: as the recorder sees the world."""

    def emitted(self, function, shapes, device):
        with FakeTensorMode(), torch.no_grad():
            tensors = [torch.zeros(4, dtype=torch.int64, device=device) if shape == "index"
                       else torch.empty(*shape, device=device) for shape in shapes]
            graph = make_fx(function, tracing_mode="fake")(*tensors).graph
        for node in graph.nodes:
            if isinstance(node.target, torch._ops.OpOverload):
                yield node.target.name()

    def check(self, device):
        known = {row["overload"] for row in ROWS}
        for name, (function, *shapes) in recorded_calls.CALLS.items():
            with self.subTest(name, device=device):
                self.assertEqual(sorted(set(self.emitted(function, shapes, device)) - known), [])

    def test_on_a_card(self):
        self.check("cuda")

    def test_on_the_cpu(self):
        self.check("cpu")

    def test_products_and_convolutions_are_in_their_groups(self):
        groups = {row["overload"]: row["group"] for row in ROWS}
        always = {"view", "factory", "fill", "copy", "cast"}
        for group in ("gemm", "conv"):
            for name in getattr(recorded_calls, group.upper()):
                function, *shapes = recorded_calls.CALLS[name]
                with self.subTest(name):
                    found = {groups[op] for op in self.emitted(function, shapes, "cuda")}
                    self.assertEqual(found - always, {group})


if __name__ == "__main__":
    unittest.main()
