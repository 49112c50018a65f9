# SPDX-License-Identifier: Apache-2.0
"""kagent plan --audit: a folder that the runner executes alone; nothing is written for what cannot be built."""
import json
import os
import pathlib
import subprocess
import unittest

from command_fixture import KERNEL, CommandTest

RUNNER = pathlib.Path(os.environ["KAGENT_LIBEXEC"]) / "kagent-runner"


class PlanFolder(CommandTest):
    def plan(self):
        return self.kagent("plan", self.root / "new", "--task", self.root / "task.py", "--backend", "cpu", "--quiet",
                           "--audit", self.root / "audit")

    def test_the_runner_runs_it(self):
        done = self.plan()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual({path.name for path in (self.root / "audit").iterdir()}, {"plan.json", "build.json", "unit-0.so"})
        self.assertEqual(json.loads((self.root / "audit" / "plan.json").read_text())["backend"], "cpu")
        ran = subprocess.run([RUNNER, "audit", self.root / "audit"], text=True, capture_output=True, timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"output 0: float32 \[64, 32\].*not finite 0 of 2048")
        self.assert_refused(self.plan(), 2, "audit: is there already")

    def test_what_does_not_build_leaves_no_folder(self):
        self.write(kernel=KERNEL.replace("value > 0", "valve > 0"))
        self.assert_refused(self.plan(), 1, r"build_failed: kernels/scale\.cpp:7: .*valve")
        self.assertFalse((self.root / "audit").exists())


if __name__ == "__main__":
    unittest.main()
