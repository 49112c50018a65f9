# SPDX-License-Identifier: Apache-2.0
"""The streams of tests/data/streams as whole HTTP answers, and a server that sends any part of them."""
import json
import pathlib
import socket
import struct
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "streams"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sse"))
# What each says, where it says it at all.
TEXT = "So."
CALLS = [("bash", {"command": "ls \u00fc"}), ("read_file", {"path": "a"})]
WITHOUT_REASONING = {"openai", "gemini", "llama-cpp-python"}
USAGE = {"input_tokens": 1000, "cached_tokens": 400, "output_tokens": 100}
WITHOUT_CACHE_FIGURES = {"ollama"}
WITHOUT_USAGE = {"llama-cpp-python"}


def api_of(name):
    return "anthropic" if name == "anthropic" else "openai"


def body_of(name):
    return (FOLDER / f"{name}.sse").read_bytes()


def answer(body, chunked=True, status="200 OK", kind="text/event-stream; charset=utf-8", headers=""):
    """One HTTP answer, as bytes. chunked: a chunk for each event, as streaming servers send them; else to the end of
    the connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{headers}"
    if not chunked:
        return head.encode() + b"Connection: close\r\n\r\n" + body
    gap = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    pieces = [piece + gap for piece in body.split(gap) if piece] if gap in body else [body]
    return (head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" +
            b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n")


class Part:
    """bytes, and what comes then: close, reset, silence (until the client goes), comments (the same, with comments), or
    one byte at a time."""

    def __init__(self, content, then="close", byte_wise=False):
        self.content, self.then, self.byte_wise = content, then, byte_wise


END = Part(answer(b'{"error": {"message": "all was said"}}', status="401 X", kind="application/json"))


class PartServer:
    """Answers each request with the next part, at last with END again and again; one connection after the other."""

    def __init__(self, parts):
        self.parts, self.asked = parts, 0
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                try:
                    self._one(connection)
                except OSError:
                    pass  # the client has gone

    def _one(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = b""
        while b"\r\n\r\n" not in request:
            if not (more := connection.recv(65536)):
                return
            request += more
        head, _, body = request.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        while len(body) < length:
            body += connection.recv(65536)
        json.loads(body)
        part = self.parts[self.asked] if self.asked < len(self.parts) else END
        self.asked += 1
        for piece in ([bytes([b]) for b in part.content] if part.byte_wise else [part.content]):
            connection.sendall(piece)
        if part.then == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif part.then == "silence":
            connection.settimeout(10)
            connection.recv(1)
        elif part.then == "comments":
            for _ in range(500):
                connection.sendall(b": still here\n\n")
                time.sleep(0.02)
