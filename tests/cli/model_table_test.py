# SPDX-License-Identifier: Apache-2.0
"""The table of docs/agent.md: what a user sees with every sort of key and model, with the real kagent and a provider on
a loopback socket; an outage and --resume; and that a key is found nowhere afterwards."""
import json
import os
import unittest

from command_fixture import KERNEL, MODEL, CommandTest
from model_server import ModelServer

KEY = "sk-canary-0123456789"
OTHER_KEY = "sk-other-9876543210"
FINISH = {"calls": [("finish", {})]}
WIN = {"text": "So.", "reasoning": "Hm.", "calls": [
    ("write_file", {"path": "model_new.py", "text": MODEL}), ("write_file", {"path": "kernels/scale.cpp", "text": KERNEL}),
    ("evaluate", {})]}


class ModelTable(CommandTest):
    def optimize(self, answers, *more, provider="openai", environment=None):
        self.server = ModelServer(answers)
        self.addCleanup(self.server.close)
        base = self.server.address + ("" if provider == "anthropic" else "/v1")
        done = self.kagent("optimize", self.root / "task.py", "--model", f"{provider}/fixture", "--base-url", base, "--backend",
                           "cpu", "--rounds", "6", "--quiet", "--over", "eager", "--out", self.root / "runs", *more,
                           environment={f"{'ANTHROPIC' if provider == 'anthropic' else 'OPENAI'}_API_KEY": KEY,
                                        f"{'OPENAI' if provider == 'anthropic' else 'ANTHROPIC'}_API_KEY": OTHER_KEY,
                                        "NO_PROXY": "*"} | (environment or {}))
        texts = {"output": (done.stdout + done.stderr).encode()}
        texts.update((path, path.read_bytes()) for path in (self.root / "runs").rglob("*") if path.is_file())
        for path, text in texts.items():
            self.assertNotIn(KEY.encode(), text, path)
            self.assertNotIn(OTHER_KEY.encode(), text, path)
        for headers, _ in self.server.requests:  # of two keys that are set, the named provider's is sent, and only that
            self.assertEqual([name for name, value in headers.items() if KEY in value],
                             ["x-api-key" if provider == "anthropic" else "authorization"])
            self.assertNotIn(OTHER_KEY, str(headers))
        return done

    def folder(self):
        return sorted((self.root / "runs").iterdir())[-1]

    def result(self):
        return json.loads((self.folder() / "result.json").read_text())

    def assert_row(self, done, code, outcome, stop_reason, words):
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        result = self.result()
        self.assertEqual((result["outcome"], result["stop_reason"]), (outcome, stop_reason))
        self.assertRegex(done.stdout + done.stderr, words)
        return result

    def test_no_model(self):
        for keys, words in (({}, "keys found: none"), ({"OPENAI_API_KEY": KEY}, "keys found: OPENAI_API_KEY;"),
                            ({"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, "ANTHROPIC_API_KEY, OPENAI_API_KEY")):
            done = self.kagent("optimize", self.root / "task.py", environment=keys)
            self.assert_refused(done, 2, words)
            self.assertIn("--model PROVIDER/MODEL", done.stderr)
        for name, words in (("openai/x", "needs a key; set OPENAI_API_KEY"), ("acme/x", "there are replay, "), ("x", "PROVIDER/MODEL")):
            self.assert_refused(self.kagent("optimize", self.root / "task.py", "--model", name), 2, words)

    def test_settings_count(self):
        (self.root / "kagent.toml").write_text('model = "acme/x"\n')
        here = os.getcwd()
        os.chdir(self.root)
        self.addCleanup(os.chdir, here)
        task = self.root / "task.py"
        self.assert_refused(self.kagent("optimize", task), 2, 'unknown provider "acme"')
        self.assert_refused(self.kagent("optimize", task, environment={"KAGENT_MODEL": "other/x"}), 2, '"other"')
        self.assert_refused(self.kagent("optimize", task, "--model", "third/x"), 2, '"third"')

    def put_skill(self):
        folder = self.root / ".agents/skills/layouts"  # the test's HOME
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: layouts\ndescription: How our tensors lie\n---\nCards: {{sm_count}}.\n")

    def test_skills_of_the_user(self):
        self.put_skill()
        self.optimize([{"calls": [("read_file", {"path": "skills/layouts/SKILL.md"})]}, FINISH])
        first, second = (body["messages"] for _, body in self.server.requests[:2])
        self.assertIn("- `skills/layouts/SKILL.md`: How our tensors lie", first[0]["content"])
        self.assertRegex(second[-1]["content"], r"Cards: \d+\.")
        self.assertEqual(list(json.loads((self.folder() / "run.json").read_text())["user_skills"]), ["layouts/SKILL.md"])

    def test_network(self):
        wrong = {"status": 401, "body": json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})}
        self.assert_row(self.optimize([wrong]), 3, "network", "network", r"the key is not accepted: .*\[key\]")
        unknown = {"status": 404, "body": '{"error": {"message": "The model `fixture` does not exist"}}'}
        self.assert_row(self.optimize([unknown]), 3, "network", "network", "no such model or address: The model `fixture`")

    def test_refusal(self):
        self.put_skill()
        self.assert_row(self.optimize([{"refusal": "I will not."}], "--no-user-skills", provider="anthropic"), 3, "refusal", "refusal",
                        "the model refused: I will not")
        self.assertNotIn("layouts", str(self.server.requests[0][1]["system"]))

    def test_weak_models(self):
        result = self.assert_row(self.optimize([{"text": "I would use shared memory."}]), 1, "not_met", "finished",
                                 "3 turns in a row without a call")
        self.assertEqual(result["turns"], 3)
        self.assert_row(self.optimize([{"text": "x" * 100_000_000}]), 1, "not_met", "finished", "without a call")
        ten = {"calls": [("read_file", {"path": "task.py"})] * 10}
        self.assert_row(self.optimize([ten]), 1, "not_met", "stuck", "same outcome six times")
        records = [json.loads(line) for line in (self.folder() / "trajectory.jsonl").read_text().splitlines()]
        turn = next(record for record in records if record["type"] == "turn")
        self.assertEqual(len({each["call_id"] for each in turn["results"]}), 10)

    def test_models_that_cannot_call(self):
        words = "3 turns in a row without a well-formed tool call|well-formed"
        result = self.assert_row(self.optimize([{"calls": [("bash", "{\"command\": ")]}, {"calls": [("no_such_tool", {})]},
                                                {"calls": [("read_file", {"file": "task.py"})]}]), 1, "not_met", "bad_calls", words)
        self.assertEqual(result["turns"], 3)
        told = [message["content"] for message in self.server.requests[2][1]["messages"] if message["role"] == "tool"]
        self.assertIn("no_such_tool", told[1])
        self.assertIn("bash, read_file", told[1])
        # One that says nothing at all.
        self.assert_row(self.optimize([{"text": ""}], provider="anthropic"), 1, "not_met", "finished", "3 turns in a row without a call")
        self.assertEqual(len(self.server.requests), 3)

    def test_ten_at_once(self):
        """Different ones: all are run, in order, before the model is asked again."""
        calls = [("write_file", {"path": f"kernels/{i}.txt", "text": str(i)}) for i in range(6)]
        calls += [("read_file", {"path": f"kernels/{i}.txt"}) for i in (5, 0)] + [("bash", {"command": "ls kernels"}), ("evaluate", {})]
        done = self.optimize([{"calls": calls}, FINISH], provider="anthropic")
        self.assert_row(done, 1, "not_met", "finished", "no correct candidate")
        told = self.server.requests[1][1]["messages"][-1]["content"]
        self.assertEqual([block["type"] for block in told], ["tool_result"] * 10)
        self.assertIn("5", told[6]["content"])
        self.assertIn("0.txt", told[8]["content"])
        self.assertIn("model_new.py", told[9]["content"])

    def test_no_price(self):
        done = self.optimize([FINISH], "--budget-usd", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--budget-usd: no price is known for openai/fixture; add a row to prices.json", done.stderr)
        done = self.optimize([FINISH], "--extra-body", '{"messages": []}')
        self.assertEqual(done.returncode, 2)
        self.assertIn("--extra-body: messages is set by kagent", done.stderr)

    def test_outage_and_resume(self):
        down = {"status": 503, "headers": {"retry-after-ms": "1"}}
        slow = WIN | {"calls": WIN["calls"][:2]}
        done = self.optimize([slow, down], "--model-retries", "2")
        self.assert_row(done, 3, "network", "network", "asked 3 times")
        done = self.optimize([WIN, FINISH], "--resume", self.folder(), provider="anthropic")
        self.assertIn(done.returncode, (0, 1, 8), done.stderr)
        result = self.result()
        self.assertTrue(result["best"], result)
        self.assertEqual(result["turns"], len(self.server.requests) + 1)
        # What the other provider said is told in this one's format.
        told = self.server.requests[0][1]["messages"]
        self.assertEqual([block["type"] for block in told[1]["content"]], ["text", "tool_use", "tool_use"])
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
