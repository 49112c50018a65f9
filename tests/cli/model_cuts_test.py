#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every provider's stream, cut at every byte of the HTTP answer: the client asks again until it has all of the reply, and
what it has is the same each time. The same for busy servers' answers; resets, silence, comments without end, errors
within the stream, one byte at a time. One process of KAGENT_MODEL_PROBE and one server a case."""
import json
import os
import pathlib
import subprocess
import time
import unittest

import provider_streams as streams
from provider_streams import Part, PartServer, answer, body_of

PROBE = os.environ["KAGENT_MODEL_PROBE"]
SHARE = str(pathlib.Path(__file__).resolve().parents[2] / "share")
PATIENT = "connect=5,first=20,idle=20,total=60"
HASTY = "connect=5,first=0.6,idle=0.6,total=60"  # what a busy machine can keep
# Parts that fail between two whole answers: fewer than the retries.
GROUP = 12

ERRORS = {
    "anthropic": 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "openai": 'data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}\n\n',
    "vllm": 'data: {"error":{"message":"EngineCore died","type":"InternalServerError","param":null,"code":500}}\n\ndata: [DONE]\n\n',
    "sglang": 'data: {"object":"error","message":"aborted","error":{"message":"aborted","code":500}}\n\n',
    "llamacpp": 'error: {"code":500,"message":"slot lost","type":"server_error"}\n\ndata: {"error":{"code":500,"message":"slot lost"}}\n\n',
    "ollama": 'data: {"error":{"message":"runner stopped","type":"api_error","param":null,"code":null}}\n\n',
    "openrouter": 'data: {"id":"gen-1","object":"chat.completion.chunk","error":{"code":502,"message":"Provider disconnected"},'
                  '"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n',
    "gemini": 'data: [{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]\n\n',
}


class ModelCuts(unittest.TestCase):
    def ask(self, name, parts, timeouts=PATIENT):
        """Plays the parts to the end; returns the replies."""
        server = PartServer(parts)
        self.addCleanup(server.close)
        api = streams.api_of(name)
        base = server.address + ("" if api == "anthropic" else "/v1")
        done = subprocess.run([PROBE, f"{api}/fixture", base, timeouts, str(GROUP + 1), str(len(parts) + 1), SHARE, "fresh"],
                              text=True, capture_output=True, timeout=120,
                              env={"ANTHROPIC_API_KEY": "sk-test", "OPENAI_API_KEY": "sk-test", "NO_PROXY": "*"})
        self.assertEqual(done.returncode, 0, done.stderr)
        replies = [json.loads(line) for line in done.stdout.splitlines()]
        last = replies.pop()
        self.assertIn("all was said", last.get("error", "no error"))
        self.assertEqual(last["exit"], 3)
        self.assertEqual(server.asked, len(parts) + 1)
        return replies

    def assert_all_there(self, name, replies, at_least):
        """at_least: how many have their usage too. A stream that ends between its last word and its usage has all that
        was said."""
        self.assertGreaterEqual(len(replies), at_least)
        self.assertEqual(len({reply["raw"] for reply in replies}), 1)
        expected = dict(streams.USAGE, **({"cached_tokens": 0} if name in streams.WITHOUT_CACHE_FIGURES else {}))
        counted = 0
        for reply in replies:
            self.assertEqual(reply["text"], streams.TEXT)
            self.assertEqual([(call["tool"], json.loads(call["arguments"])) for call in reply["calls"]], streams.CALLS)
            self.assertEqual(len({call["id"] for call in reply["calls"]}), 2)
            self.assertEqual(reply["end"], "tool_calls")
            counted += all(reply["usage"][figure] == value for figure, value in expected.items())
            self.assertTrue(counted or reply["usage"]["output_tokens"] == 0 or name in streams.WITHOUT_USAGE)
        if name not in streams.WITHOUT_USAGE:
            self.assertGreaterEqual(counted, at_least)
        raw = replies[0]["raw"]
        self.assertEqual("Hm." in raw or '"H"' in raw, name not in streams.WITHOUT_REASONING, raw)
        if name == "vllm":  # for trainers, and not to go back
            self.assertNotIn("token_ids", raw)
            tokens = {reply["tokens"] for reply in replies}
            self.assertEqual(len(tokens), 1)
            tokens = json.loads(tokens.pop())
            self.assertEqual((tokens["prompt_token_ids"], tokens["token_ids"]), ([1, 2, 3], list(range(11, 21))))
            self.assertEqual([(each["token"], each["logprob"]) for each in tokens["logprobs"]], [("So", -0.25), (".", -0.5)])
        else:
            self.assertNotIn("tokens", replies[0])
        for kept, where in (("c2ln", ("anthropic", "gemini", "openrouter")), ("b3BhcXVl", ("anthropic",))):
            self.assertEqual(kept in raw, name in where)

    @staticmethod
    def grouped(bad, good):
        """Bad parts with a good one after each GROUP of them and at the end."""
        parts = []
        for at, part in enumerate(bad):
            parts.append(part)
            if at % GROUP == GROUP - 1:
                parts.append(good)
        return parts + [good]

    def play(self, name, bad, timeouts=PATIENT, chunked=True):
        good = Part(answer(body_of(name), chunked))
        parts = self.grouped(bad, good)
        replies = self.ask(name, parts, timeouts)
        self.assert_all_there(name, replies, sum(part is good for part in parts))
        return replies

    def test_cut_at_every_byte(self):
        for name in streams.NAMES:
            whole = answer(body_of(name))
            with self.subTest(name):
                self.play(name, [Part(whole[:cut]) for cut in range(len(whole))])

    def test_cut_without_chunks(self):
        """Then the end of the connection looks like the end of the answer."""
        for name, last_word in ("anthropic", b'{"type":"message_stop"}'), ("ollama", b'"finish_reason":"tool_calls"}]}'):
            whole = answer(body_of(name), chunked=False)
            bad = [Part(whole[:cut]) for cut in range(len(whole))]
            with self.subTest(name):
                replies = self.play(name, bad, chunked=False)
                # Nothing is asked twice once the last word is there.
                enough = whole.index(last_word) + len(last_word)
                self.assertEqual(len(replies), len(whole) - enough + 1 + len(bad) // GROUP)

    def test_resets(self):
        for name in streams.NAMES:
            whole = answer(body_of(name))
            with self.subTest(name):
                self.play(name, [Part(whole[:cut], "reset") for cut in range(0, len(whole), 17)])

    def test_busy_servers_cut_at_every_byte(self):
        for status in "429 Too Many Requests", "529 X":
            for wish in "retry-after-ms: 0\r\n", "Retry-After: 0\r\n":
                whole = answer(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', status=status,
                               kind="application/json", headers=wish)
                with self.subTest(status=status, wish=wish):
                    self.play("anthropic", [Part(whole[:cut]) for cut in range(len(whole) + 1)])

    def test_errors_within_the_stream(self):
        for name, error in ERRORS.items():
            events = body_of(name).split(b"\n\n")
            bad = [Part(answer(b"\n\n".join(events[:count] + [error.encode()]))) for count in range(0, len(events) // 2, 2)]
            with self.subTest(name):
                self.play(name, bad)

    def test_silence_and_comments(self):
        for name in "anthropic", "openrouter":
            whole = answer(body_of(name), chunked=False)
            bad = [Part(whole[:cut], then) for cut in (0, len(whole) // 2) for then in ("silence", "comments")]
            with self.subTest(name):
                started = time.monotonic()
                self.play(name, bad, HASTY, chunked=False)
                self.assertLess(time.monotonic() - started, 15)

    def test_one_byte_at_a_time(self):
        for name in streams.NAMES:
            with self.subTest(name):
                self.play(name, [Part(answer(body_of(name)), byte_wise=True)])


if __name__ == "__main__":
    unittest.main()
