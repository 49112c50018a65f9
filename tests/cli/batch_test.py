# SPDX-License-Identifier: Apache-2.0
"""kagent batch over a folder of tasks: what crashes costs itself, SIGKILL and Ctrl-C lose nothing."""
import collections
import json
import os
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from command_fixture import KAGENT, KERNEL, MODEL, TASK, CommandTest


class Batch(CommandTest):
    def setUp(self):
        super().setUp()
        tasks = {"level1/1_Good.py": TASK, "level1/2_Wrong.py": TASK, "level1/10_Dies.py": TASK.replace("return [torch.randn(64, 32)]",
                 "import os; os._exit(3)"), "level2/1_Missing.py": TASK}
        for name, text in tasks.items():
            self.put(self.root / "tasks" / name, text)
        for name, kernel in (("level1-1", KERNEL), ("level1/2_Wrong", KERNEL.replace("* weight[i]", "+ weight[i]")),
                             ("10_Dies", KERNEL)):
            self.put(self.root / "candidates" / name / "model_new.py", MODEL)
            self.put(self.root / "candidates" / name / "kernels/scale.cpp", kernel)

    @staticmethod
    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def command(self, *more):
        return [KAGENT, "batch", self.root / "tasks", "--check", self.root / "candidates", "--backend", "cpu", "--rounds", "6",
                "--out", self.root / "batches", *more]

    def folder(self):
        folders = list((self.root / "batches").iterdir())
        self.assertEqual(len(folders), 1)
        return folders[0]

    def assert_results(self, folder):
        results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
        self.assertEqual([result["id"] for result in results],
                         ["level1-1_Good", "level1-2_Wrong", "level1-10_Dies", "level2-1_Missing"])
        good, wrong, dies, missing = results
        self.assertTrue(good["correct"])
        self.assertGreater(good["speedup_over_eager"], 0)
        self.assertEqual((wrong["outcome"], wrong["correct"]), ("mismatch", False))
        self.assertEqual((dies["outcome"], dies["exit_code"]), ("task_invalid", 4))
        self.assertEqual(missing["outcome"], "no_candidate")
        ended = collections.Counter(json.loads(line)["id"] for line in (folder / "journal.jsonl").read_text().splitlines()
                                    if json.loads(line)["type"] == "ended")
        self.assertEqual(set(ended.values()), {1})
        rows = json.loads((folder / "summary.json").read_text())["rows"]
        self.assertEqual([(row["name"], row["tasks"], row["correct"]) for row in rows],
                         [("overall", 4, 1), ("level1", 3, 1), ("level2", 1, 0)])

    def test_killed_resumed_and_reported(self):
        with subprocess.Popen(self.command(), env=self.environment(), text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
            for line in process.stderr:
                if "[1/4]" in line:
                    break
            process.kill()
        self.assert_processes_end(20)
        folder = self.folder()
        self.assertFalse((folder / "results.jsonl").exists())
        junit, summary = self.root / "junit.xml", self.root / "summary.md"
        done = self.kagent("batch", "--resume", folder, "--jobs", "2", "--junit", junit, "--json",
                           environment={"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"})
        self.assertEqual(done.returncode, 1, done.stderr)   # 10_Dies is invalid, which --fail-on names by default
        self.assert_results(folder)
        self.assertEqual(json.loads(done.stdout)["ended"], 4)
        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual([(suite.get("name"), suite.get("tests"), suite.get("errors")) for suite in suites],
                         [("level1", "3", "1"), ("level2", "1", "0")])
        self.assertIn("::error title=level1-10_Dies::task_invalid: ", done.stderr)
        self.assertIn("| overall | kagent | eager | 4 | 1 (25.0 %)", summary.read_text())
        again = self.kagent("batch", "--resume", folder, "--fail-on", "none", "--quiet")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertIn("4 of 4 jobs ended", again.stdout)

    def test_interrupted(self):
        with subprocess.Popen(self.command(), env=self.environment(), text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
            said = []
            for line in process.stderr:
                said.append(line)
                if "level1-1_Good begins" in line:
                    os.kill(process.pid, signal.SIGINT)
            output = process.stdout.read()
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("0 of 4 jobs ended", output)
        self.assertRegex(said[-1], r"^kagent: error: stopped; go on with: kagent batch --resume ")
        self.assert_nothing_left()

    def test_optimize_jobs_go_on_in_their_run_folders(self):
        calls = [{"tool": "write_file", "arguments": {"path": "model_new.py", "text": MODEL}},
                 {"tool": "write_file", "arguments": {"path": "kernels/scale.cpp", "text": KERNEL}},
                 {"tool": "evaluate", "arguments": {}, "expect": "success"}]
        conversation = self.root / "conversation.jsonl"
        conversation.write_text("".join(json.dumps(line) + "\n" for line in (
            {"schema": "kagent.conversation/1"}, {"calls": calls[:2]}, {"calls": calls[2:]}, {"calls": [{"tool": "finish", "arguments": {"summary": "done"}}]})))
        command = [KAGENT, "batch", self.root / "tasks/level1/1_Good.py", "--model", f"replay/{conversation}", "--backend", "cpu",
                   "--rounds", "6", "--min-gain", "0", "--over", "eager", "--out", self.root / "batches"]
        with subprocess.Popen(command, env=self.environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 120
            while not list((self.root / "batches").glob("*/runs/level1-1_Good/*/trajectory.jsonl")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            process.kill()
        self.assert_processes_end(20)
        folder = self.folder()
        done = self.kagent("batch", "--resume", folder, "--quiet", "--fail-on", "none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result, = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
        self.assertTrue(result["correct"], result)
        self.assertEqual(len(list((folder / "runs/level1-1_Good").iterdir())), 1)   # the same run went on
        self.assertEqual(result["facts"]["run_folder"], str(next((folder / "runs/level1-1_Good").iterdir())))

    def test_bad_input(self):
        for arguments, pattern in (((), "name task files"), ((self.root / "tasks",), "--check CANDIDATES or --model"),
                                   ((self.root / "nowhere", "--check", self.root / "candidates"), "nowhere: no such file"),
                                   (("--resume", self.root / "tasks"), "no batch to resume"),
                                   (("--resume", self.root / "tasks", "--backend", "cpu"), "--resume goes on with what"),
                                   ((self.root / "tasks", "--check", self.root / "candidates", "--shard", "0/2"), "--shard 0/2"),
                                   ((self.root / "tasks", "--check", self.root / "candidates", "--fail-on", "bad"), "--fail-on bad"),
                                   ((self.root / "tasks", "--check", self.root / "candidates", "--filter", "none"), "no task files")):
            with self.subTest(pattern):
                self.assert_refused(self.kagent("batch", *arguments), 2, pattern)

    def test_changed_task_is_not_resumed(self):
        done = self.kagent(*self.command()[1:], "--max-minutes", "1", "--filter", "Missing", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.put(self.root / "tasks/level2/1_Missing.py", TASK + "\n")
        self.assert_refused(self.kagent("batch", "--resume", self.folder()), 2, r"1_Missing\.py: has changed")


if __name__ == "__main__":
    unittest.main()
