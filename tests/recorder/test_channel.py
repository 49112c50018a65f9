# SPDX-License-Identifier: Apache-2.0
"""Frames in Python, against their bytes."""
import os
import socket
import struct
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["KAGENT_LIBEXEC"], "shared-python"))
from kagent_channel import Channel, ChannelClosed, ChannelError  # noqa: E402


class Frames(unittest.TestCase):
    def setUp(self):
        self.raw, other = socket.socketpair()
        self.channel = Channel(other)
        self.addCleanup(self.raw.close)
        self.addCleanup(self.channel.close)

    def test_bytes(self):
        self.channel.send({"a": "é"})
        text = '{"a":"é"}'.encode()
        self.assertEqual(b"KGT1" + struct.pack("<II", len(text), 0) + text, self.raw.recv(1000))
        self.raw.sendall(b"KGT1" + struct.pack("<II", len(text), 0) + text)
        self.assertEqual(({"a": "é"}, []), self.channel.receive())

    def test_large_frames_and_descriptors(self):
        reader, writer = os.pipe()
        peer = Channel(self.raw.dup())
        self.addCleanup(peer.close)
        sender = threading.Thread(target=peer.send, args=({"x": "y" * 3_000_000}, [reader, writer]))
        sender.start()
        body, descriptors = self.channel.receive()
        sender.join()
        self.assertEqual(3_000_000, len(body["x"]))
        self.assertFalse(any(os.get_inheritable(descriptor) for descriptor in descriptors))
        os.write(descriptors[1], b"through")
        self.assertEqual(b"through", os.read(reader, 100))
        for descriptor in (reader, writer, *descriptors):
            os.close(descriptor)

    def refused(self, data, words, kind=ChannelError):
        self.raw.sendall(data)
        self.raw.shutdown(socket.SHUT_WR)
        with self.assertRaisesRegex(kind, words):
            self.channel.receive()

    def test_wrong_magic(self):
        self.refused(b"KGT2" + bytes(8), "magic")

    def test_too_long(self):
        self.refused(b"KGT1" + struct.pack("<II", (96 << 20) + 1, 0), "too long")

    def test_missing_descriptors(self):
        self.refused(b"KGT1" + struct.pack("<II", 2, 1) + b"{}", "names 1 descriptors, 0 came")

    def test_cut_short(self):
        self.refused(b"KGT1" + struct.pack("<II", 5, 0) + b"{}", "inside a frame")

    def test_no_object(self):
        self.refused(b"KGT1" + struct.pack("<II", 2, 0) + b"[]", "not a JSON object")

    def test_no_json(self):
        self.refused(b"KGT1" + struct.pack("<II", 4, 0) + b"{\xff}}", "not JSON")

    def test_nan(self):
        self.refused(b"KGT1" + struct.pack("<II", 9, 0) + b'{"a":NaN}', "not JSON")

    def test_closed_between_frames(self):
        self.refused(b"", "closed", ChannelClosed)

    def test_refused_descriptors_are_closed(self):
        before = len(os.listdir("/proc/self/fd"))
        reader, writer = os.pipe()
        socket.send_fds(self.raw, [b"KGT1" + struct.pack("<II", 2, 1) + b"[]"], [reader])
        with self.assertRaises(ChannelError):
            self.channel.receive()
        os.close(reader)
        os.close(writer)
        self.assertEqual(before, len(os.listdir("/proc/self/fd")))


if __name__ == "__main__":
    unittest.main()
