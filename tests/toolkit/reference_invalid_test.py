# SPDX-License-Identifier: Apache-2.0
"""The reference and task files that are none: each is task_invalid, with the line where there is one."""
import unittest

from reference_fixture import SOFTMAX, ReferenceTest


class TaskErrors(ReferenceTest):
    GOOD = SOFTMAX

    def expect(self, source, line, *words, **changes):
        error = self.task_error(source, **changes)
        self.assertEqual(error["line"], line, error)
        for word in words:
            self.assertIn(word, error["message"])

    def test_a_missing_file(self):
        reference = self.start()
        answer, _ = reference.ask("open", **self.open_fields(str(self.folder / "none.py")))
        self.assertIn("No such file", answer["task_invalid"]["message"])

    def test_syntax_error(self):
        self.expect("import torch\nclass Model(\n", 2, "syntax error")

    def test_bytes_that_are_not_text(self):
        reference = self.start()
        path = self.folder / "task.py"
        path.write_bytes(b"import torch\nx = '\xff\xfe'\n\0")
        answer, _ = reference.ask("open", **self.open_fields(str(path)))
        self.assertIn("task_invalid", answer)

    def test_missing_names(self):
        self.expect("import torch\n", 0, "defines no Model")
        self.expect(self.GOOD.replace("class Model", "class Modell"), 0, "defines no Model")
        self.expect(self.GOOD.replace("get_inputs", "inputs"), 0, "defines no get_inputs")
        self.expect(self.GOOD.replace("get_init_inputs", "init"), 0, "defines no get_init_inputs")

    def test_wrong_kinds_of_names(self):
        self.expect(self.GOOD.replace("(nn.Module)", ""), 3, "not a class derived")
        self.expect(self.GOOD + "\n    get_inputs = 3\n", 14, "not a function")

    def test_import_time_errors_and_exits(self):
        self.expect("x = 1\ny = x / 0\n", 2, "ZeroDivisionError")
        self.expect("import sys\nsys.exit(3)\n", 2, "SystemExit")
        self.expect("\n\nimport no_such_module_anywhere\n", 3, "No module named")

    def test_get_inputs(self):
        self.expect(self.GOOD.replace("return [torch.randn(16, 64)]", "raise ValueError('bad\\nluck')"), 10,
                    "get_inputs() raised ValueError: bad luck")
        self.expect(self.GOOD.replace("return [torch.randn(16, 64)]", "return torch.randn(4)"), 9, "must return a list")
        self.expect(self.GOOD.replace("return [torch.randn(16, 64)]", "return [{1, 2}]"), 0, "input 0", "set")
        self.expect(self.GOOD.replace("torch.randn(16, 64)", "torch.randn(16, 64).to_sparse()"), 0, "not a dense")

    def test_model(self):
        self.expect(self.GOOD.replace("self.dim = dim", "self.dim = dim.nothing"), 6, "AttributeError")
        self.expect(self.GOOD.replace("return [1]", "return [1, 2]"), 4, "Model() raised TypeError")
        self.expect(self.GOOD.replace("return torch.softmax(x, dim=self.dim)", "return self.forward(x)"), 8,
                    "RecursionError")
        self.expect(self.GOOD.replace("return torch.softmax(x, dim=self.dim)", "return x @ x"), 8, "forward raised")
        self.expect(self.GOOD.replace("return torch.softmax(x, dim=self.dim)", "return 3"), 7, "no tensor")
        self.expect(self.GOOD.replace("return torch.softmax(x, dim=self.dim)", "return x.add_(1)"), 7,
                    "overwrites its input 0")

    def test_init_arguments(self):
        self.expect(self.GOOD.replace("return [1]", "return [torch.zeros(1)]"), 0, "item 0 of get_init_inputs()")

    def test_inputs_that_change_their_form(self):
        changing = self.GOOD.replace("torch.randn(16, 64)", "torch.randn(int(torch.randint(2, 90, ())), 64)")
        self.expect(changing, 0, "at first")
        self.expect(self.GOOD.replace("torch.randn(16, 64)", "torch.randn(16, 64), float(torch.rand(()))"), 0,
                    "make it a 0-dimensional tensor")


if __name__ == "__main__":
    unittest.main()
