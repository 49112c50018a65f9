# SPDX-License-Identifier: Apache-2.0
"""A reference for each test: a child forked from this process serves a socket pair as the real program does."""
import json
import mmap
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

LIBEXEC = pathlib.Path(os.environ["KAGENT_LIBEXEC"])
sys.path[:0] = [str(LIBEXEC / "reference"), str(LIBEXEC / "shared-python")]
sys.dont_write_bytecode = True

import torch   # noqa: E402

torch.set_num_threads(1)   # children are forked from here; a thread pool would not survive that
torch.set_grad_enabled(False)

from kagent_channel import Channel   # noqa: E402
from server import serve   # noqa: E402

# Kept from run to run: a cold torch.compile on the CPU spends half a minute in the C++ compiler.
CACHE = pathlib.Path(os.environ.get("KAGENT_TEST_CACHE") or tempfile.mkdtemp(prefix="kagent-test-cache-"))

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "float64": torch.float64,
          "int64": torch.int64, "bool": torch.bool, "complex64": torch.complex64}

SOFTMAX = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim
        def forward(self, x):
            return torch.softmax(x, dim=self.dim)
    def get_inputs():
        return [torch.randn(16, 64)]
    def get_init_inputs():
        return [1]
"""


class Memory:
    """An arena as a runner sees it."""

    def __init__(self, descriptor, layout, writable):
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map = mmap.mmap(descriptor, layout["bytes"], mmap.MAP_SHARED, protection)
        self._writable = writable
        self.layout = layout
        self.descriptor = descriptor

    def tensor(self, position):
        """The memory itself where it is writable, else a copy."""
        entry = self.layout["entries"][position]
        dtype = DTYPES[entry["dtype"]]
        data = self._map if self._writable else bytearray(self._map[:])
        flat = torch.frombuffer(data, dtype=dtype, offset=entry["offset"], count=entry["bytes"] // dtype.itemsize)
        return flat.as_strided(entry["shape"], entry["stride"])

    def named(self, name):
        return self.tensor([entry["name"] for entry in self.layout["entries"]].index(name))


class Reference:
    """One end of the conversation with a reference."""

    def __init__(self, channel, wait):
        self._channel = channel
        self._wait = wait

    def ask(self, kind, descriptors=(), **fields):
        """(answer, descriptors)."""
        self._channel.send({"type": kind, **fields}, descriptors)
        return self._channel.receive()

    def ok(self, kind, descriptors=(), **fields):
        answer, received = self.ask(kind, descriptors, **fields)
        assert "ok" in answer, json.dumps(answer)
        return answer["ok"], received

    def send(self, kind, descriptors=(), **fields):
        self._channel.send({"type": kind, **fields}, descriptors)

    def receive(self):
        return self._channel.receive()

    def close(self):
        self._channel.close()
        return self._wait()


def wait_for_child(pid):
    """Its status; a child that does not end with its channel, since a test failed amid a request, is killed."""
    for _ in range(100):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


class ReferenceTest(unittest.TestCase):
    """open() starts a reference on a task's text; share() maps what it hands out."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self):
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            status = 1
            try:
                serve(Channel(theirs))
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        reference = Reference(Channel(ours), lambda: wait_for_child(pid))
        self.addCleanup(reference.close)
        return reference

    def start_program(self):
        """The program itself, as kagent starts it."""
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{number}', sys.executable, "-I", str(LIBEXEC / "reference/main.py")],
            pass_fds=(number,))
        theirs.close()
        reference = Reference(Channel(ours), process.wait)
        self.addCleanup(reference.close)
        return reference

    def write_task(self, source):
        path = self.folder / "task.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return str(path)

    def open_fields(self, path, **changes):
        return {"task": path, "backend": "cpu", "mode": "eval", "numerics": "strict",
                "cache": str(CACHE), "device_index": 0, "weights_seed": 11, **changes}

    def open(self, source, **changes):
        """Starts a reference and opens the task: sets self.reference and self.opened."""
        self.reference = self.start()
        path = self.write_task(source)
        self.opened, _ = self.reference.ok("open", **self.open_fields(path, **changes))

    def share(self, sets=2):
        answer, descriptors = self.reference.ok("share", sets=sets)
        self.assertEqual(len(descriptors), sets + 2)
        self.shared = answer
        self.weights = Memory(descriptors[0], answer["weights"], False)
        self.inputs = [Memory(fd, layout, False) for fd, layout in zip(descriptors[1:-1], answer["inputs"])]
        self.outputs = Memory(descriptors[-1], answer["outputs"], True)

    def opened_and_shared(self, source, **changes):
        self.open(source, **changes)
        self.share()

    def task_error(self, source, **changes):
        """The task_invalid answer to open, share or trial, whichever comes first."""
        reference = self.start()
        path = self.write_task(source)
        steps = (("open", self.open_fields(path, **changes)), ("share", {"sets": 2}), ("trial", {"seed": 5, "set": 0}))
        for kind, fields in steps:
            answer, _ = reference.ask(kind, **fields)
            if "ok" not in answer:
                self.assertIn("task_invalid", answer)
                return answer["task_invalid"]
        self.fail("the task was accepted")
