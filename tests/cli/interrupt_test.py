# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in every phase: exit 130, one line, and neither a process nor a lock nor a file is left.

KAGENT_TEST_BACKEND picks the backend (default: cpu)."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

import bad_input_cuda_test as cuda
from command_fixture import KAGENT, CommandTest

BACKEND = os.environ.get("KAGENT_TEST_BACKEND", "cpu")
# What kagent says on stderr when it enters a phase.
PHASES = ["open task", "share memory", "record", "build", "load", "trial 1/5", "compile baselines", "time round 1/"]


@unittest.skipIf(BACKEND == "cuda" and not pathlib.Path("/dev/nvidiactl").exists(), "NO GPU: Ctrl-C on a card is not tried")
class Interrupt(CommandTest):
    backend = BACKEND
    kernel_file = "scale.cu" if BACKEND == "cuda" else "scale.cpp"

    def setUp(self):
        super().setUp()
        if BACKEND == "cuda":
            self.write(model=cuda.MODEL, kernel=cuda.KERNEL)

    def interrupt(self, phase, number):
        """Sends the signal to the whole process group, as a terminal does."""
        with subprocess.Popen([KAGENT, "check", self.root / "task.py", self.root / "new", "--backend", self.backend,
                               "--rounds", "200"], env=self.environment(), text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
            said = []
            for line in process.stderr:
                said.append(line.strip())
                if line.startswith(f"kagent: {phase}"):
                    os.killpg(process.pid, number)
            output = process.stdout.read()
        self.assertTrue(any(line.startswith(f"kagent: {phase}") for line in said), f"{phase!r} was never said: {said}")
        return process.returncode, output, [line for line in said if line.startswith("kagent: error:")]

    def test_every_phase(self):
        for phase in PHASES:
            with self.subTest(phase):
                code, output, errors = self.interrupt(phase, signal.SIGINT)
                self.assertEqual(code, 130, errors)
                self.assertEqual(output, "")
                self.assertEqual(len(errors), 1, errors)
                self.assertTrue(re.match(r"kagent: error: .*(stopped|interrupted)", errors[0]), errors)
                self.assert_nothing_left()

    def test_terminate(self):
        code, _, errors = self.interrupt("record", signal.SIGTERM)
        self.assertEqual(code, 143, errors)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
