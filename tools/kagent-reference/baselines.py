# SPDX-License-Identifier: Apache-2.0
"""The two baselines: eager PyTorch, and torch.compile in its default mode."""
import functools
import os
import shutil
import subprocess
import time

import torch

from task_file import one_line

WARM_CALLS = 3


class Baselines:
    """Callables by arm; both are the same Model object on the same inputs."""

    def __init__(self, model, synchronize):
        self._model = model
        self._synchronize = synchronize
        self.callables = {"eager": model}
        self.graph_breaks = []
        self.notes = []

    def prepare(self, arms, argument_sets, restore):
        """Builds the arms asked for and warms them on every set of inputs; returns the arms that work."""
        for arguments in argument_sets:
            self._warm(self._model, arguments, restore)
        if "compiled" in arms and "compiled" not in self.callables:
            self._compile(argument_sets, restore)
        return [arm for arm in ("eager", "compiled") if arm in arms and arm in self.callables]

    def _compile(self, argument_sets, restore):
        from torch._dynamo.utils import counters
        counters.clear()
        torch._dynamo.reset()
        spare_probes()
        compiled = torch.compile(self._model, dynamic=False)
        try:
            graphs = 0
            for number, arguments in enumerate(argument_sets):
                self._warm(compiled, arguments, restore)
                if number == 0:
                    graphs = counters["stats"]["unique_graphs"]
            recompiled = counters["stats"]["unique_graphs"] - graphs
        except (Exception, SystemExit) as error:
            self.notes.append(f"torch.compile failed, only eager is timed: {explain(error)}")
            torch._dynamo.reset()
            return
        finally:
            stop_compile_workers()
        self.graph_breaks = [f"{one_line(reason)[:200]} ({count} times)" if count > 1 else one_line(reason)[:200]
                             for reason, count in counters["graph_break"].items()]
        if recompiled > 0:
            self.notes.append(f"torch.compile compiled {recompiled} more graphs after the first set of inputs")
        self.callables["compiled"] = compiled

    def _warm(self, function, arguments, restore):
        for _ in range(WARM_CALLS):
            restore()
            function(*arguments)
        restore()
        self._synchronize()


def spare_probes():
    """Inductor compiles and runs a program for each instruction set of the CPU, in every process: seconds each. What
    the CPU says of itself is enough; the choice is the same."""
    from torch._inductor import config
    if config.cpp.vec_isa_ok is None:
        config.cpp.vec_isa_ok = True


def explain(error):
    """One line, with what is missing on the machine first."""
    if not (shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")):
        return "no C++ compiler; run: apt-get install g++ python3-dev"
    text = str(error).strip()
    if "Python.h" in text:
        return "Python.h is missing; run: apt-get install python3-dev"
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Set TORCHDYNAMO")]
    return f"{type(error).__name__}: {one_line(lines[0] if lines else '')}"


def stop_compile_workers():
    """Inductor's compile processes would idle beside everything that is timed later. They are killed, not waited for:
    a short compile ends before they have imported torch, and only then would they hear that they are to stop (6 to
    7 s on an H200 machine whose torch comes without bytecode). Their own children notice within a second."""
    from torch._inductor import async_compile
    for pool in list(async_compile._pool_set):
        process = getattr(pool, "process", None)
        if isinstance(process, subprocess.Popen):
            process.wait = functools.partial(_kill_and_wait, process, process.wait)
    async_compile.shutdown_compile_workers()


def _kill_and_wait(process, wait, timeout=None):
    process.kill()
    return wait(timeout)


def timed_milliseconds(function):
    started = time.perf_counter()
    value = function()
    return value, (time.perf_counter() - started) * 1e3
