#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kagent skills: ours and the user's, listed and printed. Needs no workers."""
import json
import os
import unittest

from command_fixture import CommandTest


class Skills(CommandTest):
    def setUp(self):
        super().setUp()
        here = os.getcwd()
        os.chdir(self.root)
        self.addCleanup(os.chdir, here)

    def environment(self):
        return super().environment() | {"XDG_CONFIG_HOME": str(self.root / ".config")}

    def put(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def test_list_and_print(self):
        self.put(".kagent/skills/layouts/SKILL.md", "---\nname: layouts\ndescription: How our tensors lie\n---\n# Layouts\n\x1b[2Jred\n")
        self.put(".kagent/skills/layouts/more.md", "more")
        self.put(".agents/skills/layouts/SKILL.md", "---\ndescription: hidden by the other\n---\n")
        self.put(".config/kagent/skills/tma/SKILL.md", "---\ndescription: ours stays\n---\n")
        done = self.kagent("skills")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^cuda +the guide")
        self.assertRegex(done.stdout, r"(?m)^tma +large tiles")
        self.assertRegex(done.stdout, r"(?m)^layouts +How our tensors lie \[\.kagent/skills\]$")
        self.assertIn("skill .agents/skills/layouts is left out: there is one of that name in .kagent/skills\n", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2)
        listed = json.loads(self.kagent("skills", "--json", "--backend", "cpu").stdout)
        self.assertEqual([skill["name"] for skill in listed["skills"]], ["layouts", "tma"])
        shown = self.kagent("skills", "layouts").stdout
        self.assertIn("# Layouts\n\\x1b[2Jred\n", shown)
        self.assertIn("also: skills/layouts/more.md, 4 bytes\n", shown)
        self.assertIn("132 SMs", self.kagent("skills", "vector-loads").stdout)
        self.assertTrue(self.kagent("skills", "cuda").stdout.startswith("# How to make an operator faster here (CUDA)\n"))

    def test_unknown(self):
        self.assert_refused(self.kagent("skills", "nope"), 2, "there is no skill nope; kagent skills lists them")


if __name__ == "__main__":
    unittest.main()
