# SPDX-License-Identifier: Apache-2.0
"""Stands for all four workers on the CPU backend, without torch and without a compiler: kagent's own side of an
evaluation (records, budgets, resume) can then be tested in milliseconds a candidate, with results that a test wrote.

The candidate's text is the script. model_new.py's first line says what comes of it:
  # microseconds 9000       correct, and a call takes that long at least (0: nothing, however busy this machine is);
                            eager takes 2000, torch.compile 1500
  # wrong                   a mismatch in the first trial
  # unrecordable            forbidden_op, by the recorder
and a kernel with the word "syntax_error" does not build. Each request takes as many seconds as install() was told, so that
a test can strike in the middle of it.

install() makes the tree that kagent looks for beside itself; which worker a copy plays is told by its path."""
import json
import os
import pathlib
import shutil
import signal
import struct
import sys
import time

EAGER, COMPILED = 2000, 1500  # microseconds a call
COLUMNS, ROWS = 32, 64
ARENA = 16384
SPEC = {"dtype": "float32", "shape": [ROWS, COLUMNS], "stride": [COLUMNS, 1]}
WEIGHT = {"dtype": "float32", "shape": [COLUMNS], "stride": [1]}
RIGHT, WRONG = 1.0, 2.0


def install(root, kagent, share, channel_module, pause=0.0):
    """root/bin/kagent and what it needs, with this file for every worker. Returns the path of that kagent."""
    root = pathlib.Path(root)
    libexec = root / "libexec" / "kagent"
    for folder in (root / "bin", libexec / "recorder", libexec / "reference"):
        folder.mkdir(parents=True)
    try:
        os.link(kagent, root / "bin" / "kagent")
    except OSError:  # another file system
        shutil.copy(kagent, root / "bin" / "kagent")
    sandbox = pathlib.Path(kagent).resolve().parents[1] / "libexec" / "kagent" / "kagent-sandbox"
    if sandbox.exists():
        shutil.copy(sandbox, libexec / "kagent-sandbox")
    shutil.copytree(share, root / "share" / "kagent")
    shutil.copy(channel_module, libexec / "kagent_channel.py")
    (libexec / "pause").write_text(str(pause))
    python = os.path.realpath(sys.executable)
    outside = [] if python.startswith("/usr/") else [sys.base_prefix]
    (libexec / "python.json").write_text(json.dumps({"python": python, "compiler": "/usr/bin/c++", "mounts": outside}))
    body = pathlib.Path(__file__).read_text()
    for name in ("recorder/main.py", "reference/main.py"):
        (libexec / name).write_text(body)
    for name in ("kagent-builder", "kagent-runner"):
        (libexec / name).write_text(f"#!{python} -IS\n" + body)
        (libexec / name).chmod(0o755)
    for path in (root, *root.rglob("*")):  # workers have another user id
        if path.is_dir():
            path.chmod(0o755)
    return root / "bin" / "kagent"


def layout(name, spec):
    size = 4
    for extent in spec["shape"]:
        size *= extent
    return {"bytes": ARENA, "entries": [{"name": name, **spec, "offset": 0, "bytes": size}]}


def memory(name):
    descriptor = os.memfd_create(name)
    os.ftruncate(descriptor, ARENA)
    return descriptor


def loop(channel, microseconds, go, signal_fd):
    """docs/protocol.md, "Timing on the CPU", for one call."""
    one = struct.pack("Q", 1)
    os.write(signal_fd, one)
    if microseconds == 0:  # done before it is asked
        os.write(signal_fd, one)
        os.read(go, 8)
        return finish_loop(channel, go, signal_fd)
    os.read(go, 8)
    end = time.perf_counter() + microseconds * 1e-6
    while time.perf_counter() < end:  # sleeping would be late by as much as the kernel likes
        pass
    os.write(signal_fd, one)
    return finish_loop(channel, go, signal_fd)


def finish_loop(channel, go, signal_fd):
    os.close(go)
    os.close(signal_fd)
    channel.send({"ok": {}})


class Reference:
    def __init__(self):
        self.outputs = None

    def answer(self, channel, request, descriptors):
        kind = request["type"]
        if kind == "loop":
            return loop(channel, EAGER if request["arm"] == "eager" else COMPILED, *descriptors)
        if kind == "share":
            arenas = [memory(name) for name in ("weights", "input0", "input1", "outputs")]
            self.outputs = arenas[-1]
            return channel.send({"ok": {
                "weights": layout("weight", WEIGHT), "inputs": [layout("x", SPEC)] * 2, "outputs": layout("y", SPEC),
                "output_tree": {"tensor": 0}, "random_in_forward": False, "variants": ["signed"], "notes": []}}, arenas)
        return channel.send({"ok": getattr(self, kind)(request)})

    def hello(self, _):
        return {"torch": "0", "python": "3"}

    def open(self, _):
        device = {name: 1 for name in (
            "capability_major", "capability_minor", "multiprocessors", "max_threads_per_block",
            "max_threads_per_multiprocessor", "registers_per_multiprocessor", "warp_size", "shared_bytes_per_block",
            "shared_bytes_per_multiprocessor", "l2_bytes", "memory_bytes")}
        device |= {"name": "scripted", "uuid": "scripted", "architecture": "native", "driver": "0"}
        return {"signature": {"init": [], "inputs": [{"tensor": SPEC}],
                              "weights": [{"path": "weight", "spec": WEIGHT, "in_state_dict": True}]},
                "device": device, "versions": {}, "numerics": {}, "notes": []}

    def trial(self, _):
        return {"reference": "fp64", "notes": []}

    def variant(self, _):
        return {"applies": True, "why": "", "weights_changed": False}

    def audit(self, _):
        return {"null_models": [], "degenerate": False, "changed_sets": []}

    def restore(self, _):
        return {"weights_changed": False}

    def compile(self, _):
        return {"arms": ["eager", "compiled"], "graph_breaks": [], "notes": [], "compile_ms": 1}

    def compare(self, _):
        value, = struct.unpack("f", os.pread(self.outputs, 4, 0))
        if value == RIGHT:
            return {"passed": True, "max_error": 1e-6, "error_ratio": 0.25}
        return {"passed": False, "max_error": 1.0, "error_ratio": 9.0, "fault": {
            "kind": "mismatch", "message": "output differs", "output": 0, "index": [0, 0], "expected": "1", "got": "2"}}


class Recorder:
    def answer(self, channel, request, _):
        if request["type"] == "hello":
            return channel.send({"ok": {"pid": os.getpid(), "torch": "0"}})
        lines = (pathlib.Path(request["candidate"]) / "model_new.py").read_text().splitlines()
        words = lines[0].split() if lines else []
        if words[1:2] == ["unrecordable"]:
            return channel.send({"fault": {"kind": "forbidden_op", "message": "torch.softmax cannot be replayed",
                                           "at": {"file": "model_new.py", "line": 1}}})
        number = int(words[2]) if words[1:2] == ["microseconds"] else -1
        at = {"file": "model_new.py", "line": 2}
        value = {"dtype": "float32", "shape": SPEC["shape"], "stride": SPEC["stride"]}
        plan = {"schema": "kagent.plan/1", "backend": request["backend"], "values": [
                    value | {"origin": "input", "input": 0}, value | {"origin": "computed"}],
                "kernels": [{"source": "kernels/scripted.cpp", "name": "scripted", "options": [], "at": at}],
                "prepare": [], "prepared": {}, "forward": [
                    {"op": "aten::empty.memory_format", "args": [
                        {"list": [{"int": n} for n in SPEC["shape"]]}, {"dtype": "float32"}, {"layout": "strided"},
                        {"device": "plan"}, {"bool": False}, {"memory_format": "contiguous"}], "results": [1], "at": at},
                    {"launch": 0, "grid": [1, 1, 1], "block": [1, 1, 1], "shared_bytes": 0, "cluster": None,
                     "cooperative": False, "programmatic": False,
                     "args": [{"tensor": 1}, {"tensor": 0}, {"int": number}], "at": at}],
                "outputs": {"tensor": 1}, "tunables": []}
        return channel.send({"ok": {"plan": plan}})


class Builder:
    def answer(self, channel, request, _):
        if request["type"] == "hello":
            return channel.send({"ok": {"compilers": ["scripted"]}})
        source = request["sources"].get("kernels/scripted.cpp", "syntax_error")
        if "syntax_error" in source:
            return channel.send({"fault": {
                "kind": "build_failed", "message": "kernels/scripted.cpp does not compile",
                "at": {"file": "kernels/scripted.cpp", "line": 1}, "detail": "scripted.cpp:1: error: expected a script"}})
        pointer = {"kind": "pointer", "bytes": 8, "pointee": "float32", "read_only": False, "type": "float*"}
        integer = {"kind": "signed_integer", "bytes": 4, "pointee": None, "read_only": False, "type": "int"}
        image = memory("image")
        channel.send({"ok": {"build": {
            "compiler": "scripted",
            "units": [{"source": "kernels/scripted.cpp", "options": [], "hash": "0" * 64, "log": "", "build_ms": 1}],
            "kernels": [{"kernel": 0, "unit": 0, "entry": "scripted", "registers": 0, "spill_store_bytes": 0,
                         "spill_load_bytes": 0, "shared_bytes": 0,
                         "parameters": [pointer, pointer | {"read_only": True}, integer]}]}}}, [image])
        return os.close(image)


class RunnerChild:
    def __init__(self):
        self.outputs, self.number = None, -1

    def answer(self, channel, request, descriptors):
        kind = request["type"]
        if kind == "load":
            launch = request["plan"]["forward"][-1]
            self.number = launch["args"][-1]["int"]
            self.outputs = descriptors[3]
        if kind in ("run", "loop"):
            os.pwrite(self.outputs, struct.pack("f", WRONG if self.number < 0 else RIGHT), 0)
        if kind == "loop":
            return loop(channel, self.number, *descriptors)
        return channel.send({"ok": {"prepare_us": 1.0} if kind == "prepare" else {}})


class Runner:
    def answer(self, channel, request, descriptors):
        kind = request["type"]
        if kind == "fork":
            child = os.fork()
            if child == 0:
                channel.close()
                serve(descriptors[0], RunnerChild())
                os._exit(0)
            os.close(descriptors[0])
            return channel.send({"ok": {"pid": child}})
        if kind == "wait":
            status = os.waitpid(request["pid"], 0)[1]
            code = os.waitstatus_to_exitcode(status)
            return channel.send({"ok": {"exited": code if code >= 0 else None, "signal": -code if code < 0 else None}})
        return channel.send({"ok": {"torch": "0"}})


def serve(descriptor, worker, pause=0.0):
    from kagent_channel import Channel, ChannelError
    channel = Channel.from_descriptor(descriptor)
    try:
        while True:
            request, descriptors = channel.receive()
            if request["type"] not in ("loop", "hello"):
                time.sleep(pause)
            worker.answer(channel, request, descriptors)
    except ChannelError:
        return  # kagent is gone, or does not want this child any more


def main():
    here = pathlib.Path(__file__).resolve()
    names = {"recorder": Recorder, "reference": Reference, "kagent-builder": Builder, "kagent-runner": Runner}
    name = here.parent.name if here.name == "main.py" else here.name
    libexec = here.parent.parent if here.name == "main.py" else here.parent
    sys.path.insert(0, str(libexec))
    if name == "kagent-runner":
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    serve(3, names[name](), float((libexec / "pause").read_text()))


if __name__ == "__main__":
    main()
