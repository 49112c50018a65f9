#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kagent.toml: what goes before what, what is refused, and that kagent config show tells where each value comes from.
Needs no workers: nothing is judged."""
import json
import os
import pathlib
import unittest

from command_fixture import CommandTest

KEY = "sk-canary-0123456789"


class Config(CommandTest):
    def setUp(self):
        super().setUp()
        self.users = self.root / ".config/kagent/kagent.toml"
        self.users.parent.mkdir(parents=True)
        self.projects = self.root / "kagent.toml"
        here = os.getcwd()
        os.chdir(self.root)
        self.addCleanup(os.chdir, here)

    def environment(self):
        return super().environment() | {"XDG_CONFIG_HOME": str(self.root / ".config")}

    def show(self, *command, environment=None):
        done = self.kagent("config", "show", "--json", *command, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        return {each["command"]: {flag: (value["value"], value["origin"]) for flag, value in each["flags"].items()}
                for each in shown["commands"]}

    def test_what_goes_before_what(self):
        self.users.write_text('rounds = 7\nmin-gain = 0.1\nbackend = "cpu"\nmode = "train"\n[check]\nrepeat = 2\n')
        self.projects.write_text('rounds = 8\nmin-gain = 0.2\nmode = "eval"\n[check]\nrounds = 9\n')
        flags = self.show("check", "--mode", "train", environment={"KAGENT_MIN_GAIN": "0.3"})["check"]
        users = str(self.users)
        self.assertEqual(flags["mode"], ("train", "flag"))
        self.assertEqual(flags["min-gain"], ("0.3", "KAGENT_MIN_GAIN"))
        self.assertEqual(flags["rounds"], ("9", "kagent.toml:5"))
        self.assertEqual(flags["backend"], ("cpu", f"{users}:3"))
        self.assertEqual(flags["repeat"], ("2", f"{users}:6"))
        self.assertEqual(flags["numerics"], ("strict", "default"))
        self.assertEqual(self.show("baseline")["baseline"]["rounds"], ("8", "kagent.toml:1"))

    def test_all_kinds_of_values(self):
        self.projects.write_text('allow-ops = ["gemm", "aten::_softmax"]  # two\nmodel = "openai/a#b"\n[optimize]\n'
                                 'temperature = 0.5\nkeep-going = true\nmax-turns = 1_000\n')
        flags = self.show("optimize", "--keep-going=false")["optimize"]
        self.assertEqual([flags[name][0] for name in ("allow-ops", "model", "temperature", "keep-going", "max-turns")],
                         ["gemm,aten::_softmax", "openai/a#b", "0.5", "false", "1000"])
        self.assertEqual(self.show()["batch"]["model"], (None, "default"))  # else --check could not be asked for

    def test_what_is_wrong(self):
        for text, words in (
                ('modle = "x"', r'kagent\.toml:1: unknown key "modle"; did you mean "mode"\?'),
                ('\n\nbackend = "tpu"', r"kagent\.toml:3: backend: tpu not in \{cuda,cpu\}"),
                ("rounds = 1000", r"kagent\.toml:1: rounds: Value 1000 not in range"),
                ("[chek]\nrounds = 7", r'kagent\.toml:2: no command is named "chek"; did you mean \[check\]\?'),
                ("[batch]\nrounds = 7\nwhat = 7", r'kagent\.toml:3: unknown key "what"'),  # another command's table
                ("rounds =", r"kagent\.toml:1: not TOML"),
                ("rounds = 7\nrounds = 8", r"kagent\.toml:2: not TOML"),
                (f'api-key = "{KEY}"', r"kagent\.toml:1: api-key: keys come from the environment only"),
                ("[check.deep]\nx = 1", r"kagent\.toml:1: \[check\.deep\]"),
                ("rounds = 1979-05-27", r"kagent\.toml:1: rounds: expected a text"),
                ('allow-ops = ["a,b"]', r"kagent\.toml:1: allow-ops: expected"),
                ('[check]\nresume = "x"', r'kagent\.toml:2: unknown key "resume"'),
                ("#" * 70000, r"kagent\.toml: larger than"),
                ('sandbox = "none"', r"kagent\.toml:1: sandbox may not stand in a project's file"),
                ('[optimize]\nbase-url = "https://elsewhere/v1"', r"kagent\.toml:2: base-url may not stand in a project's file")):
            with self.subTest(text[:60]):
                self.projects.write_text(text + "\n")
                done = self.kagent("check", self.root / "task.py", self.root / "new")
                self.assert_refused(done, 2, words)
                self.assertNotIn(KEY, done.stderr)
        self.assertEqual(self.kagent("check", "--help").returncode, 0)
        self.projects.unlink()
        os.mkfifo(self.projects)
        self.assert_refused(self.kagent("check", self.root / "task.py", timeout=10), 2, "not a regular file")
        self.projects.unlink()
        self.assert_refused(self.kagent("check", "x", environment={"KAGENT_ROUNDS": "2"}), 2, "KAGENT_ROUNDS: rounds: Value 2")
        self.users.write_text('sandbox = "none"\nbase-url = "https://mine/v1"\n')
        self.assertEqual(self.show("optimize")["optimize"]["sandbox"][0], "none")

    def test_show_for_people(self):
        self.projects.write_text("rounds = 8\n")
        done = self.kagent("config", "show", environment={"OPENAI_API_KEY": KEY})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kagent.toml: read\n", done.stdout)
        self.assertIn(f"{self.users}: not there\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  rounds +8 +kagent\.toml:1$")
        self.assertRegex(done.stdout, r"(?m)^  fail-on +invalid,crash,cheat,environment +default$")
        self.assertIn("keys in the environment: OPENAI_API_KEY\n", done.stdout)
        self.assertNotIn(KEY, done.stdout)
        self.assert_refused(self.kagent("config", "show", "nonsense"), 2, "no command nonsense")


if __name__ == "__main__":
    unittest.main()
