#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the fixtures send is what the providers' own Python clients (PyPI: openai, anthropic) read: else a client that
passes on the fixtures might fail on the real thing. The clients live in a virtual environment of their own, made here on
the first run at KAGENT_CLIENT_VENV; exits with 77 (skipped) where they cannot be installed."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

PACKAGES = ["openai>=2,<4", "anthropic>=0.80,<3"]
VENV = pathlib.Path(os.environ["KAGENT_CLIENT_VENV"])
HERE = pathlib.Path(__file__).resolve()


def enter_venv():
    """Runs this file again with the clients at hand."""
    python = VENV / "bin/python3"
    ready = VENV / "ready"
    if not ready.exists():
        made = subprocess.run([sys.executable, "-m", "venv", VENV], text=True, capture_output=True)
        if made.returncode == 0:
            made = subprocess.run([python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "--retries", "1", *PACKAGES],
                                  text=True, capture_output=True)
        if made.returncode != 0:
            print(made.stdout + made.stderr)
            print(f"SKIPPED: the providers' clients ({', '.join(PACKAGES)}) could not be installed, so nothing was compared")
            sys.exit(77)
        ready.touch()
    sys.exit(subprocess.run([python, HERE], env=os.environ | {"KAGENT_IN_CLIENT_VENV": "1"}).returncode)


if "KAGENT_IN_CLIENT_VENV" not in os.environ:
    enter_venv()

import anthropic
import openai

import provider_streams as streams
from model_server import ModelServer
from provider_streams import Part, PartServer, answer, body_of

GOOD = {"text": "So.", "reasoning": "Hm.", "calls": streams.CALLS}
QUESTION = [{"role": "user", "content": "Begin."}]


class OfficialClients(unittest.TestCase):
    def start(self, server):
        self.addCleanup(server.close)
        return server.address

    def openai(self, address):
        client = openai.OpenAI(base_url=address + "/v1", api_key="sk-test", max_retries=0, timeout=20)
        self.addCleanup(client.close)
        return client

    def anthropic(self, address):
        client = anthropic.Anthropic(base_url=address, api_key="sk-test", max_retries=0, timeout=20)
        self.addCleanup(client.close)
        return client

    def openai_message(self, address):
        """Text, reasoning, calls, finish reason and usage as the client's chunks have them."""
        text, thought, calls, finish, usage = "", "", [], None, None
        for chunk in self.openai(address).chat.completions.create(model="fixture", messages=QUESTION, stream=True):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                text += choice.delta.content or ""
                thought += getattr(choice.delta, "reasoning_content", None) or getattr(choice.delta, "reasoning", None) or ""
                for piece in choice.delta.tool_calls or []:
                    if piece.id and piece.id not in [call["id"] for call in calls]:
                        calls.append({"id": piece.id, "index": piece.index, "name": piece.function.name, "arguments": ""})
                    calls[-1]["arguments"] += piece.function.arguments or ""
                    self.assertEqual(piece.index, calls[-1]["index"])
        return text, thought, [(call["name"], json.loads(call["arguments"])) for call in calls], finish, usage

    def test_chat_completions_streams(self):
        for name in streams.NAMES:
            if streams.api_of(name) == "anthropic":
                continue
            with self.subTest(name):
                text, thought, calls, finish, usage = self.openai_message(self.start(PartServer([Part(answer(body_of(name)))])))
                self.assertEqual((text, calls), (streams.TEXT, streams.CALLS))
                self.assertEqual(thought, "" if name in streams.WITHOUT_REASONING else "Hm.")
                self.assertEqual(finish, "stop" if name == "gemini" else "tool_calls")
                if name in streams.WITHOUT_USAGE:
                    self.assertIsNone(usage)
                    continue
                self.assertEqual((usage.prompt_tokens, usage.completion_tokens), (1000, 100))

    def test_chat_completions_accumulated(self):
        """The client's own way of putting a message together, where the stream numbers its calls as OpenAI does."""
        for name in "openai", "vllm", "sglang", "llamacpp", "deepseek":
            with self.subTest(name):
                address = self.start(PartServer([Part(answer(body_of(name)))]))
                with self.openai(address).chat.completions.stream(model="fixture", messages=QUESTION) as stream:
                    message = stream.get_final_completion().choices[0].message
                self.assertEqual([(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls],
                                 streams.CALLS)

    def test_messages_stream(self):
        with self.anthropic(self.start(PartServer([Part(answer(body_of("anthropic")))]))).messages.stream(
                model="fixture", max_tokens=100, messages=QUESTION) as stream:
            message = stream.get_final_message()
        self.assertEqual([block.type for block in message.content], ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"])
        self.assertEqual((message.content[0].thinking, message.content[0].signature), ("Hm.", "c2lnbmF0dXJl"))
        self.assertEqual(message.content[2].text, streams.TEXT)
        self.assertEqual([(block.name, block.input) for block in message.content[3:]], streams.CALLS)
        self.assertEqual((message.usage.input_tokens, message.usage.cache_read_input_tokens, message.usage.output_tokens),
                         (500, 400, 100))
        self.assertEqual(message.stop_reason, "tool_use")

    def test_the_other_fixture(self):
        """tests/cli/model_server.py makes its streams itself."""
        text, thought, calls, finish, usage = self.openai_message(self.start(ModelServer([GOOD])))
        self.assertEqual((text, thought, calls, finish, usage.completion_tokens), ("So.", "Hm.", streams.CALLS, "tool_calls", 100))
        with self.anthropic(self.start(ModelServer([GOOD]))).messages.stream(model="fixture", max_tokens=100, messages=QUESTION) as stream:
            message = stream.get_final_message()
        self.assertEqual([(block.name, block.input) for block in message.content if block.type == "tool_use"], streams.CALLS)
        with self.anthropic(self.start(ModelServer([{"refusal": "No."}]))).messages.stream(
                model="fixture", max_tokens=100, messages=QUESTION) as stream:
            self.assertEqual(stream.get_final_message().stop_reason, "refusal")

    def test_errors(self):
        busy = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        for status, kind in ((429, anthropic.RateLimitError), (529, anthropic.InternalServerError), (401, anthropic.AuthenticationError)):
            with self.subTest(status), self.assertRaises(kind):
                address = self.start(ModelServer([{"status": status, "body": busy}]))
                self.anthropic(address).messages.create(model="fixture", max_tokens=100, messages=QUESTION)
        broken = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
        with self.assertRaises(anthropic.APIStatusError):
            address = self.start(PartServer([Part(answer(body_of("anthropic").split(b"event: ping")[0] + broken.encode()))]))
            with self.anthropic(address).messages.stream(model="fixture", max_tokens=100, messages=QUESTION) as stream:
                stream.get_final_message()
        with self.assertRaises(openai.APIError):
            address = self.start(PartServer([Part(answer(b'data: {"error":{"message":"broken","type":"server_error"}}\n\n'))]))
            self.openai_message(address)


if __name__ == "__main__":
    unittest.main()
