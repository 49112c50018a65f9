# SPDX-License-Identifier: Apache-2.0
"""A provider on a loopback socket that says what a test wrote, in the wire format of either API, with every trouble a
network can make. Each answer is a dict: calls, text, and what is wrong with it (see _speak)."""
import json
import socket
import struct
import threading
import time


def openai_chunks(answer, number):
    base = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": "fixture"}
    def chunk(delta, finish=None):
        return base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield None, chunk({"role": "assistant", "content": ""})
    if answer.get("reasoning"):
        yield None, chunk({answer.get("reasoning_member", "reasoning_content"): answer["reasoning"]})
    text = answer.get("text", "")
    for at in range(0, len(text), 1 << 16):
        yield None, chunk({"content": text[at:at + (1 << 16)]})
    if answer.get("refusal"):
        yield None, chunk({"refusal": answer["refusal"]})
    calls = answer.get("calls", [])
    quirk = answer.get("quirk", "")
    for index, (name, arguments) in enumerate(calls):
        spelled = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"index": 0 if quirk == "index_zero" else index, "id": f"call_{number}_{index}", "type": "function",
                "function": {"name": name, "arguments": ""}}
        if quirk == "no_index":
            del call["index"]
        if quirk == "no_id":
            call["id"] = None
        if quirk == "signature":
            call["extra_content"] = {"google": {"thought_signature": "sig"}}
        yield None, chunk({"tool_calls": [call]})
        for piece in (spelled[:len(spelled) // 2], spelled[len(spelled) // 2:]):
            more = {"function": {"arguments": piece}}
            if quirk != "no_index":
                more["index"] = call["index"]
            yield None, chunk({"tool_calls": [more]})
    finish = answer.get("finish", "tool_calls" if calls else "stop")
    yield None, chunk({}, finish)
    yield None, base | {"choices": [], "usage": {"prompt_tokens": answer.get("prompt_tokens", 1000), "completion_tokens": 100, "total_tokens": 1100,
                                                "prompt_tokens_details": {"cached_tokens": 400}}}
    yield None, "[DONE]"


def anthropic_events(answer, number):
    usage = {"input_tokens": 600, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 100, "output_tokens": 1}
    message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "fixture", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    def event(kind, **members):
        return kind, {"type": kind} | members
    yield event("message_start", message=message)
    yield event("ping")
    index = 0
    def block(start, deltas):
        yield event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    if "reasoning" in answer:
        yield from block({"type": "thinking", "thinking": "", "signature": ""},
                         [{"type": "thinking_delta", "thinking": answer["reasoning"]},
                          {"type": "signature_delta", "signature": "c2ln"}])
        index += 1
    text = answer.get("text", "")
    if text:
        yield from block({"type": "text", "text": ""}, [{"type": "text_delta", "text": text[at:at + (1 << 16)]}
                                                        for at in range(0, len(text), 1 << 16)])
        index += 1
    for name, arguments in answer.get("calls", []):
        spelled = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(spelled) // 2
        yield from block({"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": {}},
                         [{"type": "input_json_delta", "partial_json": piece} for piece in (spelled[:half], spelled[half:])])
        index += 1
    delta = {"stop_reason": "tool_use" if answer.get("calls") else "end_turn", "stop_sequence": None}
    if answer.get("refusal"):
        delta = {"stop_reason": "refusal", "stop_sequence": None,
                 "stop_details": {"type": "refusal", "category": "frontier_llm", "explanation": answer["refusal"]}}
    yield event("message_delta", delta=delta, usage={"output_tokens": 100})
    yield event("message_stop")


def stream_of(answer, number, anthropic):
    events = anthropic_events(answer, number) if anthropic else openai_chunks(answer, number)
    for name, data in events:
        prefix = f"event: {name}\n" if name else ""
        yield (prefix + "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n").encode()


class ModelServer:
    """answers: one for each request, the last one again and again. requests: what was asked, as (headers, body)."""

    def __init__(self, answers, tls=None):
        """tls: an ssl.SSLContext; the address is then https."""
        self.answers, self.requests = list(answers), []
        self.tls = tls
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "%s://127.0.0.1:%d" % ("https" if tls else "http", self.socket.getsockname()[1])
        self.open = True
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.open = False
        self.socket.close()

    def _serve(self):
        while self.open:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._connection, args=(connection,), daemon=True).start()

    def _connection(self, connection):
        try:
            connection = self.tls.wrap_socket(connection, server_side=True) if self.tls else connection
        except OSError:
            return  # the client does not take our certificate
        with connection:
            try:
                while self._one(connection):
                    pass
            except OSError:
                pass

    def _one(self, connection):
        stream = connection.makefile("rb")
        line = stream.readline().decode()
        if not line:
            return False
        headers = {}
        while (header := stream.readline().decode().strip()):
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        number = len(self.requests)
        self.requests.append((headers, json.loads(body)))
        answer = self.answers[min(number, len(self.answers) - 1)]
        return self._speak(connection, answer, number, line.split()[1].endswith("/messages"))

    def _speak(self, connection, answer, number, anthropic):
        """status, headers, body: that answer instead of a stream. cut: bytes after which the connection ends (reset:
        with a reset). stall: seconds of silence after the headers. drip: seconds between bytes of the stream's start."""
        if "status" in answer:
            body = answer.get("body", "").encode()
            extra = "".join(f"{k}: {v}\r\n" for k, v in answer.get("headers", {}).items())
            connection.sendall(f"HTTP/1.1 {answer['status']} X\r\ncontent-type: application/json\r\n{extra}"
                               f"content-length: {len(body)}\r\n\r\n".encode() + body)
            return True
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        time.sleep(answer.get("stall", 0))
        sent = 0
        for piece in stream_of(answer, number, anthropic):
            piece = piece[:answer["cut"] - sent] if "cut" in answer else piece
            if "drip" in answer:
                for byte in piece[:40]:
                    connection.sendall(bytes([byte]))
                    time.sleep(answer["drip"])
                piece = piece[40:]
            connection.sendall(piece)
            sent += len(piece)
            if "cut" in answer and sent >= answer["cut"]:
                break
        if answer.get("reset"):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
