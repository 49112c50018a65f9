# SPDX-License-Identifier: Apache-2.0
"""One request after the other, until kagent closes the channel (docs/protocol.md, "Reference")."""
import os
import sys
import traceback

import torch

import kagent_native as native
from kagent_channel import ChannelClosed
from session import Session, WrongRequest
from task_file import OutOfMemory, TaskInvalid, one_line

REQUESTS = ("open", "share", "trial", "variant", "restore", "audit", "compare", "instruments", "compile", "time", "loop")


def serve(channel):
    session = Session()
    while True:
        try:
            request, descriptors = channel.receive()
        except ChannelClosed:
            return
        try:
            answer, sent = handle(session, request, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        try:
            channel.send(answer, sent)
        except ChannelClosed:
            return
        finally:
            for descriptor in sent:
                os.close(descriptor)


def handle(session, request, descriptors):
    """The answer and the descriptors that go with it; these are closed after sending."""
    kind = request.get("type")
    try:
        if kind == "hello":
            return {"ok": {"torch": torch.__version__, "python": sys.version.split()[0]}}, []
        if kind not in REQUESTS:
            raise WrongRequest(f"reference: no such request: {kind!r}")
        answer = getattr(session, kind)(request, descriptors)
        return {"ok": answer[0]}, answer[1]
    except TaskInvalid as error:
        return {"task_invalid": {"message": error.message, "line": error.line}}, []
    except native.TaskError as error:
        return {"task_invalid": {"message": one_line(error), "line": 0}}, []
    except (OutOfMemory, torch.OutOfMemoryError, MemoryError) as error:
        return {"error": {"message": f"reference: out of memory: {one_line(error)}"}}, []
    except WrongRequest as error:
        return {"error": {"message": str(error)}}, []
    except Exception as error:   # a bug of ours or of a library: the log has the rest
        traceback.print_exc()
        return {"error": {"message": f"reference: {kind}: {type(error).__name__}: {one_line(error)}"}}, []
