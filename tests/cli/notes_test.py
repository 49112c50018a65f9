#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notes that show a whole `forward` (and `prepare`) show one that can be recorded: each becomes a candidate, with the
kernels of the notes that it names, and `kagent plan` must take it. No GPU."""
import pathlib
import re
import unittest

from command_fixture import CommandTest

NOTES = pathlib.Path(__file__).resolve().parents[2] / "skills/cuda/references"
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

LINEAR = """\
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(512, 256, bias=False)
        self.scale = nn.Parameter(torch.randn(256))
"""
CONVOLUTION = """\
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)
"""
BIASED = """\
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(512, 256)
"""


def blocks(note, language):
    return re.findall(rf"\n```{language}\n(.*?\n)```", (NOTES / f"{note}.md").read_text(), re.S)


class Notes(CommandTest):
    def assert_recorded(self, note, constructor, forward, shapes, words, further=()):
        lines = [HEAD + "import kagent"]
        for each in (note, *further):
            for block in blocks(each, "cuda"):
                path = self.root / "candidate" / re.match(r"// (kernels/\w+\.cu)\n", block)[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block)
            lines += [line for block in blocks(each, "python") for line in block.splitlines() if re.match(r"\w+ = kagent\.kernel\(", line)]
        methods = next(block for block in blocks(note, "python") if "def forward" in block)
        methods = methods[re.search(r"(?m)^def ", methods).start():]
        body = "".join("    " + line for line in methods.splitlines(True))
        (self.root / "candidate/model_new.py").write_text("\n".join(lines) + "\n\nclass ModelNew(nn.Module):\n" + constructor + body)
        (self.root / "task.py").write_text(
            HEAD + "class Model(nn.Module):\n" + constructor + f"    def forward(self, x, residual=None):\n        return {forward}\n"
            f"def get_inputs():\n    return [torch.randn(*shape) for shape in {shapes}]\ndef get_init_inputs():\n    return []\n")
        done = self.kagent("plan", self.root / "candidate", "--task", self.root / "task.py", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)

    def test_fusion_and_algebra(self):
        self.assert_recorded("fusion-and-algebra", LINEAR, "(self.linear(x) * self.scale + residual).mean(1)",
                             [(4, 100, 512), (4, 100, 256)], ["mean_rows<256>", "aten::addmm", 'self.prepared["weight"]'], ["coalescing"])

    def test_batchnorm_folding(self):
        self.assert_recorded("batchnorm-folding", CONVOLUTION, "F.silu(self.bn(self.conv(x)))", [(2, 8, 16, 16)],
                             ["bias_act", "aten::convolution", 'self.prepared["bias"]'])

    def test_library_calls(self):
        self.assert_recorded("library-calls", BIASED, "F.relu(self.linear(x) + residual)", [(100, 512), (100, 256)],
                             ["add_relu", "aten::addmm"])


if __name__ == "__main__":
    unittest.main()
