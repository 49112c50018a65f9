# SPDX-License-Identifier: Apache-2.0
"""The rows of bad_input_test.py that need a card, on the CUDA backend; they skip themselves where there is none.

All candidates are judged in one session, as JSON; those whose process is the point run once more on their own, for the
exit code, the one line on stderr and what is left behind."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from command_fixture import MODEL as CPU_MODEL
from command_fixture import TASK, CommandTest

MODEL = CPU_MODEL.replace("scale.cpp", "scale.cu").replace("scale[x.shape[0], 1]", "scale[x.shape[0], 32]")
KERNEL = """\
extern "C" __global__ void scale_relu(float* y, const float* x, const float* weight, int columns) {
  const long long row = blockIdx.x;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float value = x[row * columns + i] * weight[i];
    y[row * columns + i] = value > 0 ? value : 0;
  }
}
"""
ENDLESS = ("  for (int", "  while (*(volatile const float*)weight == *(volatile const float*)weight) {}\n  for (int")


def edited(text, old, new):
    assert old in text, old
    return text.replace(old, new)


def in_forward(line):
    return edited(MODEL, "        y = torch.empty_like(x)\n", line + "        y = torch.empty_like(x)\n")


# name: (outcome, pattern of "file:line: message", model, kernel)
ROWS = {
    "good": (None, "", MODEL, KERNEL),
    "other parameter names": ("unsupported", "weight", MODEL.replace("self.weight", "self.gain"), KERNEL),
    "raises": ("crash", r"model_new\.py:14: .*no way", in_forward("        raise RuntimeError('no way')\n"), KERNEL),
    "recurses for ever": ("crash", r"model_new\.py:\d+: .*[Rr]ecurs", in_forward("        return self.forward(x)\n"), KERNEL),
    "item in forward": ("unsupported", r"model_new\.py:14: ", in_forward("        if x.sum().item() > 0: return x\n"), KERNEL),
    "operator outside the policy": ("forbidden_op", r"model_new\.py:16: torch\.relu cannot be replayed",
                                    edited(MODEL, "        return y", "        return torch.relu(y)"), KERNEL),
    "does not compile": ("build_failed", r"kernels/scale\.cu:5: .*valve", MODEL, edited(KERNEL, "value > 0 ?", "valve > 0 ?")),
    "wrong number of arguments": ("bad_launch", r"model_new\.py:15: .*(3|4)",
                                  edited(MODEL, "(y, x, self.weight, x.shape[1])", "(y, x, self.weight)"), KERNEL),
    "wrong dtype of an argument": ("bad_launch", r"model_new\.py:15: .*float", MODEL,
                                   edited(KERNEL, "const float* x", "const double* x")),
    "wrong type of an argument": ("bad_launch", r"model_new\.py:15: ",
                                  edited(MODEL, "(y, x, self.weight, x.shape[1])", "(y, x, 3, x.shape[1])"), KERNEL),
    "too many threads": ("bad_launch", r"model_new\.py:15: .*1024", edited(MODEL, ", 32]", ", 2048]"), KERNEL),
    "missing kernel name": ("build_failed", r"scale_relu", MODEL, edited(KERNEL, "scale_relu", "scale_rely")),
    "include of a host file": ("forbidden_op", r"kernels/scale\.cu:1: .*/etc/passwd", MODEL, '#include "/etc/passwd"\n' + KERNEL),
    "wrong shape": ("shape", r"\b64\b.*\b32\b", edited(MODEL, "        return y", "        return y.view(-1)"), KERNEL),
    "wrong dtype": ("dtype", r"float16|float32", edited(MODEL, "        return y", "        return y.to(torch.float16)"), KERNEL),
    "wrong value": ("mismatch", r"\[3, 5\]", MODEL,
                    edited(KERNEL, "value > 0 ? value : 0", "i == 5 && row == 3 ? 9.f : (value > 0 ? value : 0)")),
    "not finite": ("non_finite", r"not finite", MODEL,
                   edited(KERNEL, "value > 0 ? value : 0", "row == 7 ? __int_as_float(0x7fc00000) : (value > 0 ? value : 0)")),
    "write just past the end": ("out_of_bounds", r"scale_relu", MODEL,
                                edited(KERNEL, "  for (int", "  if (row == 63) y[64 * columns + 3] = 1;\n  for (int")),
    "write far away": ("out_of_bounds", r"scale_relu", MODEL,
                       edited(KERNEL, "  for (int", "  if (row == 63) y[1ll << 36] = 1;\n  for (int")),
    "write to an input": ("input_modified", r"scale_relu", MODEL,
                          edited(KERNEL, "  for (int", "  if (row == 0) const_cast<float*>(x)[5] = 1;\n  for (int")),
    "trap": ("crash", r"scale_relu", MODEL, edited(KERNEL, "  for (int", "  if (row == 9) __trap();\n  for (int")),
    "out of memory": ("out_of_memory", r"model_new\.py:\d+: ", in_forward("        z = torch.empty(1 << 38, device=x.device)\n"), KERNEL),
    "endless": ("timeout", r"did not come back", MODEL, edited(KERNEL, *ENDLESS)),
}


@unittest.skipUnless(pathlib.Path("/dev/nvidiactl").exists(), "NO GPU: the rows of bad input on a card are not run")
class BadInputOnCard(CommandTest):
    backend = "cuda"
    kernel_file = "scale.cu"

    def candidate(self, name):
        _, _, model, kernel = ROWS[name]
        folder = self.root / "candidates" / name.replace(" ", "-")
        (folder / "kernels").mkdir(parents=True)
        (folder / "model_new.py").write_text(model)
        (folder / "kernels" / "scale.cu").write_text(kernel)
        return folder

    def test_every_row_in_one_session(self):
        folders = [self.candidate(name) for name in ROWS]
        done = self.kagent("check", self.root / "task.py", *folders, "--backend", "cuda", "--quiet", "--rounds", "6", "--json",
                           timeout=500)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(records), len(ROWS), done.stderr + done.stdout[-2000:])
        self.assertEqual(done.returncode, 1, done.stderr)
        for (name, (outcome, pattern, _, _)), record in zip(ROWS.items(), records, strict=True):
            with self.subTest(name):
                if outcome is None:
                    self.assertTrue(record["evaluation"]["verdict"]["correct"], record)
                    continue
                fault = record["evaluation"]["verdict"]["fault"]
                self.assertIsNotNone(fault, record["outcome"])
                at = f"{fault['at']['file']}:{fault['at']['line']}: " if fault["at"] else ""
                line = at + fault["message"]
                self.assertEqual(record["outcome"], outcome, line)
                self.assertRegex(line, pattern)
                self.assertEqual(len(line.splitlines()), 1)
        self.assert_nothing_left()
        self.assert_card_is_free()

    def test_alone(self):
        for name in ("does not compile", "write far away", "out of memory", "endless"):
            outcome, pattern, model, kernel = ROWS[name]
            with self.subTest(name):
                self.write(model=model, kernel=kernel)
                self.assert_refused(self.check(), 1, f"{outcome}: .*{pattern}" if pattern.startswith("did") else pattern)
                self.assert_card_is_free()

    def test_weights_larger_than_the_card(self):
        self.write(task=TASK.replace("torch.randn(64, 32)", "torch.empty(1 << 38)"))
        done = self.check()
        self.assertIn(done.returncode, (4, 6), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, r"[Mm]emory")
        self.assert_nothing_left()

    def assert_card_is_free(self):
        """No process of ours may hold the card when kagent has ended."""
        listed = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,name", "--format=csv,noheader"],
                                capture_output=True, text=True).stdout
        self.assertFalse(re.search(r"kagent", listed), listed)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    unittest.main()
