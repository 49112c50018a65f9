# SPDX-License-Identifier: Apache-2.0
"""Frames between kagent and its workers: one JSON object and file descriptors over a Unix stream socket.

docs/protocol.md has the bytes. A peer that breaks the format ends the conversation: ChannelError.
"""
import array
import json
import os
import socket
import struct

MAGIC = b"KGT1"
HEADER = struct.Struct("<4sII")
MAX_FRAME_BYTES = 96 << 20
MAX_FRAME_DESCRIPTORS = 250
CHANNEL_DESCRIPTOR = 3


class ChannelError(Exception):
    """The peer sent something that is not a frame, or went away inside one."""


class ChannelClosed(ChannelError):
    """The peer closed its end between two frames."""


def _refuse(what):
    raise ValueError(f"{what} is not JSON")


def parse_object(text):
    """The JSON object that `text` (bytes) holds; ChannelError where it holds anything else."""
    try:
        body = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ChannelError(f"frame is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise ChannelError("frame is not a JSON object")
    return body


def to_text(body):
    """UTF-8 JSON of a dict; ValueError for inf and nan, UnicodeEncodeError for lone surrogates."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


def _descriptors_in(ancillary):
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
    return list(descriptors)


class Channel:
    """One end of a conversation; owns its socket. Not for use from several threads at once."""

    def __init__(self, sock):
        self._socket = sock

    @classmethod
    def from_descriptor(cls, descriptor=CHANNEL_DESCRIPTOR):
        """Takes over an inherited socket and keeps programs started later from inheriting it."""
        os.set_inheritable(descriptor, False)
        return cls(socket.socket(fileno=descriptor))

    def fileno(self):
        return self._socket.fileno()

    def close(self):
        self._socket.close()

    def send(self, body, descriptors=()):
        """Sends a dict. Descriptors are duplicated into the peer; the caller keeps its own."""
        self.send_text(to_text(body), descriptors)

    def send_text(self, text, descriptors=()):
        """Sends bytes that are known to be one JSON object."""
        if len(text) > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {len(text)} bytes is longer than {MAX_FRAME_BYTES}")
        if len(descriptors) > MAX_FRAME_DESCRIPTORS:
            raise ValueError(f"{len(descriptors)} descriptors are more than {MAX_FRAME_DESCRIPTORS}")
        header = HEADER.pack(MAGIC, len(text), len(descriptors))
        try:
            sent = socket.send_fds(self._socket, [header], list(descriptors)) if descriptors else 0
            self._socket.sendall(header[sent:])
            self._socket.sendall(text)
        except (BrokenPipeError, ConnectionResetError):
            raise ChannelClosed("the peer has gone") from None

    def receive(self):
        """Waits for one frame: (dict, list of descriptors, which the caller now owns)."""
        descriptors = []
        try:
            header, descriptors = self._receive_header()
            magic, length, count = HEADER.unpack(header)
            if magic != MAGIC:
                raise ChannelError("frame has the wrong magic")
            if length > MAX_FRAME_BYTES:
                raise ChannelError(f"frame of {length} bytes is too long")
            if count != len(descriptors):
                raise ChannelError(f"frame names {count} descriptors, {len(descriptors)} came")
            return parse_object(self._receive_exactly(length)), descriptors
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise

    def _receive_header(self):
        try:
            # Not socket.recv_fds: Python 3.11's ignores the flags, and close-on-exec with them.
            header, ancillary, flags, _ = self._socket.recvmsg(
                HEADER.size, socket.CMSG_LEN(MAX_FRAME_DESCRIPTORS * 4), socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            raise ChannelClosed("the peer has gone") from None
        descriptors = _descriptors_in(ancillary)
        try:
            if flags & socket.MSG_CTRUNC:
                raise ChannelError("descriptors were cut off")
            if not header:
                raise ChannelClosed("the peer has closed the channel")
            return header + self._receive_exactly(HEADER.size - len(header)), descriptors
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise

    def _receive_exactly(self, length):
        data = bytearray(length)
        view = memoryview(data)
        done = 0
        while done < length:
            try:
                got = self._socket.recv_into(view[done:])
            except ConnectionResetError:
                got = 0
            if got == 0:
                raise ChannelError("the peer went away inside a frame")
            done += got
        return bytes(data)
