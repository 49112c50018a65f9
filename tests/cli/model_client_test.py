#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTTP client against real sockets, without a judge: KAGENT_MODEL_PROBE asks one question and prints the reply.

Both wire formats, their quirks, streams cut at many offsets, busy servers, resets, stalls and slow drips."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from model_server import ModelServer, stream_of

PROBE = os.environ["KAGENT_MODEL_PROBE"]
SHARE = str(pathlib.Path(__file__).resolve().parents[2] / "share")
KEY = "sk-canary-0123456789"
GOOD = {"text": "So.", "reasoning": "Hm.", "calls": [("bash", {"command": "ls \u00fc"}), ("read_file", {"path": "a"})]}
FAST = "connect=2,first=0.4,idle=0.4,total=20"


class ModelClient(unittest.TestCase):
    def ask(self, api, answers, retries=4, asks=1, environment=None):
        server = ModelServer(answers)
        self.addCleanup(server.close)
        base = server.address if api == "anthropic" else server.address + "/v1"
        variable = "ANTHROPIC" if api == "anthropic" else "OPENAI"
        done = subprocess.run([PROBE, f"{api}/model", base, FAST, str(retries), str(asks), SHARE], text=True, capture_output=True,
                              timeout=60, env={f"{variable}_API_KEY": KEY, "NO_PROXY": "*"} | (environment or {}))
        self.assertNotIn(KEY, done.stdout + done.stderr)
        self.server = server
        return done

    def reply(self, *arguments, **named):
        done = self.ask(*arguments, **named)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.peak_kib = int(re.search(r"VmHWM:\s+(\d+) kB", done.stderr)[1])
        self.first = json.loads(done.stdout.splitlines()[0])["raw"]
        return json.loads(done.stdout.splitlines()[-1])

    def assert_good(self, reply):
        self.assertEqual(reply["text"], "So.")
        self.assertEqual([c["tool"] for c in reply["calls"]], ["bash", "read_file"])
        self.assertEqual(json.loads(reply["calls"][0]["arguments"]), {"command": "ls \u00fc"})
        self.assertEqual(len({c["id"] for c in reply["calls"]}), 2)

    def test_both_formats(self):
        for api in "openai", "anthropic":
            with self.subTest(api):
                reply = self.reply(api, [GOOD])
                self.assert_good(reply)
                self.assertEqual(reply["usage"]["input_tokens"], 1000)
                self.assertEqual(reply["usage"]["output_tokens"], 100)
                self.assertIn("Hm.", reply["raw"])
                headers, body = self.server.requests[0]
                self.assertIn(KEY, headers["x-api-key" if api == "anthropic" else "authorization"])
                self.assertTrue(body["stream"])
                self.assertNotIn("temperature", body)
        self.assertIn("c2ln", reply["raw"])  # the thinking block's signature

    def test_raw_goes_back_unchanged(self):
        for api in "openai", "anthropic":
            with self.subTest(api):
                reply = self.reply(api, [GOOD], asks=2)
                sent = [m for m in self.server.requests[1][1]["messages"] if m["role"] == "assistant"]
                self.assertEqual(sent, [json.loads(self.first)])
                self.assertNotEqual(reply["raw"], self.first)

    def test_quirks(self):
        for quirk in "index_zero", "no_index", "no_id", "signature":
            with self.subTest(quirk):
                reply = self.reply("openai", [GOOD | {"quirk": quirk}])
                self.assert_good(reply)
                self.assertEqual("thought_signature" in reply["raw"], quirk == "signature")
        for finish in "stop", "length", None:
            with self.subTest(finish):
                self.assertEqual(len(self.reply("openai", [GOOD | {"finish": finish}])["calls"]), 2)
        self.assertIn("reasoning", self.reply("openai", [GOOD | {"reasoning_member": "reasoning"}])["raw"])

    def test_cut_streams_are_repeated(self):
        for api in "openai", "anthropic":
            size = sum(map(len, stream_of(GOOD | {"usage": False}, 0, api == "anthropic")))
            for cut in 1, size // 3, size // 2, size * 3 // 5:
                for reset in False, True:
                    with self.subTest(api=api, cut=cut, reset=reset):
                        self.assert_good(self.reply(api, [GOOD | {"cut": cut, "reset": reset}, GOOD]))
                        self.assertEqual(len(self.server.requests), 2)

    def test_busy_servers(self):
        for status in 429, 529, 503, 500:
            with self.subTest(status):
                busy = {"status": status, "headers": {"retry-after-ms": "20"}, "body": '{"error": {"message": "busy"}}'}
                self.assert_good(self.reply("anthropic", [busy, busy, GOOD]))

    def test_stalls_and_drips(self):
        self.assert_good(self.reply("openai", [GOOD | {"stall": 3}, GOOD]))
        self.assert_good(self.reply("openai", [GOOD | {"drip": 0.001}]))

    def test_what_is_not_repeated(self):
        for status, words in ((401, "the key is not accepted"), (404, "no such model"), (402, "no credit"),
                              (400, "refuses the request"), (302, "redirects")):
            with self.subTest(status):
                body = json.dumps({"error": {"message": f"it is wrong, {KEY}"}})
                done = self.ask("openai", [{"status": status, "body": body, "headers": {"location": "http://x/"}}])
                self.assertEqual(done.returncode, 3)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(self.server.requests), 1)

    def test_gives_up(self):
        done = self.ask("openai", [{"status": 503, "headers": {"retry-after-ms": "1"}}], retries=3)
        self.assertEqual((done.returncode, len(self.server.requests)), (3, 4))
        self.assertIn("asked 4 times", done.stderr)

    def test_other_ends(self):
        over = {"status": 400, "body": '{"error": {"message": "prompt is too long: 200001 tokens"}}'}
        self.assertEqual(self.reply("anthropic", [over])["end"], "context_exceeded")
        for api in "openai", "anthropic":
            self.assertEqual(self.reply(api, [{"refusal": "No."}])["end"], "refusal")
            long = self.reply(api, [{"text": "x" * 100_000_000}])
            self.assertEqual(long["end"], "length")
            self.assertLess(len(long["raw"]), 20_000)
            self.assertLess(self.peak_kib, 64 << 10)
        broken = {"status": 500, "body": '{"error": {"message": "does not match the expected peg-native format"}}',
                  "headers": {"retry-after-ms": "1"}}
        self.assertEqual(self.reply("openai", [broken])["end"], "length")
        self.assertEqual(len(self.server.requests), 2)


if __name__ == "__main__":
    unittest.main()
