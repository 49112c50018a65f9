# SPDX-License-Identifier: Apache-2.0
"""Scripted agents on many tasks at once, over two leases of the CPU backend: each result is that of a serial run, no two
hold a lease at once, and a batch that is killed again and again ends every task exactly once.

KAGENT_TEST_TASKS and KAGENT_TEST_KILLS make it larger than CI's; scripts/batch-kill-test does, and prints what it saw."""
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import unittest

from model_server import ModelServer, stream_of
from scripted_batch import KERNEL, Rig, ends_in_journal, results_of

TASKS = int(os.environ.get("KAGENT_TEST_TASKS", "8"))
KILLS = int(os.environ.get("KAGENT_TEST_KILLS", "3"))
JOBS = 8
SCRIPTS = ["microseconds 0", "wrong", "microseconds 9000", "unrecordable"]
OUTCOMES = {"microseconds 0": "success", "wrong": "not_met", "microseconds 9000": "not_met", "unrecordable": "not_met"}


class AgentServer(ModelServer):
    """Each conversation is told apart by the task's text, each turn by the last status line: requests may come in any order."""

    def _speak(self, connection, answer, number, anthropic):
        said = json.dumps(self.requests[number][1])
        task = int(re.search(r"# (\d+)_agent", said)[1])
        turn = max((int(found) for found in re.findall(r"\[turn (\d+)/", said)), default=0)
        script = SCRIPTS[task % len(SCRIPTS)]
        calls = [[("write_file", {"path": "model_new.py", "text": f"# {script}\n"}), ("write_file", {"path": "kernels/scripted.cpp", "text": KERNEL})],
                 [("evaluate", {})], [("finish", {"summary": "done"})]][min(turn, 2)]
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" +
                           b"".join(stream_of({"text": f"turn {turn + 1}", "calls": calls}, turn, anthropic)))
        return False


def story(result):
    """What of a result must not depend on what else ran."""
    return {name: result[name] for name in ("id", "outcome", "exit_code", "correct", "success", "grade", "candidate", "message")} | {
        "turns": result["facts"].get("turns"), "cost": result["facts"].get("usage", {}).get("input_tokens"),
        "stop": result["facts"].get("stop_reason")}


class BatchScale(unittest.TestCase):
    def setUp(self):
        self.rig = Rig(pause=0.002)
        self.addCleanup(self.rig.close)
        self.server = AgentServer([{}])
        self.addCleanup(self.server.close)
        for number in range(1, TASKS + 1):
            self.rig.task(f"{number}_agent", "tasks/level1")
        self.leases = self.rig.root / "leases.jsonl"

    def command(self, *more):
        return [self.rig.kagent, "batch", *map(str, more)]

    def new_batch(self, out, jobs):
        # Eager alone: a scripted winner needs no time, which a busy machine cannot take from it.
        return self.command(self.rig.root / "tasks", "--model", "openai/fixture", "--backend", "cpu", "--rounds", "6", "--over", "eager",
                            "--jobs", jobs, "--cpu-slots", 2 if jobs > 1 else 1, "--out", self.rig.root / out)

    def environment(self):
        return self.rig.environment(OPENAI_API_KEY="test", KAGENT_BASE_URL=self.server.address, KAGENT_LEASE_LOG=str(self.leases))

    def finish(self, command):
        done = subprocess.run(command, env=self.environment(), text=True, capture_output=True, timeout=1200, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def folder(self, out):
        folder, = (self.rig.root / out).iterdir()
        return folder

    def held_leases(self):
        """Spans in which a process held a lease, by lease; one that was killed in it held it until its next holder at most."""
        holders, spans = {}, collections.defaultdict(list)
        for line in self.leases.read_text().splitlines():
            entry = json.loads(line)
            name = entry["lease"]
            if entry["event"] == "acquired":
                if name in holders:   # no word of its release: it must be dead
                    process, start = holders.pop(name)
                    self.assertNotEqual(process, entry["process"])
                    self.killed_holders += 1
                holders[name] = (entry["process"], entry["at_ns"])
            else:
                process, start = holders.pop(name)
                self.assertEqual(process, entry["process"], "released by one that does not hold it: two held it at once")
                spans[name].append((start, entry["at_ns"]))
        return spans

    def assert_one_holder_at_a_time(self):
        self.killed_holders = 0
        spans = self.held_leases()
        for name, each in spans.items():
            ordered = sorted(each)
            for (_, end), (start, _) in zip(ordered, ordered[1:]):
                self.assertLessEqual(end, start, name)
        return spans

    def test_many_at_once_and_killed_again_and_again(self):
        start = time.monotonic()
        self.finish(self.new_batch("serial", 1))
        serial_seconds = time.monotonic() - start
        serial = [story(result) for result in results_of(self.folder("serial"))]
        self.assertEqual([each["outcome"] for each in serial], [OUTCOMES[SCRIPTS[n % len(SCRIPTS)]] for n in range(1, TASKS + 1)])
        self.leases.unlink()

        start = time.monotonic()
        done = self.finish(self.new_batch("parallel", JOBS))
        parallel_seconds = time.monotonic() - start
        self.assertEqual([story(result) for result in results_of(self.folder("parallel"))], serial)
        spans = self.assert_one_holder_at_a_time()
        self.assertEqual(self.killed_holders, 0)
        self.assertEqual(set(spans), {"scripted-0", "scripted-1"})
        self.assertEqual(done.stderr.count(" begins"), TASKS)
        self.leases.unlink()

        draw = random.Random(7)
        kills = 0
        for _ in range(KILLS):
            command = self.new_batch("killed", JOBS) if kills == 0 else self.command("--resume", self.folder("killed"), "--jobs", JOBS, "--cpu-slots", 2)
            with subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                deadline = time.monotonic() + draw.uniform(0.3, 0.9) * max(1.0, parallel_seconds / (KILLS + 1))
                while time.monotonic() < deadline or not list((self.rig.root / "killed").glob("*/journal.jsonl")):
                    time.sleep(0.01)
                    if process.poll() is not None:
                        break
                process.send_signal(signal.SIGKILL)
                kills += process.wait() == -signal.SIGKILL
            self.rig.wait_for_jobs()
        self.assertGreaterEqual(kills, min(KILLS, 2), "the batch was over before it could be killed")
        self.finish(self.command("--resume", self.folder("killed"), "--jobs", JOBS, "--cpu-slots", 2))
        self.assertEqual([story(result) for result in results_of(self.folder("killed"))], serial)
        ends = ends_in_journal(self.folder("killed"))
        self.assertEqual(set(ends.values()), {1})
        self.assertEqual(len(ends), TASKS)
        # What was killed before its first word has no trajectory; whatever has one went on.
        self.assertEqual(len(list((self.folder("killed") / "runs").glob("*/*/trajectory.jsonl"))), TASKS, "a killed job began anew")
        killed_spans = self.assert_one_holder_at_a_time()
        for queue in (self.rig.root / "locks").glob("*.queue"):
            self.assertLessEqual(len(list(queue.iterdir())), KILLS * JOBS)
        print(f"{TASKS} tasks: serial {serial_seconds:.1f} s, {JOBS} at once over two leases {parallel_seconds:.1f} s, "
              f"{sum(map(len, spans.values()))} leases without overlap; {kills} times SIGKILL: every task ended once, "
              f"{sum(map(len, killed_spans.values()))} leases without overlap, {self.killed_holders} holders killed", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
