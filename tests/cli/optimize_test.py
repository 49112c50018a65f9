# SPDX-License-Identifier: Apache-2.0
"""kagent optimize with a recorded conversation: the whole loop, SIGKILL in any phase, and a broken kernel.

KAGENT_TEST_BACKEND picks the backend (default: cpu)."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import bad_input_cuda_test as cuda
from command_fixture import KAGENT, KERNEL, MODEL, CommandTest

BACKEND = os.environ.get("KAGENT_TEST_BACKEND", "cpu")
MODEL_NEW, SOURCE, FILE = (cuda.MODEL, cuda.KERNEL, "kernels/scale.cu") if BACKEND == "cuda" else (MODEL, KERNEL, "kernels/scale.cpp")
TASKS = pathlib.Path(__file__).resolve().parents[2] / "tasks"


def slow(source):
    """Right, and a thousand times the work; on a card it waits 100,000 cycles."""
    if BACKEND == "cuda":
        return source.replace("  for (int", "  const long long start = clock64();\n  while (clock64() - start < 100000) {}\n  for (int")
    return source.replace("const float value =", "volatile float waste = 0;\n"
                          "    for (int n = 0; n < 1000; ++n) waste = waste + weight[i];\n    const float value =")


def call(tool, expect="ok", **arguments):
    return {"tool": tool, "arguments": arguments, "expect": expect}


def write(path, text):
    return call("write_file", path=path, text=text)


# One reply a line: a failing build, a wrong result, a correct slow one, a fast one.
REPLIES = [
    [call("bash", command="ls && cat task.py"), write("model_new.py", MODEL_NEW), write(FILE, SOURCE.replace("value > 0 ?", "valve > 0 ?")),
     call("evaluate", "build_failed")],
    [write(FILE, SOURCE.replace("* weight[i]", "+ weight[i]")), call("evaluate", "mismatch")],
    [write(FILE, slow(SOURCE)), call("evaluate", "slower")],
    [write(FILE, SOURCE), {"tool": "evaluate", "arguments": {}}],
    [call("finish", summary="done")],
]


@unittest.skipIf(BACKEND == "cuda" and not pathlib.Path("/dev/nvidiactl").exists(), "NO GPU: optimize on a card is not tried")
class Optimize(CommandTest):
    backend = BACKEND
    kernel_file = pathlib.Path(FILE).name

    def setUp(self):
        super().setUp()
        self.conversation = self.root / "conversation.jsonl"
        lines = [{"schema": "kagent.conversation/1"}, *({"text": "", "calls": calls} for calls in REPLIES)]
        self.conversation.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def command(self, *more):
        return [KAGENT, "optimize", self.root / "task.py", "--model", f"replay/{self.conversation}", "--backend", self.backend,
                "--keep-going", "--rounds", "6", "--out", self.root / "runs", *more]

    def run_folder(self):
        folders = list((self.root / "runs").iterdir())
        self.assertEqual(len(folders), 1)
        return folders[0]

    def trajectory(self, folder, whole=True):
        """Records; every line must parse, only the last may be torn, and only when `whole` is false."""
        text = (folder / "trajectory.jsonl").read_text()
        lines = text.split("\n")
        torn = lines.pop()
        if whole:
            self.assertEqual(torn, "")
        return [json.loads(line) for line in lines]

    def assert_whole_run(self, folder):
        records = self.trajectory(folder)
        kinds = [record["type"] for record in records]
        self.assertEqual(kinds[0], "run")
        self.assertEqual(kinds[-1], "end")
        turns = [record for record in records if record["type"] == "turn"]
        self.assertEqual([turn["turn"] for turn in turns], [1, 2, 3, 4, 5])
        judged = [record["evaluation"] for record in records if record["type"] == "candidate"]
        correct = [evaluation["verdict"]["correct"] for evaluation in judged]
        faults = [(evaluation["verdict"]["fault"] or {}).get("kind") for evaluation in judged]
        self.assertEqual(correct[-4:], [False, False, True, True])
        self.assertEqual(faults[-4:], ["build_failed", "mismatch", None, None])
        for evaluation in judged:
            stored = json.loads((folder / "candidates" / evaluation["candidate"] / "evaluation.json").read_text())
            self.assertEqual(stored["candidate"], evaluation["candidate"])
        self.assertEqual((folder / "best" / FILE).read_text(), SOURCE)
        self.assertEqual((folder / "best" / "model_new.py").read_text(), MODEL_NEW)
        result = json.loads((folder / "result.json").read_text())
        self.assertEqual(result["turns"], 5)
        self.assertEqual(result["candidates"], 4)
        self.assertEqual(result["best"]["candidate"], judged[-1]["candidate"])
        return result

    def test_whole_loop(self):
        done = subprocess.run(self.command(), env=self.environment(), text=True, capture_output=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        result = self.assert_whole_run(self.run_folder())
        self.assertEqual(done.returncode, {"success": 0, "noisy": 8}.get(result["outcome"], 1), done.stderr)
        self.assertNotIn("differs from the recording", done.stderr)
        lines = done.stdout.splitlines()
        self.assertIn("recorded conversation", lines[0])
        self.assertIn("recorded conversation", lines[-1])
        self.assert_nothing_left()

    def test_killed_in_any_phase(self):
        """SIGKILL while a phase runs: what is on disk can be read, nothing of ours lives on, and --resume ends the run."""
        for turn, phase in ((0, "open task"), (1, "build"), (3, "record"), (3, "trial"), (4, "time round"), (5, "")):
            with self.subTest(f"turn {turn}, {phase}"):
                shutil.rmtree(self.root / "runs", ignore_errors=True)
                self.kill(turn, phase)
                # Workers end by themselves: their channel is closed, and the kernel tells them of kagent's death.
                self.assert_processes_end(20)
                folder = self.run_folder()
                if turn > 0:
                    records = self.trajectory(folder, whole=False)
                    correct = [record for record in records
                               if record["type"] == "candidate" and record["evaluation"]["verdict"]["correct"]]
                    if correct:
                        self.assertTrue((folder / "best" / FILE).exists())
                    self.assertFalse((folder / "result.json").exists() and phase)
                done = subprocess.run(self.command("--resume", folder), env=self.environment(), text=True,
                                      capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
                self.assertIn(done.returncode, (0, 1, 8), done.stderr)
                self.assertNotIn("error:", done.stderr)
                result = json.loads((folder / "result.json").read_text())
                self.assertEqual(result["turns"], 5)
                self.assertEqual((folder / "best" / FILE).read_text(), SOURCE)
                # What the kill left in the temporary folder is not kagent's to find again.
                shutil.rmtree(self.tmp)
                self.tmp.mkdir()

    def kill(self, turn, phase):
        with subprocess.Popen(self.command(), env=self.environment(), text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as process:
            said, now = [], 0
            for line in process.stderr:
                said.append(line.strip())
                if line.startswith("kagent: turn "):
                    now = int(line.split("turn ")[1].split("/")[0])
                # "turn 3: evaluate" is said when the call has ended: the phase belongs to the turn before it.
                if (now >= turn and not phase) or (now + 1 >= turn and phase and line.startswith(f"kagent: {phase}")):
                    os.kill(process.pid, signal.SIGKILL)
                    break
            else:
                self.fail(f"turn {turn}, {phase!r} was never reached: {said}")


@unittest.skipIf(BACKEND == "cuda" and not pathlib.Path("/dev/nvidiactl").exists(), "NO GPU: optimize on a card is not tried")
class BrokenKernel(CommandTest):
    """What scripts/quickstart runs, with one constant of the shipped kernel changed, must not end in success."""

    def test_quickstart_notices(self):
        suffix = "cuda" if BACKEND == "cuda" else "cpu"
        text = (TASKS / "conversations" / f"softmax_rows-{suffix}.jsonl").read_text()
        self.assertIn("float sharpness) {\\n", text)
        broken = self.root / "broken.jsonl"
        broken.write_text(text.replace("float sharpness) {\\n", "float sharpness) {\\n  sharpness *= 1.01f;\\n"))
        done = self.kagent("optimize", TASKS / "softmax_rows.py", "--model", f"replay/{broken}", "--backend", BACKEND,
                           "--rounds", "6", "--quiet", "--json", "--out", self.root / "runs", timeout=400)
        result = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotEqual(result["outcome"], "success")
        self.assertIsNone(result["best"])
        self.assertRegex(done.stderr, r"recorded success, came to mismatch")
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
