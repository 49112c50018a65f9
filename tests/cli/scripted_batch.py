# SPDX-License-Identifier: Apache-2.0
"""The real kagent with scripted workers (tests/fakes/scripted_worker.py) over folders of tasks: many jobs in seconds, with
results that the test wrote. KAGENT names the binary, KAGENT_SHARE its share folder."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fakes"))

import scripted_worker

# Text enough for a task: the scripted reference never reads it.
TASK = "import torch\n# {name}\nclass Model(torch.nn.Module):\n    pass\ndef get_inputs():\n    return []\ndef get_init_inputs():\n    return []\n"
KERNEL = "// scripted\n"


class Rig:
    def __init__(self, pause=0.0):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="kagent-batch-"))
        self.root.chmod(0o755)
        for name in ("tmp", "cache", "locks"):
            (self.root / name).mkdir()
        channel = HERE.parent.parent / "tools/shared-python/kagent_channel.py"
        self.kagent = scripted_worker.install(self.root / "tree", os.environ["KAGENT"], os.environ["KAGENT_SHARE"], channel, pause)

    def close(self):
        # bubblewrap whose parent was killed between its fork and its first word waits forever.
        for process, _ in list(self.processes()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.root / "tmp"), "XDG_CACHE_HOME": str(self.root / "cache"),
                "KAGENT_LOCK_DIR": str(self.root / "locks")} | more

    def run(self, *arguments, timeout=240, **more):
        return subprocess.run([self.kagent, *map(str, arguments)], env=self.environment(**more), text=True, capture_output=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)

    def task(self, name, folder="tasks"):
        path = self.root / folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TASK.format(name=name))
        return path

    def candidate(self, name, script, folder="candidates", kernel=KERNEL):
        """script: the first line of model_new.py without "# "."""
        path = self.root / folder / name
        (path / "kernels").mkdir(parents=True, exist_ok=True)
        (path / "model_new.py").write_text(f"# {script}\n")
        (path / "kernels/scripted.cpp").write_text(kernel)
        return path

    def conversation(self, script, name="conversation.jsonl"):
        """A recorded conversation that writes such a candidate, evaluates and finishes."""
        calls = [{"tool": "write_file", "arguments": {"path": "model_new.py", "text": f"# {script}\n"}},
                 {"tool": "write_file", "arguments": {"path": "kernels/scripted.cpp", "text": KERNEL}},
                 {"tool": "evaluate", "arguments": {}}]
        path = self.root / name
        path.write_text("".join(json.dumps(line) + "\n" for line in (
            {"schema": "kagent.conversation/1"}, {"calls": calls[:2]}, {"calls": calls[2:]},
            {"calls": [{"tool": "finish", "arguments": {"summary": "done"}}]})))
        return path

    def processes(self):
        """Those that name this rig's folder, besides ours: (id, program and arguments)."""
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                except OSError:
                    continue
                if str(self.root) in " ".join(command):
                    yield int(folder.name), command

    def wait_for_jobs(self, seconds=20):
        """Until no kagent is left; workers end as soon as they notice."""
        deadline = time.monotonic() + seconds
        while left := [command for _, command in self.processes() if command[0].endswith("bin/kagent")]:
            if time.monotonic() > deadline:
                raise AssertionError(f"a process is left: {left[0]}")
            time.sleep(0.02)


def results_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def ends_in_journal(folder):
    """How often each id ended."""
    ends = {}
    for line in (folder / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["type"] == "ended":
            ends[entry["id"]] = ends.get(entry["id"], 0) + 1
    return ends
