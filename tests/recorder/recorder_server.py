# SPDX-License-Identifier: Apache-2.0
"""The recorder's server as a child process, and what a request is made of."""
import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

LIBEXEC = os.environ["KAGENT_LIBEXEC"]
sys.path.insert(0, os.path.join(LIBEXEC, "shared-python"))
from kagent_channel import Channel  # noqa: E402

HEADER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import kagent
"""
DEVICE = {"name": "NVIDIA H200", "uuid": "GPU-0", "architecture": "sm_90a", "capability_major": 9,
          "capability_minor": 0, "multiprocessors": 132, "max_threads_per_block": 1024,
          "shared_bytes_per_block": 232448, "warp_size": 32, "l2_bytes": 60 << 20}


def contiguous(shape):
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= size
    return stride


def spec(shape, dtype="float32", stride=None):
    return {"dtype": dtype, "shape": list(shape), "stride": list(stride or contiguous(shape))}


def tensor(shape, dtype="float32", stride=None):
    """One argument of forward."""
    return {"tensor": spec(shape, dtype, stride)}


def weight(path, shape, dtype="float32", in_state_dict=True):
    return {"path": path, "spec": spec(shape, dtype), "in_state_dict": in_state_dict}


class Server:
    """prefix: a command in front of the interpreter, such as bwrap and its options."""

    def __init__(self, prefix=()):
        ours, theirs = socket.socketpair()
        descriptor = theirs.fileno()

        def place():
            if descriptor == 3:
                os.set_inheritable(3, True)
            else:
                os.dup2(descriptor, 3)

        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-I", os.path.join(LIBEXEC, "recorder", "main.py")], cwd="/", close_fds=False,
            preexec_fn=place)
        theirs.close()
        self.channel = Channel(ours)

    def ask(self, **request):
        self.channel.send(request)
        answer, descriptors = self.channel.receive()
        assert not descriptors
        return answer

    def close(self):
        self.channel.close()
        return self.process.wait(timeout=10)


_shared = None


def shared_server():
    """One server for all tests: starting it takes seconds, and outliving hostile candidates is its job."""
    global _shared
    if _shared is None:
        _shared = Server()
        atexit.register(_shared.close)
        _shared.ask(type="hello")
    return _shared


class RecorderTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.server = shared_server()
        self.folder = tempfile.mkdtemp(prefix="kagent-candidate-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, model, kernels=("k.cu",)):
        os.makedirs(os.path.join(self.folder, "kernels"), exist_ok=True)
        for name in kernels:
            with open(os.path.join(self.folder, "kernels", name), "w", encoding="utf-8") as file:
                file.write('extern "C" __global__ void k() {}\n')
        with open(os.path.join(self.folder, "model_new.py"), "w", encoding="utf-8") as file:
            file.write(HEADER + textwrap.dedent(model))

    def answer(self, model, inputs=(tensor([4, 8]),), weights=(), init=(), backend="cuda", mode="eval", **more):
        self.write(model)
        return self.server.ask(
            type="record", candidate=self.folder, backend=backend, mode=mode, device=DEVICE,
            signature={"init": list(init), "inputs": list(inputs), "weights": list(weights)}, **more)

    def plan(self, model, **request):
        answer = self.answer(model, **request)
        self.assertEqual(["ok"], list(answer), answer)
        return answer["ok"]["plan"]

    def fault(self, model, **request):
        answer = self.answer(model, **request)
        self.assertEqual(["fault"], list(answer), answer)
        return answer["fault"]

    def line_of(self, text):
        """1-based line of model_new.py that holds `text`."""
        with open(os.path.join(self.folder, "model_new.py"), encoding="utf-8") as file:
            lines = [number for number, line in enumerate(file, 1) if text in line]
        self.assertEqual(1, len(lines), f"{text!r} must be in one line")
        return lines[0]

    def assert_fault(self, fault, kind, words, text=None):
        """text: what the line that the fault names holds."""
        self.assertEqual(kind, fault["kind"], fault)
        self.assertIn(words, fault["message"], fault)
        self.assertNotIn("\n", fault["message"])
        if text is not None:
            self.assertEqual({"file": "model_new.py", "line": self.line_of(text)}, fault.get("at"), fault)


def names(plan, section="forward"):
    return [step.get("op", "launch") for step in plan[section]]
