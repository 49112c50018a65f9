# SPDX-License-Identifier: Apache-2.0
"""SIGKILL in every phase of a run, then --resume: the same final result, no evaluation lost or counted twice.
scripts/kill-resume-check does it at 50 moments."""
import os
import unittest

import optimize_rig


class KillAndResume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rig = optimize_rig.Rig()
        cls.addClassCleanup(cls.rig.close)
        cls.expected = cls.rig.undisturbed()

    def test_the_undisturbed_run_is_what_the_script_says(self):
        facts = self.expected
        self.assertEqual([fault for _, fault in facts["evaluations"]],
                         ["build_failed", "mismatch", None, None, "forbidden_op", None])
        self.assertEqual((facts["outcome"], facts["stop_reason"], facts["turns"]), ("success", "finished", 7))
        self.assertEqual(facts["best files"]["model_new.py"], "# microseconds 0\n")

    def test_killed_in_every_phase(self):
        moments = self.rig.moments(int(os.environ.get("KAGENT_TEST_MOMENTS", "12")))
        self.assertEqual({moment.phase for moment in moments},
                         {"stream", "tool", "start", "record", "build", "verify", "time", "journal", "rename"})
        for number, moment in enumerate(moments):
            with self.subTest(str(moment)):
                self.assertEqual(self.rig.check(moment, self.expected, number), "")

    def test_killed_where_it_once_went_wrong(self):
        """The record was there, the file beside the candidate's source was not; the end was there, the result was not."""
        for step in ("append:candidate#3:after", "append:end#1:after"):
            with self.subTest(step):
                self.assertEqual(self.rig.check(optimize_rig.Moment("journal", step), self.expected, "once"), "")

    def ended_early(self, name, *more):
        """The folder and exit code of a run that ends before its time."""
        out = self.rig.root / name
        code, said = self.rig.finish(out, "--quiet", *more)
        folder, = out.iterdir()
        return folder, code, said

    def assert_goes_on(self, folder, *more):
        code, said = self.rig.finish(folder.parent, "--quiet", "--resume", str(folder), *more)
        self.assertEqual(code, 0, said)
        self.assertEqual(optimize_rig.difference(self.expected, optimize_rig.facts_of(folder), real=False), "")

    def test_an_outage_of_the_service(self):
        self.rig.server.down_from = 4
        self.addCleanup(setattr, self.rig.server, "down_from", None)
        folder, code, said = self.ended_early("outage", "--model-retries", "0")
        self.assertEqual(code, 3, said)
        self.assertIn("--resume", said)
        self.rig.server.down_from = None
        self.assert_goes_on(folder)

    def test_a_raised_budget(self):
        folder, code, said = self.ended_early("budget", "--max-turns", "3")
        self.assertEqual(code, 5, said)
        self.assert_goes_on(folder, "--max-turns", "50")

    def test_what_a_torn_or_damaged_trajectory_comes_to(self):
        folder, _, _ = self.ended_early("torn", "--max-turns", "3")
        trajectory = folder / "trajectory.jsonl"
        whole = trajectory.read_bytes()
        lines = whole.splitlines(keepends=True)
        trajectory.write_bytes(b"".join(lines[:4] + [b"not JSON\n"] + lines[4:]))
        code, said = self.rig.finish(folder.parent, "--quiet", "--resume", str(folder))
        self.assertEqual(code, 2, said)
        self.assertIn("trajectory.jsonl:5", said)
        trajectory.write_bytes(whole + lines[3][:40])  # what a kill in the middle of a write leaves
        self.assert_goes_on(folder)


if __name__ == "__main__":
    unittest.main()
