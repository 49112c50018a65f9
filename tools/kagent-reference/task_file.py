# SPDX-License-Identifier: Apache-2.0
"""task.py: loading it, calling what it defines, and saying which of its lines is wrong."""
import contextlib
import linecache
import random
import sys
import types

import torch

MODULE_NAME = "kagent_task"
MAX_MESSAGE = 600


class TaskInvalid(Exception):
    """What is wrong with task.py; line 0 where no line is to blame."""

    def __init__(self, message, line=0):
        super().__init__(message)
        self.message = message
        self.line = line


class OutOfMemory(Exception):
    """The task is too big for this machine; not its own fault."""


def one_line(error):
    text = " ".join(str(error).split())
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE - 1] + "…"


class TaskFile:
    """A loaded task. `path` is as this process sees it."""

    def __init__(self, path):
        self.path = path
        self._load()
        self.model_class = self._defined("Model", "class Model(nn.Module)")
        if not (isinstance(self.model_class, type) and issubclass(self.model_class, torch.nn.Module)):
            raise TaskInvalid("Model is not a class derived from torch.nn.Module", self._line_of_name("Model"))
        for name in ("get_inputs", "get_init_inputs"):
            if not callable(self._defined(name, f"def {name}()")):
                raise TaskInvalid(f"{name} is not a function", self._line_of_name(name))

    def get_inputs(self):
        return self._list_from("get_inputs")

    def get_init_inputs(self):
        return self._list_from("get_init_inputs")

    def construct(self, arguments):
        """A Model; TaskInvalid where its constructor raises."""
        return self.call("Model()", self.model_class, *arguments)

    def call(self, what, function, *arguments):
        """function(*arguments); what it raises becomes TaskInvalid at task.py's line."""
        try:
            return function(*arguments)
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise OutOfMemory(f"{what}: {one_line(error)}") from error
        except (Exception, SystemExit) as error:
            raise TaskInvalid(f"{what} raised {type(error).__name__}: {one_line(error)}".rstrip(": "),
                              self.line_of(error) or first_line(function, self.path)) from error

    def line_of(self, error):
        """The innermost line of task.py that the traceback goes through; 0 if none."""
        line = 0
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == self.path:
                line = step.tb_lineno
            step = step.tb_next
        return line

    def _list_from(self, name):
        function = getattr(self.module, name)
        value = self.call(f"{name}()", function)
        if not isinstance(value, (list, tuple)):
            raise TaskInvalid(f"{name}() returns a {type(value).__name__}; it must return a list",
                              first_line(function, self.path))
        return list(value)

    def _load(self):
        try:
            with open(self.path, "rb") as file:
                source = file.read()
        except OSError as error:
            raise TaskInvalid(f"cannot be read: {error.strerror}") from error
        try:
            code = compile(source, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise TaskInvalid(f"syntax error: {one_line(error.msg)}", error.lineno or 0) from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise TaskInvalid(f"is not Python source: {one_line(error)}") from error
        linecache.checkcache(self.path)
        self.module = types.ModuleType(MODULE_NAME)
        self.module.__file__ = self.path
        sys.modules[MODULE_NAME] = self.module   # dataclasses and inspect look there
        self.call("loading the file", exec, code, self.module.__dict__)

    def _defined(self, name, form):
        value = getattr(self.module, name, None)
        if value is None:
            raise TaskInvalid(f"defines no {name}; a task needs `{form}`")
        return value

    def _line_of_name(self, name):
        """Where the file last gives a meaning to a global name; 0 if that is not plain to see."""
        forms = (f"{name} ", f"{name}=", f"class {name}", f"def {name}")
        lines = [number for number, line in enumerate(linecache.getlines(self.path), 1) if line.startswith(forms)]
        return lines[-1] if lines else 0


def first_line(function, path):
    """Where a function of task.py, or a class's or module's own method, begins; 0 if elsewhere."""
    for candidate in (function, getattr(function, "__init__", None), getattr(function, "forward", None)):
        code = getattr(candidate, "__code__", None)
        if code is not None and code.co_filename == path:
            return code.co_firstlineno
    return 0


def seed_everything(seed):
    """seed: 0 to 2^64 - 1. torch on all devices, Python, and numpy if the task uses it."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        with contextlib.suppress(AttributeError):
            numpy.random.seed(seed % 2**32)
