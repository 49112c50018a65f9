#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What CI systems read: JUnit (by PyPI's junitparser where it can be installed), GitHub's annotations and summary, and the
regression gate, through the real kagent with scripted workers whose times are known."""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from scripted_batch import Rig

VENV = pathlib.Path(os.environ["KAGENT_JUNIT_VENV"])
READ = """
import json, sys, junitparser
suites = junitparser.JUnitXml.fromfile(sys.argv[1])
print(json.dumps([[suite.name, suite.tests, suite.failures, suite.errors,
                   [[case.name, [[type(entry).__name__, entry.type, entry.message] for entry in case.result]] for case in suite]] for suite in suites]))
"""


def junit_python():
    """A Python with junitparser; None where it cannot be installed."""
    python = VENV / "bin/python3"
    if not (VENV / "ready").exists():
        for command in ([sys.executable, "-m", "venv", VENV],
                        [python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "--retries", "1", "junitparser>=3,<6"]):
            if subprocess.run(command, capture_output=True).returncode != 0:
                return None
        (VENV / "ready").touch()
    return python


class CiOutput(unittest.TestCase):
    def setUp(self):
        self.rig = Rig()
        self.addCleanup(self.rig.close)
        self.junit, self.summary = self.rig.root / "junit.xml", self.rig.root / "summary.md"
        self.github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_WORKSPACE": str(self.rig.root)}

    def check(self, task, *arguments, code):
        done = self.rig.run("check", task, *arguments, "--backend", "cpu", "--quiet", "--rounds", "6", "--junit", self.junit, **self.github)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def read_junit(self):
        root = xml.etree.ElementTree.parse(self.junit).getroot()
        mine = [[suite.get("name"), int(suite.get("tests")), int(suite.get("failures")), int(suite.get("errors")),
                 [[case.get("name"), [[entry.tag.capitalize(), entry.get("type"), entry.get("message")] for entry in case]] for case in suite]]
                for suite in root]
        if python := junit_python():
            theirs = json.loads(subprocess.run([python, "-c", READ, self.junit], check=True, text=True, capture_output=True).stdout)
            self.assertEqual(theirs, mine)
        else:
            print("junitparser could not be installed: JUnit was read by the standard library alone", file=sys.stderr)
        return mine

    def test_check_of_several_candidates(self):
        task = self.rig.task("scale <&>")
        fast, slow, wrong = (self.rig.candidate(name, script) for name, script in
                             (("fast", "microseconds 0"), ("slow", "microseconds 9000"), ("wro'ng & \"bad\"", "wrong")))
        broken = self.rig.candidate("broken, new", "microseconds 1", kernel="syntax_error")
        done = self.check(task, fast, slow, wrong, broken, code=1)
        (name, tests, failures, errors, cases), = self.read_junit()
        self.assertEqual((name, tests, failures, errors), ("tasks", 4, 3, 0))
        self.assertEqual([[entry[1] for entry in entries] for _, entries in cases], [[], ["slower"], ["mismatch"], ["build_failed"]])
        self.assertIn("wro'ng & \"bad\"", cases[2][0])
        annotations = [line for line in done.stderr.splitlines() if line.startswith("::")]
        self.assertEqual(len(annotations), 3, annotations)
        self.assertTrue(annotations[2].startswith("::error file=candidates/broken%2C new/kernels/scripted.cpp,line=1,title=scale <&> "), annotations[2])
        self.assertIn("| build\\_failed |", self.summary.read_text())
        self.assertNotIn("<&>", self.summary.read_text())

    def test_what_could_not_be_judged_is_an_error(self):
        self.summary.write_text("before\n")
        self.check(self.rig.root / "nowhere.py", self.rig.candidate("fast", "microseconds 0"), code=2)
        (_, tests, failures, errors, cases), = self.read_junit()
        self.assertEqual((tests, failures, errors), (1, 0, 1))
        self.assertRegex(cases[0][1][0][2], r"nowhere\.py")
        self.assertTrue(self.summary.read_text().startswith("before\n### kagent check\n"))

    def test_batch(self):
        for name, script in (("1_Good", "microseconds 0"), ("2_Wrong", "wrong"), ("3_Slow", "microseconds 9000")):
            self.rig.task(name, "tasks/level1")
            self.rig.candidate("level1-" + name, script)
        self.rig.task("1_None", "tasks/level2")
        for fail_on, code, failures in (("none", 0, 0), ("wrong", 1, 1), ("slower,wrong", 1, 2)):
            done = self.rig.run("batch", self.rig.root / "tasks", "--check", self.rig.root / "candidates", "--backend", "cpu", "--rounds", "6",
                                "--jobs", "3", "--out", self.rig.root / "batches", "--junit", self.junit, "--fail-on", fail_on, **self.github)
            self.assertEqual(done.returncode, code, done.stderr)
            first, second = self.read_junit()
            self.assertEqual((first[:4], second[:2]), (["level1", 3, failures, 0], ["level2", 1]))
            # A task without a candidate is wrong too.
            self.assertEqual(done.stderr.count("::error "), failures + (1 if "wrong" in fail_on else 0))
        self.assertIn("| overall | kagent | eager | 4 | 2 (50.0 %)", self.summary.read_text())

    def test_batch_of_baselines(self):
        for name in ("1_A", "2_B"):
            self.rig.task(name, "tasks/level1")
        done = self.rig.run("batch", self.rig.root / "tasks", "--baseline", "--backend", "cpu", "--rounds", "6", "--jobs", "2", "--out",
                            self.rig.root / "batches", "--junit", self.junit)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"level1-1_A success, eager [\d.]+ ms, torch\.compile [\d.]+ ms")
        self.assertRegex(done.stdout, r"overall +2 +2 +2 +[\d.]+x")
        folder, = (self.rig.root / "batches").iterdir()
        first = json.loads((folder / "results.jsonl").read_text().splitlines()[0])
        self.assertGreaterEqual(first["median_us"]["eager"], 2000)   # it spins for at least that long
        self.assertEqual(self.read_junit()[0][:4], ["level1", 2, 0, 0])
        report = self.rig.run("report", folder)
        self.assertRegex(report.stdout, r"level1-1_A +success +[\d.]+ ms +[\d.]+ ms +[\d.]+x")
        self.assertEqual(self.rig.run("batch", self.rig.root / "tasks", "--baseline", "--check", self.rig.root).returncode, 2)

    def test_gate(self):
        task, gate = self.rig.task("spin"), self.rig.root / "gate.json"
        common = ("--backend", "cpu", "--quiet", "--rounds", "6")
        saved = self.rig.run("baseline", task, "--candidate", self.rig.candidate("saved", "microseconds 2000"), "--save", gate, *common)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        # Scripted calls spin for their time: a busy machine makes single ones late, and 9 pairs bear that.
        for script, verdicts in (("microseconds 2000", {"passed": 0, "inconclusive": 8}), ("microseconds 2020", {"passed": 0, "inconclusive": 8}),
                                 ("microseconds 3000", {"failed": 1, "inconclusive": 8}), ("microseconds 1000", {"passed": 0, "inconclusive": 8})):
            done = self.rig.run("check", task, self.rig.candidate("present", script, kernel="// other text\n"), "--against", gate, "--json",
                                "--junit", self.junit, *common)
            record = json.loads(done.stdout)
            self.assertIn(record["gate"]["verdict"], verdicts, record["gate"])
            self.assertEqual(done.returncode, verdicts[record["gate"]["verdict"]], done.stderr)
            self.assertEqual(len(record["gate"]["slowdown"]["pairs"]), 9)
            if script == "microseconds 3000":
                self.assertGreater(record["gate"]["slowdown"]["point"], 0.3)
                self.assertEqual(self.read_junit()[0][2], 1)
                self.assertIn(record["outcome"], ("regression", "noisy"))
        wrong = self.check(task, self.rig.candidate("wrong", "wrong"), "--against", gate, code=1)
        self.assertIn("mismatch", wrong.stderr)

    def test_gate_refuses(self):
        task, gate = self.rig.task("spin"), self.rig.root / "gate.json"
        saved, common = self.rig.candidate("saved", "microseconds 2000"), ("--backend", "cpu", "--quiet", "--rounds", "6")
        self.assertEqual(self.rig.run("baseline", task, "--candidate", saved, "--save", gate, *common).returncode, 0)
        whole = json.loads(gate.read_text())
        escape = {"hash": "0", "files": {"model_new.py": "# microseconds 1\n", "kernels/../../escape.cpp": ""}}
        for name, text, pattern in (("no.json", None, "no.json"), ("text.json", "text", "not valid JSON"), ("schema.json", {"schema": "x"}, "not a file of kagent"),
                                    ("escape.json", whole | {"candidate": escape}, "no candidate has: kernels/../../escape.cpp"),
                                    ("task.json", whole | {"task": {"name": "other", "hash": "0"}}, "another task text"),
                                    ("wrong.json", whole | {"candidate": {"hash": "0", "files": {"model_new.py": "# wrong\n", "kernels/scripted.cpp": ""}}},
                                     "the candidate of .*wrong.json is not correct here")):
            if text is not None:
                (self.rig.root / name).write_text(text if isinstance(text, str) else json.dumps(text))
            done = self.check(task, saved, "--against", self.rig.root / name, code=2)
            self.assertRegex(done.stderr, pattern)
        self.check(task, saved, saved, "--against", gate, code=2)
        for arguments in (("--save", gate), ("--candidate", saved)):
            self.assertEqual(self.rig.run("baseline", task, *arguments, *common).returncode, 2)
        refused = self.rig.run("baseline", task, "--candidate", self.rig.candidate("wrong", "wrong"), "--save", self.rig.root / "new.json", *common)
        self.assertEqual(refused.returncode, 1)
        self.assertFalse((self.rig.root / "new.json").exists())


if __name__ == "__main__":
    unittest.main()
