# SPDX-License-Identifier: Apache-2.0
"""Can the task tell right from wrong? kagent vet, the label degenerate, and what only hidden inputs find."""
import json
import unittest

from command_fixture import KERNEL, TASK, CommandTest

# Its inputs and weights are never negative: without the relu the answer is the same.
POSITIVE = TASK.replace("torch.randn", "torch.rand")
ALWAYS_ZERO = TASK.replace("torch.relu(x * self.weight)", "torch.relu(-torch.abs(x * self.weight))")


class Vet(CommandTest):
    def vet(self, *tasks):
        paths = []
        for number, text in enumerate(tasks):
            paths.append(self.root / f"task{number}.py")
            paths[-1].write_text(text)
        done = self.kagent("vet", *paths, "--backend", "cpu", "--quiet", "--json")
        return done, json.loads(done.stdout)["tasks"]

    def test_sound_and_degenerate(self):
        done, (sound, positive, zero, broken) = self.vet(TASK, POSITIVE, ALWAYS_ZERO, TASK.replace("class Model(", "class Mobel("))
        self.assertEqual(done.returncode, 4, done.stderr)   # an invalid task goes before a verdict
        self.assertEqual([sound["outcome"], positive["outcome"], zero["outcome"], broken["outcome"]],
                         ["sound", "sound", "degenerate", "task_invalid"])
        self.assertFalse(any(model["passed"] for model in sound["null_models"]))
        zeros = next(model for model in zero["null_models"] if model["name"] == "zeros")
        self.assertEqual((zeros["passed"], zeros["refuted_by"]), (True, ""))
        self.assertIn("signed", positive["variants"])
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assert_nothing_left()

    def test_degenerate_alone_is_a_negative_verdict(self):
        done, _ = self.vet(ALWAYS_ZERO)
        self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_a_candidate_fitted_to_the_tasks_own_inputs(self):
        self.write(task=POSITIVE, kernel=KERNEL.replace("value > 0 ? value : 0", "value"))
        done = self.check("--json")
        self.assertEqual(done.returncode, 7, done.stderr + done.stdout[:500])
        verdict = json.loads(done.stdout)["evaluation"]["verdict"]
        self.assertEqual(verdict["fault"]["kind"], "input_specific")
        self.assertEqual([trial["passed"] for trial in verdict["trials"]], [True] * 5)
        self.assertRegex(verdict["fault"]["message"], r"family '(signed|heavy_tailed|permuted|weights)'")
        for name in ("index", "expected", "got"):   # nobody can fit a kernel to the hidden values
            self.assertNotIn(name, verdict["fault"])

    def test_a_degenerate_task_is_a_label(self):
        self.write(task=ALWAYS_ZERO, kernel=KERNEL.replace("value > 0 ? value : 0", "0"))
        done = self.check("--json")
        verdict = json.loads(done.stdout)["evaluation"]["verdict"]
        self.assertTrue(verdict["correct"], verdict)
        self.assertIn("degenerate", verdict["labels"])


if __name__ == "__main__":
    unittest.main()
