# SPDX-License-Identifier: Apache-2.0
"""Hostile task.py, model_new.py and kernel, judged by the real kagent in its best sandbox and in one forced lower.

tests/escape tries every attack on the sandbox itself; here a few show that each of kagent's processes is in it."""
import json
import os
import pathlib
import socket
import unittest

from command_fixture import KERNEL, MODEL, TASK, CommandTest

ATTACK = '''
import ctypes, glob, os, signal, socket, subprocess

def attempts():
    def read(path):
        with open(path, "rb") as file:
            if b"open-sesame" in file.read(1 << 20):
                return True
    def connect(family, kind, address):
        with socket.socket(family, kind) as each:
            each.settimeout(2)
            each.connect(address)
        return True
    yield "read a key file", lambda: read(SECRET)
    yield "read a key in an environment", lambda: any(tried(lambda: read(path)) for path in glob.glob("/proc/[0-9]*/environ"))
    yield "has a key in its own environment", lambda: "open-sesame" in str(dict(os.environ))
    yield "wrote into the system", lambda: open("/usr/kagent-escape", "w")
    yield "wrote outside", lambda: open(OUTSIDE, "w")
    yield "wrote a kernel setting", lambda: open("/proc/sys/kernel/hostname", "w")
    yield "opened another process's memory", lambda: any(
        tried(lambda: open(path, "rb")) for path in glob.glob("/proc/[0-9]*/mem") if path != f"/proc/{os.getpid()}/mem")
    yield "connected by TCP", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT))
    yield "connected by UDP", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53))
    yield "connected to a Unix socket", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, SOCKET)
    yield "connected to an abstract socket", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\\0kagent-escape-test")
    yield "killed kagent", lambda: os.kill(KAGENT_PID, 0) or True
    yield "traced", lambda: ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0
    yield "mounted", lambda: ctypes.CDLL(None).mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0
    yield "made a user namespace", lambda: ctypes.CDLL(None).unshare(0x10000000) == 0
    yield "is root", lambda: os.geteuid() == 0

def tried(attempt):
    try:
        return bool(attempt())
    except (OSError, ValueError):
        return False

def attack():
    through, count = [], 0
    for name, attempt in attempts():
        count += 1
        if tried(attempt):
            through.append(name)
    raise RuntimeError(f"GOT THROUGH: {', '.join(through)}" if through else f"ALL {count} REFUSED")
'''

HOSTILE_KERNEL = """\
#include <kagent/cpu.h>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" void scale_relu(float* y, const float* x, const float* weight, int columns) {
  const long row = blockIdx.x;
  if (row == 0) {
    int through = 0;
    through += open("@SECRET@", O_RDONLY) >= 0;
    through += open("@OUTSIDE@", O_WRONLY | O_CREAT, 0600) >= 0;
    through += open("/usr/kagent-escape", O_WRONLY | O_CREAT, 0600) >= 0;
    through += socket(AF_INET, SOCK_DGRAM, 0) >= 0;
    through += socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    through += getppid() > 1 && kill(getppid(), SIGKILL) == 0;
    through += fork() >= 0;
    through += geteuid() == 0;
    if (through != 0) _exit(77);
  }
  for (int i = 0; i < columns; ++i) {
    const float value = x[row * columns + i] * weight[i];
    y[row * columns + i] = value > 0 ? value : 0;
  }
}
"""

REFUSED = "ALL 16 REFUSED"


class Escape(CommandTest):
    def setUp(self):
        super().setUp()
        self.root.chmod(0o755)
        self.secret = self.root / "secret"
        self.secret.write_text("open-sesame")
        self.open_folder = self.root / "open"
        self.open_folder.mkdir()
        self.open_folder.chmod(0o777)
        self.server = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        self.listen(socket.AF_UNIX, str(self.open_folder / "socket"))
        os.chmod(self.open_folder / "socket", 0o777)
        self.listen(socket.AF_UNIX, "\0kagent-escape-test")
        self.attack = ATTACK
        for name, value in (("SECRET", str(self.secret)), ("OUTSIDE", str(self.open_folder / "escaped")),
                            ("PORT", self.server.getsockname()[1]), ("SOCKET", str(self.open_folder / "socket")),
                            ("KAGENT_PID", os.getpid())):
            self.attack = f"{name} = {value!r}\n" + self.attack

    def listen(self, family, address):
        server = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.bind(address)
        server.listen(8)
        return server

    def judged(self, sandbox, *candidates):
        done = self.kagent("check", self.root / "task.py", *candidates, "--backend", "cpu", "--quiet", "--rounds", "6",
                           "--sandbox", sandbox, "--json", environment={"OPENAI_API_KEY": "open-sesame"})
        self.assertFalse((self.open_folder / "escaped").exists())
        return done

    def attack_through_task(self, sandbox):
        """The reference, which runs task.py."""
        self.write(task=self.attack + "\nattack()\n" + TASK)
        done = self.judged(sandbox, self.root / "new")
        self.assertEqual(done.returncode, 4, done.stderr + done.stdout)
        self.assertIn(REFUSED, done.stderr + done.stdout)

    def attack_through_candidates(self, sandbox):
        """The recorder, which runs model_new.py, and the runner, which runs the kernel."""
        self.write(task=TASK, model=self.attack + "\nattack()\n" + MODEL)
        other = self.root / "native"
        (other / "kernels").mkdir(parents=True, exist_ok=True)
        (other / "model_new.py").write_text(MODEL)
        kernel = HOSTILE_KERNEL.replace("@SECRET@", str(self.secret)).replace("@OUTSIDE@", str(self.open_folder / "escaped"))
        (other / "kernels/scale.cpp").write_text(kernel)
        done = self.judged(sandbox, self.root / "new", other)
        first, second = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual(first["sandbox"], sandbox)
        self.assertIn(REFUSED, json.dumps(first), done.stdout)
        self.assertTrue(second["evaluation"]["verdict"]["correct"], done.stdout)

    def in_tier(self, sandbox, attack):
        probe = self.judged(sandbox, self.root / "missing")
        if "does not hold here" in probe.stderr + probe.stdout:
            self.skipTest(f"SKIPPED LOUDLY: {probe.stderr}")
        attack(sandbox)

    def test_task_in_bubblewrap(self):
        self.in_tier("bubblewrap", self.attack_through_task)

    def test_task_in_landlock(self):
        self.in_tier("landlock", self.attack_through_task)

    def test_candidates_in_bubblewrap(self):
        self.in_tier("bubblewrap", self.attack_through_candidates)

    def test_candidates_in_namespaces(self):
        self.in_tier("namespaces", self.attack_through_candidates)

    def test_candidates_in_landlock(self):
        self.in_tier("landlock", self.attack_through_candidates)

    def test_unknown_tier(self):
        done = self.judged("jail", self.root / "new")
        self.assertEqual(done.returncode, 2)
        self.assertIn("jail", done.stderr)


if __name__ == "__main__":
    unittest.main()
