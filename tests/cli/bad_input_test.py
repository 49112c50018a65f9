# SPDX-License-Identifier: Apache-2.0
"""Bad input, row by row: the exact exit code, one error line that names the file, and nothing left behind.

Runs the real programs on the CPU backend."""
import json
import pathlib
import subprocess
import unittest

from command_fixture import KERNEL, MODEL, TASK, CommandTest

SYSTEM_PYTHON = "/usr/bin/python3"


class Usage(CommandTest):
    def test_no_such_task(self):
        done = self.kagent("check", "nowhere.py", self.root / "new", "--backend", "cpu", "--quiet")
        self.assert_refused(done, 2, r"open nowhere\.py: No such file")

    def test_no_such_candidate(self):
        done = self.kagent("check", self.root / "task.py", "nowhere", "--backend", "cpu", "--quiet")
        self.assert_refused(done, 2, r"nowhere: no such file or folder")

    def test_unknown_operator_name(self):
        self.assert_refused(self.check("--allow-ops", "gemm,aten::nothing"), 2, r"aten::nothing")

    def test_unknown_flag(self):
        self.assert_refused(self.check("--frobnicate"), 2, r"--frobnicate")

    def test_no_gpu(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("there is a GPU")
        done = self.kagent("check", self.root / "task.py", self.root / "new", "--quiet")
        self.assert_refused(done, 6, r"no GPU")

    def test_no_torch(self):
        if not pathlib.Path(SYSTEM_PYTHON).exists() or subprocess.run([SYSTEM_PYTHON, "-Ic", "import torch"],
                                                                      capture_output=True).returncode == 0:
            self.skipTest("the system's Python has torch, or there is none")
        done = self.check(environment={"KAGENT_PYTHON": SYSTEM_PYTHON})
        self.assert_refused(done, 6, r"torch")

    def test_failure_as_json(self):
        done = self.kagent("check", "nowhere.py", self.root / "new", "--json", "--quiet")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(json.loads(done.stdout)["outcome"], "usage")


class TaskInvalid(CommandTest):
    def row(self, old, new, pattern):
        self.write(task=TASK.replace(old, new))
        self.assert_refused(self.check(), 4, pattern)

    def test_syntax_error(self):
        self.row("        super().__init__()", "        super(.__init__()", r"task\.py:7: .*[Ss]yntax")

    def test_without_model(self):
        self.row("class Model(", "class Mobel(", r"task\.py: .*Model")

    def test_get_inputs_raises(self):
        self.row("return [torch.randn(64, 32)]", "raise ValueError('no data today')",
                 r"task\.py:15: .*no data today")

    def test_ends_the_process(self):
        self.row("return [torch.randn(64, 32)]", "import os; os._exit(3)", r"task\.py: .*exit code 3")


class Candidate(CommandTest):
    def row(self, pattern, outcome, code=1, model=None, kernel=None, arguments=()):
        self.write(model=model, kernel=kernel)
        done = self.check("--json", *arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        record = json.loads(done.stdout)
        self.assertEqual(record["outcome"], outcome, done.stdout[:2000])
        fault = record["evaluation"]["verdict"]["fault"]
        at = f"{fault['at']['file']}:{fault['at']['line']}: " if fault["at"] else ""
        line = at + fault["message"]
        self.assertRegex(line, pattern)
        self.assertEqual(len(line.splitlines()), 1)
        self.assert_nothing_left()
        return fault

    def model(self, old, new):
        self.assertIn(old, MODEL)
        return MODEL.replace(old, new)

    def kernel(self, old, new):
        self.assertIn(old, KERNEL)
        return KERNEL.replace(old, new)

    def test_error_line_on_stderr(self):
        self.write(kernel=KERNEL.replace("value > 0", "valve > 0"))
        self.assert_refused(self.check(), 1, r"build_failed: kernels/scale\.cpp:7: .*valve")

    def test_other_parameter_names(self):
        self.row("weight", "unsupported", model=MODEL.replace("self.weight", "self.gain"))

    def test_raises(self):
        self.row(r"model_new\.py:\d+: .*(no way|RuntimeError)", "crash",
                 model=self.model("        y = torch.empty_like(x)\n",
                                  "        raise RuntimeError('no way')\n"))

    def test_recurses_for_ever(self):
        self.row(r"model_new\.py:\d+: .*[Rr]ecurs", "crash",
                 model=self.model("        y = torch.empty_like(x)\n", "        return self.forward(x)\n"))

    def test_item_in_forward(self):
        self.row(r"model_new\.py:15: ", "unsupported",
                 model=self.model("        y = torch.empty_like(x)\n",
                                  "        y = torch.empty_like(x)\n"
                                  "        if x.sum().item() > 0: return y\n"))

    def test_operator_outside_the_policy(self):
        fault = self.row(r"model_new\.py:16: torch\.relu cannot be replayed", "forbidden_op",
                         model=self.model("        return y", "        return torch.relu(y)"))
        self.assertIn("--allow-ops", fault["hint"])

    def test_does_not_compile(self):
        fault = self.row(r"kernels/scale\.cpp:7: .*valve", "build_failed",
                         kernel=self.kernel("value > 0", "valve > 0"))
        self.assertIn("valve", fault["detail"])

    def test_wrong_number_of_arguments(self):
        self.row(r"model_new\.py:15: .*(3|4)", "bad_launch",
                 model=self.model("(y, x, self.weight, x.shape[1])", "(y, x, self.weight)"))

    def test_wrong_dtype_of_an_argument(self):
        self.row(r"model_new\.py:15: .*float", "bad_launch", kernel=self.kernel("const float* x", "const double* x"))

    def test_wrong_type_of_an_argument(self):
        self.row(r"model_new\.py:15: ", "bad_launch",
                 model=self.model("(y, x, self.weight, x.shape[1])", "(y, x, 3, x.shape[1])"))

    def test_missing_kernel_name(self):
        self.row(r"scale_relu", "build_failed", kernel=self.kernel("scale_relu", "scale_rely"))

    def test_include_of_a_host_file(self):
        fault = self.row(r"kernels/scale\.cpp:1: .*/etc/passwd", "forbidden_op",
                         kernel='#include "/etc/passwd"\n' + KERNEL)
        self.assertNotIn("root:", json.dumps(fault))

    def test_wrong_shape(self):
        self.row(r"\b64\b.*\b32\b", "shape",
                 model=self.model("        return y", "        return y.view(-1)"))

    def test_wrong_dtype(self):
        self.row(r"float16|float32", "dtype",
                 model=self.model("        return y", "        return y.to(torch.float16)"))

    def test_wrong_value(self):
        fault = self.row(r"\[3, 5\]", "mismatch", kernel=self.kernel("value > 0 ? value : 0", "i == 5 && row == 3 ? 9.f : (value > 0 ? value : 0)"))
        self.assertEqual(fault["index"], [3, 5])
        self.assertEqual(float(fault["got"]), 9.0)

    def test_nan(self):
        self.row(r"not finite", "non_finite", kernel=self.kernel("value > 0 ? value : 0", "row == 7 ? __builtin_nanf(\"\") : value"))

    def test_out_of_bounds_write(self):
        self.row(r"scale_relu", "out_of_bounds", kernel=self.kernel("  for (", "  if (row == 63) y[64 * columns + 3] = 1;\n  for ("))

    def test_write_to_an_input(self):
        self.row(r"scale_relu", "input_modified",
                 kernel=self.kernel("  for (", "  if (row == 0) const_cast<float*>(x)[5] = 1;\n  for ("))

    def test_endless_kernel(self):
        self.row(r"did not come back", "timeout",
                 kernel=self.kernel("  for (", "  volatile int go = 1; while (go) {}\n  for ("))

    def test_out_of_memory(self):
        self.row(r"model_new\.py:\d+: ", "out_of_memory",
                 model=self.model("        y = torch.empty_like(x)\n",
                                  "        z = torch.empty(1 << 38)\n        y = torch.empty_like(x)\n"))

    def test_good_one(self):
        done = self.check("--json")
        record = json.loads(done.stdout)
        self.assertIn(record["outcome"], ("success", "slower", "noisy"), done.stdout[:2000])
        self.assertTrue(record["evaluation"]["verdict"]["correct"])
        self.assertEqual(len(record["evaluation"]["verdict"]["trials"]), 5)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
