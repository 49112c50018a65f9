# SPDX-License-Identifier: Apache-2.0
"""One run of kagent optimize, killed at a chosen moment and resumed, compared with the undisturbed one.

The model is a loopback server that answers by the number of the turn. The workers are scripted (tests/fakes) or real. A
moment is a phase and how to strike in it: bytes of a reply's stream, a shell command at work, or a named step of
tests/fakes/kill_at.cpp. Environment: KAGENT, KAGENT_SHARE, KAGENT_KILL_AT_LIBRARY."""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fakes")]
import command_fixture
import scripted_worker
from model_server import ModelServer, stream_of

Moment = collections.namedtuple("Moment", "phase strike")

SCRIPTED_TASK = "# the workers are scripted: nothing of this runs\nclass Model: pass\ndef get_inputs(): return []\ndef get_init_inputs(): return []\n"


def model_text(line):
    return f"# {line}\n"


def write(path, text):
    return "write_file", {"path": path, "text": text}


EVALUATE = ("evaluate", {})
# `wait` holds the shell while the test strikes; without a test it is short.
SHELL = ("bash", {"command": "touch .at_work; sleep 0.15; rm .at_work; echo done >> notes.txt"})


def scripted_answers():
    """A build failure, a mismatch, two correct ones of which the second is better, a refused plan, a winner, the end."""
    kernel = "kernels/scripted.cpp"
    return [
        {"text": "first", "calls": [SHELL, write("model_new.py", model_text("microseconds 0")),
                                    write(kernel, "syntax_error"), EVALUATE]},
        {"text": "", "calls": [write(kernel, "script\n"), write("model_new.py", model_text("wrong")), EVALUATE]},
        {"text": "", "calls": [write("model_new.py", model_text("microseconds 9000")), EVALUATE, SHELL]},
        {"text": "a turn without a call"},
        {"text": "", "calls": [write("model_new.py", model_text("microseconds 7000")), EVALUATE, EVALUATE,
                               write("model_new.py", model_text("unrecordable")), EVALUATE]},
        {"text": "", "calls": [write("model_new.py", model_text("microseconds 0")), EVALUATE]},
        {"text": "", "calls": [("finish", {"summary": "done"})]},
    ]


def real_answers():
    """The same story with kernels that are really compiled, run and timed on the CPU backend."""
    path, source = "kernels/scale.cpp", command_fixture.KERNEL
    slow = source.replace("const float value =", "volatile float waste = 0;\n"
                          "    for (int n = 0; n < 1000; ++n) waste = waste + weight[i];\n    const float value =")
    return [
        {"text": "first", "calls": [SHELL, write("model_new.py", command_fixture.MODEL),
                                    write(path, source.replace("value > 0 ?", "valve > 0 ?")), EVALUATE]},
        {"text": "", "calls": [write(path, source.replace("* weight[i]", "+ weight[i]")), EVALUATE]},
        {"text": "", "calls": [write(path, slow), EVALUATE, SHELL]},
        {"text": "", "calls": [write(path, source), EVALUATE]},
        {"text": "", "calls": [("finish", {"summary": "done"})]},
    ]


class TurnServer(ModelServer):
    """Answers by the status line of the last turn that the request shows; what was asked before a kill is asked again."""

    def __init__(self, answers):
        self.on_bytes = None  # called with (turn, bytes sent so far, bytes in all) after each piece
        self.down_from = None  # the turn from which on the service is not available
        self.counts = False  # four bytes of a request are a token; otherwise each has 1000 of them
        super().__init__(answers)

    def _speak(self, connection, answer, number, anthropic):
        said = self.requests[number][1]["messages"][1:]
        turn = max((int(found) for message in said
                    for found in re.findall(r"\[turn (\d+)/", str(message.get("content")))), default=0)
        answer = self.answers[min(turn, len(self.answers) - 1)]
        if self.down_from is not None and turn + 1 >= self.down_from:
            return super()._speak(connection, {"status": 503, "body": "{}"}, number, anthropic)
        if self.counts:
            answer = answer | {"prompt_tokens": len(json.dumps(self.requests[number][1])) // 4}
        body = b"".join(stream_of(answer, turn, anthropic))
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for at in range(0, len(body), 256):
            connection.sendall(body[at:at + 256])
            if self.on_bytes:
                self.on_bytes(turn + 1, at + 256, len(body))
        return False


class Rig:
    """An installation, a task and a model; each run() starts, perhaps kills, and resumes one kagent."""

    def __init__(self, real=False, answers=None):
        self.real = real
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="kagent-kill-"))
        self.root.chmod(0o755)
        (self.root / "tmp").mkdir()
        (self.root / "task.py").write_text(command_fixture.TASK if real else SCRIPTED_TASK)
        self.answers = answers or (real_answers() if real else scripted_answers())
        self.server = TurnServer(self.answers)
        self.kagent = pathlib.Path(command_fixture.KAGENT)
        if not real:
            self.kagent = scripted_worker.install(
                self.root / "installed", self.kagent, os.environ["KAGENT_SHARE"],
                HERE.parents[1] / "tools" / "shared-python" / "kagent_channel.py", pause=0.002)
        self.steps = self.root / "steps"

    def close(self):
        self.server.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.root / "tmp"),
                "XDG_CACHE_HOME": str(self.root / "cache"), "KAGENT_LOCK_DIR": str(self.root / "locks"),
                "OPENAI_API_KEY": "test", "KAGENT_BASE_URL": self.server.address, **more}

    def command(self, out, *more, stop_at_success=False):
        going = [] if stop_at_success else ["--keep-going"]
        return [str(self.kagent), "optimize", str(self.root / "task.py"), "--model", "openai/fixture", "--backend", "cpu",
                *going, "--rounds", "6", "--out", str(out), *more]

    def finish(self, out, *more, stop_at_success=False, **environment):
        """A run, or the rest of one, to its end: (exit code, all that it said)."""
        done = subprocess.run(self.command(out, *more, stop_at_success=stop_at_success), env=self.environment(**environment), text=True, timeout=300,
                              capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr + done.stdout

    def undisturbed(self):
        """Facts of a whole run; self.steps then names every step it made."""
        out = self.root / "undisturbed"
        library = os.environ["KAGENT_KILL_AT_LIBRARY"]
        code, said = self.finish(out, LD_PRELOAD=library, KAGENT_KILL_LOG=str(self.steps))
        folder, = out.iterdir()
        if not (folder / "result.json").exists():
            raise AssertionError(f"exit {code}: {said}")
        return facts_of(folder)

    def moments(self, count, seed=1):
        """`count` moments, the same number for each phase as far as it has that many."""
        met = collections.Counter()
        by_phase = collections.defaultdict(list)
        for turn in range(1, len(self.answers) + 1):
            for part in (0.0, 0.4, 0.99):
                by_phase["stream"].append(Moment("stream", (turn, part)))
        by_phase["tool"] = [Moment("tool", number) for number in (1, 2)]
        for step in self.steps.read_text().split():
            met[step] += 1
            phase = phase_of(step)
            ways = ["half"] if step.startswith("append:") else []
            ways += ["after"] if phase in ("start", "record", "build", "verify", "time") else ["before", "after"]
            by_phase[phase] += [Moment(phase, f"{step}#{met[step]}:{when}") for when in ways]
        draw = random.Random(seed)
        for moments in by_phase.values():
            draw.shuffle(moments)
        chosen = []
        while len(chosen) < count and any(by_phase.values()):
            for moments in by_phase.values():
                if moments and len(chosen) < count:
                    chosen.append(moments.pop())
        return sorted(chosen, key=lambda moment: moment.phase)

    def struck(self, moment, out):
        """Starts a run and kills it there; False where it ended before."""
        extra = {}
        if moment.phase not in ("stream", "tool"):
            extra = {"LD_PRELOAD": os.environ["KAGENT_KILL_AT_LIBRARY"], "KAGENT_KILL_AT": moment.strike}
        with subprocess.Popen(self.command(out, "--quiet"), env=self.environment(**extra), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            if moment.phase == "stream":
                turn, part = moment.strike

                def on_bytes(now, sent, size):
                    if now == turn and sent >= part * size:
                        process.kill()
                self.server.on_bytes = on_bytes
            if moment.phase == "tool":
                threading.Thread(target=self.strike_in_shell, args=(process, out, moment.strike), daemon=True).start()
            code = process.wait(timeout=300)
            self.server.on_bytes = None
        return code == -signal.SIGKILL

    def strike_in_shell(self, process, out, number):
        seen, there = 0, False
        while process.poll() is None:
            now = any(out.glob("*/workspace/.at_work")) if out.exists() else False
            seen += now and not there
            there = now
            if seen == number:
                return process.kill()
            time.sleep(0.005)

    def check(self, moment, expected, number):
        """Kill, resume, compare: "" or what is wrong."""
        out = self.root / f"run{number}"
        if not self.struck(moment, out):
            return "the run was not killed"
        folders = list(out.iterdir()) if out.exists() else []
        if not folders or not (folders[0] / "run.json").exists():
            self.finish(out, "--quiet")  # nothing was said of that folder yet: a user starts again
            folders = [folder for folder in out.iterdir() if (folder / "result.json").exists()]
        elif not (folders[0] / "result.json").exists():  # else it was over
            code, said = self.finish(out, "--quiet", "--resume", str(folders[0]))
            if "error:" in said:
                return f"--resume: exit {code}: {said.strip()}"
        problem = difference(expected, facts_of(folders[0]), self.real)
        shutil.rmtree(out)
        return problem


def phase_of(step):
    kind, _, name = step.partition(":")
    if kind in ("append", "sync"):
        return "journal" if kind == "append" or name == "trajectory.jsonl" else "rename"
    if kind in ("rename", "exchange"):
        return "rename"
    return {"record": "record", "build": "build", "loop": "time", "compile": "time", "hello": "start", "open": "start",
            "share": "start"}.get(name, "verify")


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "evaluation.json"}


def facts_of(folder):
    """What of a run must not depend on a kill. A line of the trajectory that does not parse raises."""
    result = json.loads((folder / "result.json").read_text())
    records = [json.loads(line) for line in (folder / "trajectory.jsonl").read_text().splitlines()]
    judged = [record["evaluation"] for record in records if record["type"] == "candidate"]
    for evaluation in judged:
        kept = json.loads((folder / "candidates" / evaluation["candidate"] / "evaluation.json").read_text())
        if kept["verdict"]["correct"] != evaluation["verdict"]["correct"]:
            raise AssertionError("evaluation.json and the trajectory differ")
    turns = [record for record in records if record["type"] == "turn"]
    asked = [len(record["reply"]["calls"]) for record in records if record["type"] == "reply"]
    answered = [len(turn["results"]) for turn in turns]
    best = result["best"] or {}
    return {
        "outcome": result["outcome"], "stop_reason": result["stop_reason"], "turns": result["turns"],
        "candidates": result["candidates"], "usage": result["usage"], "best": best.get("candidate"),
        "best number": best.get("number"), "best files": files_below(folder / "best") if best else {},
        "evaluations": [(evaluation["candidate"], (evaluation["verdict"]["fault"] or {}).get("kind"))
                        for evaluation in judged],
        "calls": asked, "results": answered,
    }


def difference(expected, found, real):
    """With real times, which of two correct candidates is the best, and the outcome, are chance's."""
    by_chance = {"outcome", "best", "best number", "best files"} if real else set()
    for name, value in expected.items():
        if name not in by_chance and found[name] != value:
            return f"{name}: {found[name]!r:.300} instead of {value!r:.300}"
    if real and (found["best"] is None) != (expected["best"] is None):
        return "the best candidate is lost"
    return ""
