# SPDX-License-Identifier: Apache-2.0
"""Asks kagent-builder for images, over the frames of docs/protocol.md."""
import atexit
import os
import socket
import sys

from kagent.launch import LaunchError


def libexec_folder():
    """Where kagent's programs are: KAGENT_LIBEXEC, or beside this package, which lies in libexec/kagent/python."""
    named = os.environ.get("KAGENT_LIBEXEC")
    return named or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


class BuildError(LaunchError):
    """A kernel that does not compile; the message carries the compiler's log."""


class Builder:
    """The builder as a child process, started at the first build; it ends with this process."""

    def __init__(self):
        self._channel = None

    def build(self, request):
        """(BuildResult as a dict, the units' images as descriptors that the caller owns)."""
        if self._channel is None:
            self._start()
        try:
            self._channel.send(dict(request, type="build"))
            answer, images = self._channel.receive()
        except Exception as error:
            self._channel = None
            raise RuntimeError(f"kagent-builder went away: {error}") from error
        if "ok" in answer:
            return answer["ok"]["build"], images
        for image in images:
            os.close(image)
        if "fault" in answer:
            raise BuildError(_fault_text(answer["fault"]))
        raise RuntimeError(f"kagent-builder: {answer.get('error', {}).get('message', answer)}")

    def _start(self):
        libexec = libexec_folder()
        program = os.path.join(libexec, "kagent-builder")
        if not os.access(program, os.X_OK):
            raise RuntimeError(f"no kagent-builder in {libexec}; set KAGENT_LIBEXEC to kagent's libexec/kagent folder")
        shared = os.path.join(libexec, "shared-python")
        if shared not in sys.path:
            sys.path.append(shared)
        from kagent_channel import Channel
        ours, theirs = socket.socketpair()
        pid = os.posix_spawn(program, [program], os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)])
        theirs.close()
        self._channel = Channel(ours)
        atexit.register(_end, ours, pid)


def _end(sock, pid):
    """Closing the channel ends the builder."""
    sock.close()
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def _fault_text(fault):
    at = fault.get("at") or {}
    place = f"{at['file']}:{at['line']}: " if at.get("file") else ""
    lines = [place + fault.get("message", fault.get("kind", ""))]
    lines += [text for text in (fault.get("hint"), fault.get("detail")) if text]
    return "\n".join(lines)
