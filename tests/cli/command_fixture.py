# SPDX-License-Identifier: Apache-2.0
"""One folder a test for task, candidate, temporary files, cache and locks; the real kagent runs in it.

KAGENT names the binary; KAGENT_TEST_CACHE, where set, a cache shared by tests."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

KAGENT = os.environ["KAGENT"]

TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return torch.relu(x * self.weight)


def get_inputs():
    return [torch.randn(64, 32)]


def get_init_inputs():
    return [32]
"""

MODEL = """\
import torch
import torch.nn as nn
import kagent

scale = kagent.kernel("kernels/scale.cpp", "scale_relu")


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        y = torch.empty_like(x)
        scale[x.shape[0], 1](y, x, self.weight, x.shape[1])
        return y
"""

KERNEL = """\
#include <kagent/cpu.h>

extern "C" void scale_relu(float* y, const float* x, const float* weight, int columns) {
  const long row = blockIdx.x;
  for (int i = 0; i < columns; ++i) {
    const float value = x[row * columns + i] * weight[i];
    y[row * columns + i] = value > 0 ? value : 0;
  }
}
"""


class CommandTest(unittest.TestCase):
    """Ends with every file removed; assert_nothing_left() looks for what kagent itself should have removed."""

    backend = "cpu"
    kernel_file = "scale.cpp"

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="kagent-cli-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.tmp = self.root / "tmp"
        self.tmp.mkdir()
        self.write(TASK, MODEL, KERNEL)

    def write(self, task=None, model=None, kernel=None):
        for name, text in (("task.py", task), ("new/model_new.py", model), (f"new/kernels/{self.kernel_file}", kernel)):
            if text is not None:
                path = self.root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.tmp),
                "XDG_CACHE_HOME": os.environ.get("KAGENT_TEST_CACHE", str(self.root / "cache")),
                "KAGENT_LOCK_DIR": str(self.root / "locks")}

    def kagent(self, *arguments, timeout=240, environment=None):
        return subprocess.run([KAGENT, *map(str, arguments)], env=self.environment() | (environment or {}), text=True,
                              capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def check(self, *more, environment=None):
        return self.kagent("check", self.root / "task.py", self.root / "new", "--backend", self.backend,
                           "--quiet", "--rounds", "6", *more, environment=environment)

    def assert_processes_end(self, seconds):
        """Killed processes may take a moment to be torn down; nothing that names this test's folder may stay."""
        deadline = time.monotonic() + seconds
        while left := list(self.processes()):
            self.assertLess(time.monotonic(), deadline, f"a process is left: {left[0]}")
            time.sleep(0.05)

    def processes(self):
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    command = (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
                except OSError:
                    continue
                if str(self.root) in command:
                    yield command

    def assert_nothing_left(self):
        self.assertEqual(list(self.tmp.iterdir()), [])
        self.assert_processes_end(5)
        for lock in (self.root / "locks").glob("*.lock"):
            done = subprocess.run(["flock", "--nonblock", lock, "true"])
            self.assertEqual(done.returncode, 0, "a lock is left")

    def assert_refused(self, done, code, pattern):
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^kagent: error: ")
        self.assertRegex(lines[0], pattern)
        self.assert_nothing_left()
