# SPDX-License-Identifier: Apache-2.0
"""Answers requests on the channel until kagent closes it."""
import os
import sys
import traceback

import torch

from kagent_channel import ChannelClosed
from worker import record_in_child


class BadRequest(Exception):
    pass


def serve(channel, nest):
    """Returns when the peer is gone. nest: confine.Nest."""
    while True:
        try:
            request, descriptors = channel.receive()
        except ChannelClosed:
            return
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            answer = _answer(request, nest)
        except BadRequest as bad:
            answer = {"error": {"message": f"recorder: {bad}"}}
        except Exception as error:   # fork, memory, a bug of ours: the next candidate must not suffer for it
            traceback.print_exc()
            answer = {"error": {"message": f"recorder: {type(error).__name__}: {error}"}}
        channel.send(answer)


def _answer(request, nest):
    kind = request.get("type")
    if kind == "hello":
        return {"ok": {"pid": os.getpid(), "torch": str(torch.__version__)}}
    if kind == "record":
        _check_record(request)
        _warn_of_threads()
        return record_in_child(request, nest)
    raise BadRequest(f"unknown request {kind!r}")


def _warn_of_threads():
    """A child forked beside other threads inherits locks that nobody releases."""
    try:
        threads = len(os.listdir("/proc/self/task"))
    except OSError:
        return
    if threads != 1:
        print(f"kagent-recorder: {threads} threads before a fork", file=sys.stderr)


def _check_record(request):
    for name, kind in (("candidate", str), ("signature", dict), ("device", dict)):
        if not isinstance(request.get(name), kind):
            raise BadRequest(f"record needs '{name}'")
    for name, words in (("backend", ("cuda", "cpu")), ("mode", ("eval", "train"))):
        if request.get(name) not in words:
            raise BadRequest(f"record needs '{name}', one of {', '.join(words)}")
    for name in ("init", "inputs", "weights"):
        if not isinstance(request["signature"].get(name), list):
            raise BadRequest(f"record needs 'signature.{name}'")
    if not isinstance(request.setdefault("tunables", {}), dict):
        raise BadRequest("'tunables' maps names to integers")
    if not os.path.isdir(request["candidate"]):
        raise BadRequest(f"there is no folder {request['candidate']}")
