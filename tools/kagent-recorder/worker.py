# SPDX-License-Identifier: Apache-2.0
"""One candidate, one child: forks it, reads what it says through a pipe, and believes nothing of it."""
import faulthandler
import gc
import json
import mmap
import os
import re
import resource
import select
import signal
import sys

from faults import KINDS, MAX_DETAIL, make_fault, one_line
from record import Recording

MAX_ANSWER_BYTES = 94 << 20        # what a plan at its caps needs, and a little less than a frame holds
MAX_ANSWER_ITEMS = 4_000_000       # commas and brackets: bounds the memory that parsing takes
MAX_DEPTH = 60
MAX_OUTPUT_BYTES = 64 << 20        # of the candidate's own printing
_PHASE_BYTES = 256
_OUTPUT_TAIL = 3000


class BadAnswer(Exception):
    """The child's answer is not what docs/protocol.md allows."""


def record_in_child(request, nest):
    """The answer to one `record` request, as a dict with "ok" or "fault" and nothing else. nest: confine.Nest."""
    phase = mmap.mmap(-1, _PHASE_BYTES)
    output = os.memfd_create("candidate-output", os.MFD_CLOEXEC)
    reader, writer = os.pipe()
    server = os.getpid()
    nest.prepare()
    pid = os.fork()
    if pid == 0:
        _child(request, nest, server, writer, output, phase)    # never returns
    nest.close_door()
    os.close(writer)
    text, status = _collect(pid, reader)
    try:
        if status == 0 and text is not None:
            return _with_output(_checked(text), output)
        return _crash_fault(status, text is None, phase, output)
    except BadAnswer as bad:
        return {"fault": make_fault("tampering", f"the recording gave something that is not a plan: {bad}",
                                    "model_new.py must not write to the recorder's descriptors")}
    finally:
        os.close(output)
        phase.close()


# --- in the child ---
def _child(request, nest, server, writer, output, phase):
    status = 70
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout.reconfigure(line_buffering=True)
        writer = _keep_only(writer)
        faulthandler.enable(file=2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_output()
        nest.enter(server)
        gc.enable()

        def on_phase(name):
            phase[:_PHASE_BYTES] = name.encode()[:_PHASE_BYTES].ljust(_PHASE_BYTES, b"\0")

        text = json.dumps(Recording(request, on_phase).answer(), separators=(",", ":")).encode("ascii")
        on_phase("answering")
        sys.stdout.flush()
        view = memoryview(text)
        while view:
            view = view[os.write(writer, view):]
        status = 0
    except BaseException as error:   # whatever it is, the fork must not return into the server's loop
        os.write(2, f"recorder: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _limit_output():
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = MAX_OUTPUT_BYTES if hard == resource.RLIM_INFINITY else min(hard, MAX_OUTPUT_BYTES)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _keep_only(descriptor):
    """Closes every descriptor but the standard ones and this one, which becomes number 3."""
    if descriptor != 3:
        os.dup2(descriptor, 3)
    os.closerange(4, 1 << 16)
    return 3


# --- in the server ---
def _collect(pid, reader):
    """(all bytes of the child or None where they are too many, its wait status)."""
    chunks, size = [], 0
    try:
        while size <= MAX_ANSWER_BYTES:
            select.select([reader], [], [])
            chunk = os.read(reader, 1 << 20)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
    finally:
        os.close(reader)
    # At the end of its answer the child has nothing left to do; one that is already dying keeps its own status.
    if size > MAX_ANSWER_BYTES:
        os.kill(pid, signal.SIGKILL)
    else:
        _give_time_to_exit(pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == 128 + signal.SIGABRT:      # in a PID namespace of its own abort() is an exit (src/sandbox/fresh_child)
        status = -signal.SIGABRT
    return (b"".join(chunks) if size <= MAX_ANSWER_BYTES else None), status


def _give_time_to_exit(pid):
    descriptor = os.pidfd_open(pid)
    try:
        if not select.select([descriptor], [], [], 2.0)[0]:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)


def _refuse_constant(name):
    raise BadAnswer(f"{name} is not JSON")


def _checked(text):
    """The answer in `text`, rebuilt from the fields that it may have."""
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > MAX_ANSWER_ITEMS:
        raise BadAnswer("too many items")
    try:
        answer = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
        json.dumps(answer, ensure_ascii=False).encode("utf-8")     # lone surrogates end here
    except (ValueError, RecursionError) as error:
        raise BadAnswer(one_line(error)[:200] or "no answer") from None
    if not isinstance(answer, dict) or len(answer) != 1:
        raise BadAnswer("neither a plan nor a fault")
    _check_depth(answer)
    if "fault" in answer:
        return {"fault": _checked_fault(answer["fault"])}
    body = answer.get("ok")
    if not isinstance(body, dict) or list(body) != ["plan"] or not isinstance(body["plan"], dict):
        raise BadAnswer("neither a plan nor a fault")
    return answer


def _check_depth(value):
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for node in level for item in (node.values() if isinstance(node, dict) else node)
                 if isinstance(item, (dict, list))]
        if not level:
            return
    raise BadAnswer("nested too deeply")


def _checked_fault(fault):
    if not isinstance(fault, dict) or fault.get("kind") not in KINDS:
        raise BadAnswer("a fault of no known kind")
    at = fault.get("at")
    if at is not None:
        if not (isinstance(at, dict) and isinstance(at.get("file"), str) and isinstance(at.get("line"), int)
                and 0 <= at["line"] < 2**31):
            raise BadAnswer("a fault at no line")
        at = at["file"][:500], at["line"]
    return make_fault(fault["kind"], fault.get("message", ""), fault.get("hint", ""), at, fault.get("detail", ""))


def _output_tail(output):
    size = os.fstat(output).st_size
    return os.pread(output, _OUTPUT_TAIL, max(0, size - _OUTPUT_TAIL)).decode("utf-8", "replace")


def _with_output(answer, output):
    """What the candidate printed helps where it failed."""
    if "fault" in answer:
        printed = _output_tail(output).strip()
        if printed:
            detail = answer["fault"]["detail"]
            answer["fault"]["detail"] = f"{detail}\nprinted:\n{printed}"[:MAX_DETAIL]
    return answer


def _crash_fault(status, too_long, phase, output):
    where = phase[:].rstrip(b"\0").decode("utf-8", "replace") or "start"
    if too_long:
        return {"fault": make_fault("unsupported", f"the recording is larger than {MAX_ANSWER_BYTES >> 20} MiB",
                                    "fewer steps, smaller constants")}
    printed = _output_tail(output)
    at = _crash_line(output)
    if status == 70:
        print(f"kagent-recorder: child failed in {where}: {printed[-500:]}", file=sys.stderr)
        return {"fault": make_fault("crash", f"recording broke down in {where}", "", at, printed)}
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        hint = "it may call itself without end" if -status == signal.SIGSEGV else ""
        message = f"{where} crashed the interpreter ({name})"
        return {"fault": make_fault("crash", message, hint, at, printed)}
    return {"fault": make_fault("crash", f"{where} ended the process (exit code {status})", "", at, printed)}


def _crash_line(output):
    """The innermost line of model_new.py in the traceback that faulthandler left, or None."""
    size = os.fstat(output).st_size
    text = os.pread(output, 1 << 16, max(0, size - (1 << 16))).decode("utf-8", "replace")
    found = re.search(r'Fatal Python error.*?File "[^"\n]*model_new\.py", line (\d{1,9}) ', text, re.S)
    return ("model_new.py", int(found.group(1))) if found else None
