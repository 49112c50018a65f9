# SPDX-License-Identifier: Apache-2.0
"""What a candidate did wrong, as the Fault of docs/protocol.md."""
import os
import sys
import traceback

from kagent import LaunchError

KINDS = frozenset((
    "build_failed", "forbidden_op", "no_custom_kernel", "bad_launch", "shape", "dtype", "mismatch", "non_finite",
    "input_modified", "input_specific", "nondeterministic", "out_of_bounds", "crash", "timeout", "out_of_memory",
    "tampering", "unsupported"))
MAX_LINE = 1000
MAX_DETAIL = 4000


class CandidateFault(BaseException):
    """Carries a Fault out of candidate code; not an Exception, so that a plain `except Exception:` lets it pass."""

    def __init__(self, kind, message, hint="", at=None, detail=""):
        super().__init__(message)
        self.fault = make_fault(kind, message, hint, at, detail)


def one_line(text):
    line = " ".join(str(text).split())
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + " …"


def make_fault(kind, message, hint="", at=None, detail=""):
    fault = {"kind": kind, "message": one_line(message), "hint": one_line(hint), "detail": str(detail)[-MAX_DETAIL:]}
    if at is not None:
        fault["at"] = {"file": at[0], "line": at[1]}
    return fault


class SourceLines:
    """Finds which line of the candidate is being executed. Folder: where the candidate lies."""

    def __init__(self, folder):
        self._prefix = os.path.join(os.path.realpath(folder), "")

    def relative(self, filename):
        """Path relative to the candidate, or None for a file that is not the candidate's."""
        return filename[len(self._prefix):] if filename.startswith(self._prefix) else None

    def current(self):
        """(file, line) of the innermost candidate frame now running, or None."""
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self._prefix):
                return name[len(self._prefix):], frame.f_lineno
            frame = frame.f_back
        return None

    def of_traceback(self, trace):
        """(file, line) of the innermost candidate frame that an exception passed through, or None."""
        found = None
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if name.startswith(self._prefix):
                found = name[len(self._prefix):], trace.tb_lineno
            trace = trace.tb_next
        return found

    def shorten(self, error):
        """The candidate's own frames of a traceback, and what was raised."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if frame.filename.startswith(self._prefix)]
        text = []
        if len(frames) > 12:
            text.append(f"  … {len(frames) - 12} frames left out\n")
            frames = frames[-12:]
        for frame in traceback.StackSummary.from_list(frames).format():
            text.append(frame.replace(self._prefix, ""))
        text.append("".join(traceback.format_exception_only(type(error), error))[-2000:])
        return "".join(text)


# Exceptions of fake tensors, by class name: what the trace cannot follow, not what the candidate got wrong.
_UNTRACEABLE = {
    "DataDependentOutputException": (
        "needs a tensor's value while forward is being recorded",
        "forward must be the same for all values: keep the decision on the device, inside a kernel"),
    "DynamicOutputShapeException": (
        "makes a tensor whose shape depends on values",
        "use an operator with a fixed output shape, or a kernel that writes into a buffer of the largest size"),
    "UnsupportedOperatorException": ("cannot be recorded", "write it as a kernel"),
    "UnsupportedFakeTensorException": ("cannot be recorded", "write it as a kernel"),
}
_NO_DEVICE = ("no nvidia driver", "no cuda gpus", "not compiled with cuda", "cuda driver version", "cudageterror")


def fault_of(error, lines, phase):
    """The Fault for whatever `error` the candidate's code ended with in `phase` ("forward", …)."""
    if isinstance(error, CandidateFault):
        fault = dict(error.fault)
        if "at" not in fault:
            at = lines.of_traceback(error.__traceback__)
            if at is not None:
                fault["at"] = {"file": at[0], "line": at[1]}
        return fault
    at = lines.of_traceback(error.__traceback__)
    detail = lines.shorten(error)
    text = one_line(error)
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename and lines.relative(error.filename) is not None:
        at = lines.relative(error.filename), error.lineno or 0
        return make_fault("crash", f"{name}: {error.msg}", "mend the syntax", at, detail)
    if name in _UNTRACEABLE and type(error).__module__.startswith("torch."):
        what, hint = _UNTRACEABLE[name]
        return make_fault("unsupported", f"{text.split(' ')[0]} {what}", hint, at, detail)
    if isinstance(error, MemoryError) or "can't allocate memory" in text:
        return make_fault("out_of_memory", f"{phase} ran out of host memory: {text}", "", at, detail)
    if any(words in text.lower() for words in _NO_DEVICE):
        return make_fault(
            "unsupported", f"{phase} asks for the GPU, and none is visible while a candidate is recorded: {text}",
            "make tensors on the CPU in __init__ (kagent moves them) and with device=x.device in forward", at, detail)
    if isinstance(error, LaunchError):
        return make_fault("bad_launch", text, "", at, detail)
    if "active drivers" in text or name in ("TritonError", "CompilationError"):
        return make_fault("unsupported", f"{phase} uses Triton, which cannot be recorded: {text}",
                          "write the kernel in CUDA C++ under kernels/", at, detail)
    hint = ""
    if isinstance(error, RecursionError):
        hint = "it calls itself without end"
    if isinstance(error, PermissionError):
        hint = "programs, processes, sockets and signals are not there while a candidate is recorded; " \
               "device code belongs into kernels/, for kagent.kernel"
    if isinstance(error, SystemExit):
        return make_fault("crash", f"{phase} called exit({error.code!r})", "", at, detail)
    return make_fault("crash", f"{phase} raised {name}: {text}" if text else f"{phase} raised {name}", hint, at, detail)
