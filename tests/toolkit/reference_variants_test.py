# SPDX-License-Identifier: Apache-2.0
"""Hidden variants: what each family does to values, what it leaves alone, and where it does not apply."""
import unittest

import torch

from reference_fixture import ReferenceTest

import variants

RELU = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def forward(self, x):
            return torch.relu(x)
    def get_inputs():
        return [torch.rand(16, 64)]
    def get_init_inputs():
        return []
"""

LINEAR = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(64, 64)
            self.norm = nn.BatchNorm1d(64)
        def forward(self, x):
            return self.norm(self.linear(x))
    def get_inputs():
        return [torch.randn(16, 64)]
    def get_init_inputs():
        return []
"""


class Families(unittest.TestCase):
    def changed(self, values, family):
        values = values.clone()
        variants.change_inputs([values], family, torch.Generator().manual_seed(7))
        return values

    def test_every_family_changes_free_values_and_none_changes_fixed_ones(self):
        torch.manual_seed(1)
        free = torch.rand(32, 64)
        fixed = {"indices": torch.randint(0, 9, (32, 64)), "mask": (torch.rand(32, 64) > 0.5).float(),
                 "additive mask": torch.full((8, 8), -torch.inf).triu(1), "scalar": torch.rand(()),
                 "probabilities": torch.softmax(free, 1), "sorted": torch.arange(64.0)}
        for family in variants.INPUT_FAMILIES:
            self.assertFalse(torch.equal(self.changed(free, family), free), family)
            for name, values in fixed.items():
                self.assertTrue(torch.equal(self.changed(values, family), values), f"{family}: {name}")

    def test_triangles_stay_triangles_and_symmetric_matrices_symmetric(self):
        torch.manual_seed(2)
        triangle = torch.randn(64, 64).triu()
        symmetric = triangle + triangle.T
        for family in variants.INPUT_FAMILIES:
            self.assertFalse(self.changed(triangle, family).tril(-1).any(), family)
            values = self.changed(symmetric, family)
            self.assertTrue(torch.equal(values, values.T), family)

    def test_families_that_the_outputs_cannot_bear_are_left_out(self):
        values = torch.rand(32, 64)
        form = {"dtype": "float32", "shape": [32, 64]}
        self.assertEqual(variants.families([values], [form], False, True), [*variants.INPUT_FAMILIES, "weights"])
        index = variants.families([values], [{"dtype": "int64", "shape": [32, 64]}], False, False)
        self.assertNotIn("ties", index)
        self.assertNotIn("signed", variants.families([values], [{"dtype": "float32", "shape": []}], False, False))
        self.assertEqual(variants.families([values], [form], True, False), [])

    def test_what_needs_its_range_is_noticed(self):
        for call, expected in ((lambda x: torch.nn.functional.binary_cross_entropy(x, x), True),
                               (lambda x: x.long(), True), (lambda x: torch.relu(x).half(), False)):
            with variants.RangeWatch() as watch:
                call(torch.rand(4, 4))
            self.assertEqual(watch.needs_range, expected)


class OverTheChannel(ReferenceTest):
    def test_identity_is_relu_only_on_the_tasks_own_inputs(self):
        self.opened_and_shared(RELU)
        self.assertIn("signed", self.shared["variants"])
        self.reference.ok("trial", seed=1, set=0)
        self.outputs.tensor(0).copy_(self.inputs[0].tensor(0))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        answer, _ = self.reference.ok("variant", family="signed", seed=2, set=0)
        self.assertEqual(answer, {"applies": True, "why": "", "weights_changed": False})
        x = self.inputs[0].tensor(0)
        self.assertTrue((x < 0).any())
        self.outputs.tensor(0).copy_(x)
        verdict, _ = self.reference.ok("compare", set=0)
        self.assertFalse(verdict["passed"])
        self.assertGreater(verdict["error_ratio"], 1000)
        self.outputs.tensor(0).copy_(torch.relu(x))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.reference.ok("trial", seed=3, set=0)
        self.assertTrue((self.inputs[0].tensor(0) >= 0).all())

    def test_honest_answers_pass_with_other_weights_which_are_then_put_back(self):
        self.opened_and_shared(LINEAR)
        names = [entry["name"] for entry in self.weights.layout["entries"]]
        before = {name: self.weights.named(name).clone() for name in names}
        answer, _ = self.reference.ok("variant", family="weights", seed=2, set=0)
        self.assertTrue(answer["applies"], answer["why"])
        w = self.weights.named
        for name in ("linear.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"):
            self.assertFalse(torch.equal(w(name), before[name]), name)
        y = torch.nn.functional.linear(self.inputs[0].tensor(0), w("linear.weight"), w("linear.bias"))
        self.outputs.tensor(0).copy_(torch.batch_norm(
            y, w("norm.weight"), w("norm.bias"), w("norm.running_mean"), w("norm.running_var"), False, 0.1, 1e-5, False))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.assertTrue(self.reference.ok("restore")[0]["weights_changed"])
        for name in names:
            self.assertTrue(torch.equal(self.weights.named(name), before[name]), name)

    def test_a_reference_that_is_ill_posed_there_drops_the_family(self):
        self.opened_and_shared(RELU.replace("torch.relu(x)", "torch.log(x + 0.1)"))
        answer, _ = self.reference.ok("variant", family="signed", seed=2, set=0)
        self.assertFalse(answer["applies"])
        self.assertIn("not finite", answer["why"])
        self.assertIn("error", self.reference.ask("variant", family="signed", seed=2, set=0)[0])

    def test_random_models_have_no_variants(self):
        self.opened_and_shared(RELU.replace("torch.relu(x)", "x + torch.rand_like(x)"))
        self.assertEqual(self.shared["variants"], [])


class NullModels(ReferenceTest):
    def audit(self, forward, inputs="torch.rand(64, 64)"):
        self.opened_and_shared(RELU.replace("torch.relu(x)", forward).replace("torch.rand(16, 64)", inputs))
        answer, _ = self.reference.ok("audit", seed=5)
        self.assertEqual(answer["changed_sets"], [0, len(self.inputs) - 1])
        return answer["degenerate"], {row["name"]: row for row in answer["null_models"]}

    def test_a_result_that_is_always_zero_is_degenerate(self):
        degenerate, rows = self.audit("(x - x.mean(1, keepdim=True)).abs().neg().clamp(min=0)")
        self.assertTrue(degenerate)
        self.assertTrue(rows["zeros"]["passed"] and rows["another input's output"]["passed"])

    def test_relu_of_positive_numbers_is_not_since_signs_refute_the_copy(self):
        degenerate, rows = self.audit("torch.relu(x)")
        self.assertFalse(degenerate)
        self.assertTrue(rows["input copy"]["passed"])
        self.assertTrue(rows["input copy"]["refuted_by"])
        self.assertFalse(rows["zeros"]["passed"])

    def test_small_values_are_not_zeros(self):
        degenerate, rows = self.audit("torch.softmax(x, 1)", "torch.rand(4, 32768)")
        self.assertFalse(degenerate)
        self.assertFalse(any(row["passed"] for row in rows.values()))


if __name__ == "__main__":
    unittest.main()
