# SPDX-License-Identifier: Apache-2.0
"""kagent report over run and batch folders written here: every form, comparisons, shards, and texts that attack the page."""
import csv
import html.parser
import io
import json
import unittest

from command_fixture import CommandTest

HOSTILE = "x</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J|`"


def evaluation(candidate, correct=True, eager=(2.0, 1.9, 2.1), compiled=(1.5, 1.4, 1.6), labels=()):
    def arm(time):
        sample = {"span_us": time, "busy_us": 0, "sum_us": 0, "launches": 0, "own_us": 0}
        return {"samples": [sample, sample], "median_us": time, "low_us": time, "high_us": time, "busy_us": 0, "launches": 0}

    def gain(figures):
        return dict(zip(("point", "low", "high"), figures))
    fault = None if correct else {"kind": "mismatch", "message": HOSTILE, "hint": "", "at": {"file": "model_new.py", "line": 3}, "detail": "",
                                  "output": 0, "index": [0], "expected": "1.0", "got": "9.0"}
    trials = [{"seed": 1, "passed": correct, "max_error": 0 if correct else 8, "error_ratio": 0}] * 5
    return {"candidate": candidate, "build": None, "verdict": {"correct": correct, "trials": trials, "fault": fault, "labels": list(labels)},
            "measurement": None if not correct else {
                "clock": "wall", "rounds": 6, "candidate": arm(10), "eager": arm(10 * eager[0]), "compiled": arm(10 * compiled[0]),
                "over_eager": gain(eager), "over_compiled": gain(compiled), "prepare_us": 0, "own_kernel_share": 0, "notes": []},
            "score": None if not correct else {"grade": 3, "speedup_over_eager": eager[0], "speedup_over_compiled": compiled[0],
                                               "success": True, "noisy": False},
            "stage_ms": {"total": 5, "queue": 2000}}


def result(task, level="level1", correct=True, eager=(2.0, 1.9, 2.1), degenerate=False, **more):
    paper = {"correct": correct, "grade": 3 if correct else -1, "speedup_over_eager": eager[0] if correct else 0, "speedup_over_compiled": 0}
    return {"schema": "kagent.batch-result/1", "id": f"{level}-{task}", "task": {"name": task, "level": level, "path": "/t", "hash": "h"},
            "sample": 1, "outcome": "success" if correct else "mismatch", "exit_code": 0 if correct else 1, "seconds": 3.5,
            "correct": correct, "degenerate": degenerate, "grade": 3 if correct else -1, "speedup_over_eager": eager[0] if correct else 0,
            "speedup_over_compiled": 0, "over_eager": {"low": eager[1], "high": eager[2]} if correct else None, "success": correct,
            "rules": {"paper": paper}, "message": "" if correct else HOSTILE, "at": "",
            "facts": {"turns": 7, "usage": {"cost_usd": 0.25, "input_tokens": 10, "output_tokens": 5},
                      "device": {"name": "NVIDIA H200", "driver": "570"}, "versions": {"torch": "2.11"}}} | more


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


class Report(CommandTest):
    def batch(self, name, results, unfinished=0, model=""):
        folder = self.root / name
        folder.mkdir()
        jobs = [{"id": each["id"]} for each in results] + [{"id": f"missing{i}"} for i in range(unfinished)]
        (folder / "batch.json").write_text(json.dumps({"schema": "kagent.batch/1", "arguments": ["--backend", "cpu"], "backend": "cpu",
                                                       "model": model, "candidates": "/c", "samples": 1, "jobs": jobs}))
        (folder / "journal.jsonl").write_text("".join(
            json.dumps({"type": "ended", "id": each["id"], "result": each}) + "\n" for each in results) + '{"type": "sta')
        return folder

    def run_folder(self, name="run"):
        folder = self.root / name
        hashes = ["a" * 64, "b" * 64]
        for number, digest in enumerate(hashes):
            source = folder / "candidates" / digest / "source"
            source.mkdir(parents=True)
            (source / "model_new.py").write_text(f"# {number} {HOSTILE}\nsame\n")
        (folder / "candidates" / hashes[0] / "source" / "link").symlink_to("/etc/passwd")
        calls = [{"id": "1", "tool": HOSTILE, "arguments": json.dumps({"text": HOSTILE})}]
        reply = {"raw": "{}", "text": HOSTILE, "calls": calls, "end": "tool_calls", "model": "m",
                 "usage": {"input_tokens": 1, "cached_tokens": 0, "output_tokens": 1, "cache_written_tokens": 0, "cost_usd": 0}}
        lines = [{"type": "run", "schema": "kagent.trajectory/1", "model": HOSTILE, "system": HOSTILE, "opening": HOSTILE, "tools": [], "settings": {}},
                 {"type": "reply", "turn": 1, "reply": reply},
                 {"type": "candidate", "turn": 1, "evaluation": evaluation(hashes[0], correct=False)},
                 {"type": "candidate", "turn": 1, "evaluation": evaluation(hashes[1])},
                 {"type": "turn", "turn": 1, "results": [{"call_id": "1", "text": HOSTILE, "is_error": False}], "seconds": 1.0}]
        (folder / "trajectory.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "run.json").write_text(json.dumps({"schema": "kagent.run/1", "task": {"name": HOSTILE, "hash": "h"}, "device": {"name": HOSTILE}}))
        (folder / "best").mkdir()
        (folder / "best/evaluation.json").write_text(json.dumps(evaluation(hashes[1]) | {"schema": "kagent.evaluation/1"}))
        return folder

    def report(self, *arguments, code=0):
        done = self.kagent("report", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def assert_page_is_safe(self, page, canvases):
        elements = Elements(page)
        self.assertEqual(elements.tags.count("script"), 3 if "canvas" in elements.tags else 0)
        self.assertNotIn("img", elements.tags)
        self.assertEqual([name for name in elements.attributes if name.startswith("on")], [])
        self.assertNotIn("\x1b", page)
        self.assertIn("default-src 'none'", page)
        self.assertNotIn("http-equiv=\"refresh\"", page)
        if "Charts are left out" not in page:
            self.assertEqual(elements.tags.count("canvas"), canvases)

    def test_batch_in_every_form(self):
        folder = self.batch("b", [result("1_Good"), result("2_" + HOSTILE, correct=False), result("3_Zero", "level2", degenerate=True)], unfinished=2,
                            model="openai/m")
        text = self.report(folder)
        for pattern in (r"3 of 5 ended", r"optimize with openai/m", r"overall +kagent +eager +3 +2 \(66\.7 %\) +2 +66\.7 %",
                        r"overall +paper +eager", r"level2 +kagent", r"overall without degenerate +kagent +eager +2 +1",
                        r"level1-1_Good +success +2\.000x \[1\.900, 2\.100\]", r"0\.2500 +3\.5", r"NVIDIA H200, driver 570", r"torch 2\.11"):
            self.assertRegex(text, pattern)
        self.assertNotIn("\x1b", text)
        markdown = self.report(folder, "--format", "markdown")
        self.assertNotIn("<script", markdown)
        rows = list(csv.DictReader(io.StringIO(self.report(folder, "--format", "csv"))))
        self.assertEqual([(row["task"], row["correct"], row["speedup_over_eager"], row["over_eager_low"]) for row in rows],
                         [("1_Good", "1", "2", "1.9"), (rows[1]["task"], "0", "", ""), ("3_Zero", "1", "2", "1.9")])
        page = self.root / "page.html"
        self.assertEqual(self.report(folder, "--out", page), "")
        self.assert_page_is_safe(page.read_text(), 4)   # distribution, gains, turns, cost

    def test_run_in_every_form(self):
        folder = self.run_folder()
        text = self.report(folder)
        for pattern in (r"1; 2 candidates judged", r"\n +1 +1 +aaaaaaaaaaaa +mismatch", r"2 best +1 +bbbbbbbbbbbb +success +10\.00 us +2\.000x \[1\.900",
                        r"#1 to #2: success", r"the run was killed, or goes on"):
            self.assertRegex(text, pattern)
        page = self.report(folder, "--format", "html")
        self.assert_page_is_safe(page, 1)
        self.assertIn("+# 1 x&lt;/script&gt;", page)
        self.assertNotIn("root:", page)   # a link in a candidate's folder is not followed
        self.assertEqual(len(self.report(folder, "--format", "csv").splitlines()), 3)

    def test_two_are_compared_with_intervals(self):
        a = self.batch("a", [result("1_A"), result("2_B"), result("3_C", correct=False), result("4_D")])
        b = self.batch("b", [result("1_A", eager=(4.0, 3.9, 4.1)), result("2_B", eager=(2.05, 1.95, 2.15)), result("3_C"), result("5_E")])
        text = self.report(a, b)
        for pattern in (r"1_A .* 2\.000x \[1\.857, 2\.158\] .* faster", r"2_B .* 1\.025x \[0\.929, 1\.132\]", r"3_C .* now correct",
                        r"Only in A: level1-4_D", r"Only in B: level1-5_E", r"geometric mean +1\.432x over 2 tasks"):
            self.assertRegex(text, pattern)
        self.assertNotRegex(text, r"2_B .* (faster|slower)\n")
        self.assert_page_is_safe(self.report(a, b, "--format", "html"), 1)
        self.assertRegex(self.report(self.run_folder(), self.run_folder("again")), r"Tasks of both +1")

    def test_shards_are_merged(self):
        a, b = self.batch("a", [result("1_A")]), self.batch("b", [result("2_B")])
        self.assertRegex(self.report(a, b, "--merge"), r"2 of 2 ended")
        self.assert_refused(self.kagent("report", a, a, "--merge"), 2, "a second result of level1-1_A")
        self.assert_refused(self.kagent("report", a, self.batch("c", [result("3_C")], model="m"), "--merge"), 2, "not of one batch")

    def test_bad_input(self):
        folder = self.batch("b", [result("1_A")])
        self.assert_refused(self.kagent("report", self.root / "nowhere"), 2, "neither a run folder")
        self.assert_refused(self.kagent("report", folder, "--out", self.root / "page.xyz"), 2, "which form")
        self.assert_refused(self.kagent("report", folder, folder, folder), 2, "two folders are compared")
        (folder / "journal.jsonl").write_text("nonsense\n")
        self.assert_refused(self.kagent("report", folder), 2, r"journal\.jsonl:1")


if __name__ == "__main__":
    unittest.main()
