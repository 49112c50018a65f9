# SPDX-License-Identifier: Apache-2.0
"""kagent export of a run with compaction, arguments that are no JSON, and judged candidates. The ATIF documents are read
with PyPI's atif, in a virtual environment of the test's own (KAGENT_ATIF_VENV)."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import optimize_rig
from optimize_rig import EVALUATE, write

VENV = pathlib.Path(os.environ["KAGENT_ATIF_VENV"])
LONG = " ".join(["Thinking aloud."] * 220)
KERNEL = write("kernels/scripted.cpp", "script\n")
ANSWERS = [
    {"text": "a slow one", "reasoning": "I think.", "calls": [KERNEL, write("model_new.py", "# microseconds 9000\n"), EVALUATE]},
    {"text": "not JSON", "calls": [("read_file", '{"path": '), ("no_such_tool", {})]},
    *({"text": LONG, "calls": [("bash", {"command": f"seq {n} 2500"})]} for n in range(16)),
    {"text": "again the same, then a wrong one", "calls": [EVALUATE, write("model_new.py", "# wrong\n"), EVALUATE]},
    {"text": "nothing to call"},
    {"text": "a fast one", "calls": [write("model_new.py", "# microseconds 0\n"), EVALUATE]},
]


def enter_venv(test):
    """The package is a test's alone; without PyPI and without the package nothing is compared, and the test says so."""
    python = VENV / "bin" / "python3"
    if not (VENV / "ready").exists():
        for command in ([sys.executable, "-m", "venv", VENV],
                        [python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "--retries", "1", "atif==1.8.0"]):
            done = subprocess.run(command, text=True, capture_output=True)
            if done.returncode:
                test.skipTest(f"NOT COMPARED: atif could not be installed: {done.stderr[-300:]}")
        (VENV / "ready").touch()
    return python


READ_ATIF = """
import json, sys, atif
for line in sys.stdin:
    print(len(atif.Trajectory.model_validate(json.loads(line)).steps))
"""


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rig = optimize_rig.Rig(answers=ANSWERS)
        cls.addClassCleanup(cls.rig.close)
        cls.rig.server.counts = True
        out = cls.rig.root / "run"
        code, said = cls.rig.finish(out, "--quiet", "--context", "24k", stop_at_success=True)
        assert code == 0, said
        cls.folder, = out.iterdir()
        cls.records = [json.loads(line) for line in (cls.folder / "trajectory.jsonl").read_text().splitlines()]

    def export(self, *more, code=0):
        done = subprocess.run([str(self.rig.kagent), "export", str(self.folder), *map(str, more)], text=True,
                              capture_output=True, timeout=60, env=self.rig.environment())
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_messages_are_what_was_sent(self):
        """Each segment's messages are the last request of that segment, byte for byte, and what came after it."""
        lines = [json.loads(line) for line in self.export().stdout.splitlines()]
        edits = [record for record in self.records if record["type"] == "context"]
        self.assertGreaterEqual(len(edits), 2, "the conversation was meant to be too long")
        self.assertEqual(len(lines), len(edits) + 1)
        requests = {turn: body["messages"] for turn, (_, body) in enumerate(self.rig.server.requests, 1)}
        said = 0
        for line in lines:
            last = line["kagent"]["turns"][-1]["turn"]
            sent = requests[last]
            for ours, theirs in zip(line["messages"], sent):
                self.assertEqual(ours["role"], theirs["role"])
                if ours["role"] != "assistant":
                    self.assertEqual(ours["content"], theirs["content"])
            self.assertEqual(line["messages"][len(sent)]["role"], "assistant")
            self.assertEqual({tool["function"]["name"] for tool in line["tools"]},
                             {tool["function"]["name"] for tool in self.rig.server.requests[0][1]["tools"]})
            said += sum(message.get("weight", 0) for message in line["messages"])
        self.assertEqual(said, len(ANSWERS), "each reply has weight 1 once")

    def test_each_evaluation_has_its_grade(self):
        lines = [json.loads(line) for line in self.export("--format", "messages").stdout.splitlines()]
        turns = {turn["turn"]: turn for line in lines for turn in line["kagent"]["turns"]}
        self.assertEqual(sorted(turns), list(range(1, len(ANSWERS) + 1)))
        grades = {turn: [(each["candidate"], each["outcome"], each["grade"], each["repeated"]) for each in facts["evaluations"]]
                  for turn, facts in turns.items() if "evaluations" in facts}
        last = len(ANSWERS)
        self.assertEqual(grades, {1: [(1, "slower", 1, False)], last - 2: [(1, "slower", 1, True), (2, "mismatch", -1, False)],
                                  last: [(3, "success", 3, False)]})

    def test_atif_is_read_by_the_published_models(self):
        documents = self.export("--format", "atif").stdout
        read = subprocess.run([enter_venv(self), "-c", READ_ATIF], input=documents, text=True, capture_output=True)
        self.assertEqual(read.returncode, 0, read.stderr)
        parsed = [json.loads(line) for line in documents.splitlines()]
        self.assertEqual([len(document["steps"]) for document in parsed], [int(line) for line in read.stdout.split()])
        own = [step for document in parsed for step in document["steps"]
               if step["source"] == "agent" and not step.get("is_copied_context")]
        self.assertEqual([step["extra"]["turn"] for step in own], list(range(1, len(ANSWERS) + 1)))
        self.assertEqual(own[0]["reasoning_content"], "I think.")
        self.assertEqual(own[1]["tool_calls"][0]["extra"]["raw_arguments"], '{"path": ')
        self.assertEqual(own[0]["observation"]["results"][2]["extra"]["evaluation"]["outcome"], "slower")
        self.assertEqual(parsed[-1]["extra"]["result"]["outcome"], "success")
        self.assertEqual(sum(document["final_metrics"]["total_completion_tokens"] for document in parsed),
                         json.loads((self.folder / "result.json").read_text())["usage"]["output_tokens"])

    def test_atif_files_name_each_other(self):
        out = self.rig.root / "t.json"
        self.export("--format", "atif", "--out", out)
        seen = 1
        while next_name := json.loads(out.read_text()).get("continued_trajectory_ref"):
            out = out.parent / next_name
            seen += 1
        self.assertEqual(seen, json.loads(out.read_text())["extra"]["segments"])

    def test_transcript_is_for_people(self):
        text = self.export("--format", "transcript").stdout
        self.assertEqual(text, (self.folder / "transcript.md").read_text())
        for words in ("## Turn 1\n", "**write_file** `model_new.py`", "candidate #1: **slower**, grade 1", "a record stands for",
                      "candidate #3: **success**, grade 3", "## End\ntarget_reached"):
            self.assertIn(words, text)

    def test_a_run_that_was_cut_off(self):
        cut = self.rig.root / "cut"
        cut.mkdir()
        (cut / "run.json").write_text((self.folder / "run.json").read_text())
        lines = (self.folder / "trajectory.jsonl").read_text().splitlines(keepends=True)
        (cut / "trajectory.jsonl").write_text("".join(lines[:4]) + lines[4][:10])
        whole, self.__class__.folder = self.folder, cut
        self.addCleanup(setattr, self.__class__, "folder", whole)
        self.assertIn("A further turn was cut off", self.export("--format", "transcript").stdout)
        document = json.loads(self.export("--format", "atif").stdout)
        self.assertEqual([step["source"] for step in document["steps"]], ["system", "user"])

    def test_refusals(self):
        done = subprocess.run([str(self.rig.kagent), "export", "/nowhere"], text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("is not a run folder", done.stderr)
        self.assertIn("atif", self.export("--format", "pdf", code=2).stderr)
        self.assertIn("--out", self.export("--out", "/nowhere/x.jsonl", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
