# SPDX-License-Identifier: Apache-2.0
"""The reference over its channel: small tasks from open to loop, on the CPU."""
import os
import select
import signal
import unittest

import torch

from reference_fixture import CACHE, SOFTMAX, Memory, ReferenceTest

import baselines

CONV_BN = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.bn = nn.BatchNorm2d(8)
        def forward(self, x):
            return torch.relu(self.bn(self.conv(x)))
    def get_inputs():
        return [torch.rand(4, 3, 10, 10)]
    def get_init_inputs():
        return []
"""


class Life(ReferenceTest):
    def test_the_program_answers_and_ends_with_its_channel(self):
        reference = self.start_program()
        answer, _ = reference.ok("hello")
        self.assertTrue(answer["torch"].startswith("2."))
        opened, _ = reference.ok("open", **self.open_fields(self.write_task(SOFTMAX)))
        self.assertEqual(opened["signature"]["init"], [{"int": 1}])
        self.assertEqual(opened["device"]["uuid"], "cpu")
        self.assertFalse(opened["numerics"]["matmul_tf32"])
        self.assertEqual(reference.close(), 0)

    def test_requests_out_of_order_are_errors(self):
        reference = self.start()
        for kind, fields in (("share", {"sets": 2}), ("trial", {"seed": 1, "set": 0}), ("nonsense", {}),
                             ("loop", {"arm": "eager", "set": 0, "calls": 1, "touch": 0})):
            answer, _ = reference.ask(kind, **fields)
            self.assertIn("error", answer, kind)
        path = self.write_task(SOFTMAX)
        reference.ok("open", **self.open_fields(path))
        answer, _ = reference.ask("open", **self.open_fields(path))
        self.assertIn("open already", answer["error"]["message"])
        answer, _ = reference.ask("share", sets=10**6)
        self.assertIn("error", answer)


class Trials(ReferenceTest):
    def test_a_right_answer_passes_and_a_wrong_one_says_where(self):
        self.opened_and_shared(SOFTMAX)
        self.assertEqual(self.shared["output_tree"], {"tensor": 0})
        answer, _ = self.reference.ok("trial", seed=123, set=1)
        self.assertEqual(answer["reference"], "fp64")
        x = self.inputs[1].tensor(0)
        y = self.outputs.tensor(0)
        y.copy_(torch.softmax(x, 1))
        verdict, _ = self.reference.ok("compare", set=1)
        self.assertTrue(verdict["passed"])
        self.assertLess(verdict["error_ratio"], 1)
        y[3, 40:] = 0
        verdict, _ = self.reference.ok("compare", set=1)
        fault = verdict["fault"]
        self.assertEqual((fault["kind"], fault["output"], fault["index"], fault["got"]), ("mismatch", 0, [3, 40], "0"))
        self.assertIn("24 of 1024", fault["message"])
        self.assertIn("in the last 24 of dimension 1", fault["message"])
        self.assertAlmostEqual(float(fault["expected"]), float(torch.softmax(x, 1)[3, 40]), places=7)

    def test_another_input_set_has_other_answers(self):
        self.opened_and_shared(SOFTMAX)
        self.reference.ok("trial", seed=1, set=0)
        self.reference.ok("trial", seed=2, set=1)
        self.assertFalse(torch.equal(self.inputs[0].tensor(0), self.inputs[1].tensor(0)))
        self.outputs.tensor(0).copy_(torch.softmax(self.inputs[0].tensor(0), 1))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.assertFalse(self.reference.ok("compare", set=1)[0]["passed"])

    def test_the_same_seed_gives_the_same_inputs(self):
        self.opened_and_shared(SOFTMAX)
        self.reference.ok("trial", seed=2**64 - 1, set=0)
        self.reference.ok("trial", seed=2**64 - 1, set=1)
        self.assertTrue(torch.equal(self.inputs[0].tensor(0), self.inputs[1].tensor(0)))

    def test_weights_come_by_name_and_change_with_their_seed(self):
        weights = []
        for seed in (1, 2):
            self.opened_and_shared(CONV_BN, weights_seed=seed)
            weights.append(self.weights.named("conv.weight").clone())
        self.assertFalse(torch.equal(*weights))
        names = [weight["path"] for weight in self.opened["signature"]["weights"]]
        self.assertEqual(names, ["conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean",
                                 "bn.running_var", "bn.num_batches_tracked"])

    def test_convolution_and_batchnorm(self):
        self.opened_and_shared(CONV_BN)
        self.reference.ok("trial", seed=3, set=0)
        w = self.weights.named
        y = torch.conv2d(self.inputs[0].tensor(0), w("conv.weight"), w("conv.bias"))
        y = torch.batch_norm(y, w("bn.weight"), w("bn.bias"), w("bn.running_mean"), w("bn.running_var"), False, 0.1,
                             1e-5, False)
        self.outputs.tensor(0).copy_(torch.relu(y))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])

    def test_train_mode_uses_batch_statistics_and_keeps_the_buffers(self):
        self.opened_and_shared(CONV_BN, mode="train")
        before = self.weights.named("bn.running_mean").clone()
        w = self.weights.named
        for seed in (3, 4, 5):
            self.reference.ok("trial", seed=seed, set=0)
            y = torch.conv2d(self.inputs[0].tensor(0), w("conv.weight"), w("conv.bias"))
            y = torch.batch_norm(y, w("bn.weight"), w("bn.bias"), None, None, True, 0.1, 1e-5, False)
            self.outputs.tensor(0).copy_(torch.relu(y))
            self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.assertTrue(torch.equal(before, self.weights.named("bn.running_mean")))

    def test_outputs_may_be_a_dict_with_integers_and_scalars(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def forward(self, x, index, alpha):
                    y = x * alpha
                    return {"y": y, "best": y.argmax(1), "rest": (y > 0, [x.shape[0], 0.5])}
                def __init__(self): super().__init__()
            def get_inputs():
                return [torch.randn(8, 5), torch.randint(0, 9, (4,)), 3.14]
            def get_init_inputs():
                return []
        """)
        tree = self.shared["output_tree"]["dict"]
        self.assertEqual(tree["keys"], ["y", "best", "rest"])
        self.assertEqual(tree["items"][2], {"tuple": [
            {"tensor": 2}, {"list": [{"scalar": {"int": 8}}, {"scalar": {"float": (0.5).hex()}}]}]})
        self.assertEqual(self.opened["signature"]["inputs"][2], {"scalar": {"float": (3.14).hex()}})
        self.assertEqual([entry["dtype"] for entry in self.shared["outputs"]["entries"]], ["float32", "int64", "bool"])
        self.reference.ok("trial", seed=9, set=0)
        self.assertEqual(self.inputs[0].tensor(1).dtype, torch.int64)
        y = self.inputs[0].tensor(0) * 3.14
        for place, value in enumerate((y, y.argmax(1), y > 0)):
            self.outputs.tensor(place).copy_(value)
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.outputs.tensor(1)[2] += 1
        fault = self.reference.ok("compare", set=0)[0]["fault"]
        self.assertEqual((fault["output"], fault["index"]), (1, [2]))

    def test_strides_are_kept_and_overlaps_are_not(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def forward(self, a, b, c): return a.sum() + b.sum() + c.sum()
            def get_inputs():
                return [torch.rand(6, 4).t(), torch.rand(1, 5).expand(3, 5), torch.rand(4, 8)[:, ::2]]
            def get_init_inputs(): return []
        """)
        strides = [entry["stride"] for entry in self.shared["inputs"][0]["entries"]]
        self.assertEqual(strides, [[1, 4], [5, 1], [8, 2]])
        self.assertEqual([form["tensor"]["stride"] for form in self.opened["signature"]["inputs"]], strides)
        for entry in self.shared["inputs"][0]["entries"]:
            self.assertEqual(entry["offset"] % 256, 0)

    def test_a_state_outside_the_state_dict_is_put_back(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.hidden = torch.zeros(4)
                    self.calls = 0
                    self.tied = nn.Linear(4, 4)
                    self.again = self.tied
                def forward(self, x):
                    self.calls += 1
                    self.hidden = torch.tanh(self.tied(x) + self.hidden * self.calls)
                    return self.hidden
            def get_inputs(): return [torch.randn(4)]
            def get_init_inputs(): return []
        """)
        paths = {weight["path"]: weight["in_state_dict"] for weight in self.opened["signature"]["weights"]}
        self.assertEqual(paths, {"hidden": False, "tied.weight": True, "tied.bias": True, "again.weight": True,
                                 "again.bias": True})
        for seed in (1, 2, 3):
            self.reference.ok("trial", seed=seed, set=0)
            x = self.inputs[0].tensor(0)
            self.outputs.tensor(0).copy_(torch.tanh(
                torch.nn.functional.linear(x, self.weights.named("again.weight"), self.weights.named("tied.bias"))))
            self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])

    def test_half_precision_keeps_its_types(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.linear = nn.Linear(64, 32).to(torch.bfloat16)
                def forward(self, x): return self.linear(x)
            def get_inputs(): return [torch.randn(8, 64, dtype=torch.bfloat16)]
            def get_init_inputs(): return []
        """)
        answer, _ = self.reference.ok("trial", seed=1, set=0)
        self.assertEqual(answer["reference"], "fp64")
        w = self.weights.named
        exact = self.inputs[0].tensor(0).double() @ w("linear.weight").double().t() + w("linear.bias").double()
        self.outputs.tensor(0).copy_(exact.to(torch.bfloat16))
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.outputs.tensor(0)[0, 0] += 0.5
        self.assertFalse(self.reference.ok("compare", set=0)[0]["passed"])

    def test_fixed_types_are_judged_by_an_fp32_run(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def forward(self, x): return torch.softmax(x.to(torch.float32), 1)
            def get_inputs(): return [torch.randn(16, 64)]
            def get_init_inputs(): return []
        """)
        answer, _ = self.reference.ok("trial", seed=1, set=0)
        self.assertEqual(answer["reference"], "fp32")
        self.assertIn("fixed types", answer["notes"][0])
        self.outputs.tensor(0).copy_(torch.softmax(self.inputs[0].tensor(0).double(), 1).float())
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])
        self.outputs.tensor(0).mul_(1.0001)
        self.assertFalse(self.reference.ok("compare", set=0)[0]["passed"])

    def test_an_fp64_run_reaches_closures_and_leaves_no_trace(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.ModuleDict({"a": nn.Linear(8, 8), "norm": nn.BatchNorm1d(8)})
                    self.scale = torch.rand(8)
                    layers = self.layers
                    self.block = lambda x: layers["norm"](layers["a"](x))
                def forward(self, x): return self.block(x) * self.scale
            def get_inputs(): return [torch.randn(4, 8)]
            def get_init_inputs(): return []
        """)
        for seed in (1, 2):
            answer, _ = self.reference.ok("trial", seed=seed, set=0)
            self.assertEqual(answer, {"reference": "fp64", "notes": []})
            w = self.weights.named
            y = torch.nn.functional.linear(self.inputs[0].tensor(0), w("layers.a.weight"), w("layers.a.bias"))
            y = torch.batch_norm(y, w("layers.norm.weight"), w("layers.norm.bias"), w("layers.norm.running_mean"),
                                 w("layers.norm.running_var"), False, 0.1, 1e-5, False)
            self.outputs.tensor(0).copy_(y * w("scale"))
            self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])

    def test_recurrent_modules(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.gru = nn.GRU(8, 6, num_layers=2, batch_first=True)
                def forward(self, x): return self.gru(x)[0]
            def get_inputs(): return [torch.randn(2, 5, 8)]
            def get_init_inputs(): return []
        """)
        answer, _ = self.reference.ok("trial", seed=1, set=0)
        self.assertEqual(answer["reference"], "fp64")
        self.assertEqual(len(self.opened["signature"]["weights"]), 8)
        own = torch.nn.GRU(8, 6, num_layers=2, batch_first=True)
        own.load_state_dict({entry["name"].removeprefix("gru."): self.weights.tensor(i)
                             for i, entry in enumerate(self.shared["weights"]["entries"])})
        self.outputs.tensor(0).copy_(own(self.inputs[0].tensor(0))[0])
        self.assertTrue(self.reference.ok("compare", set=0)[0]["passed"])

    def test_randomness_in_forward_is_noted_and_not_judged(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def forward(self, x): return x + torch.randn(4)
            def get_inputs(): return [torch.randn(4)]
            def get_init_inputs(): return []
        """)
        self.assertTrue(self.shared["random_in_forward"])
        self.assertIn("random_in_forward: true", self.shared["notes"])
        self.reference.ok("trial", seed=1, set=0)
        verdict, _ = self.reference.ok("compare", set=0)
        self.assertEqual(verdict["fault"]["kind"], "unsupported")
        self.assertIn("eager", self.reference.ok("compile", arms=["eager"])[0]["arms"])


class SharedMemory(ReferenceTest):
    def test_inputs_and_weights_cannot_be_written(self):
        self.opened_and_shared(CONV_BN)
        for memory in (self.weights, *self.inputs):
            with self.assertRaises(OSError):
                os.pwrite(memory.descriptor, b"x", 0)
            with self.assertRaises(PermissionError):
                Memory(memory.descriptor, memory.layout, True)
            with self.assertRaises(OSError):
                os.ftruncate(memory.descriptor, 0)

    def test_outputs_cannot_be_shrunk(self):
        self.opened_and_shared(SOFTMAX)
        with self.assertRaises(OSError):
            os.ftruncate(self.outputs.descriptor, 0)

    def test_never_written_outputs_are_called_so(self):
        self.opened_and_shared(SOFTMAX)
        self.reference.ok("trial", seed=1, set=0)
        y = self.outputs.tensor(0)
        y.copy_(torch.softmax(self.inputs[0].tensor(0), 1))
        y[12:].view(torch.uint8).fill_(0x4b)
        fault = self.reference.ok("compare", set=0)[0]["fault"]
        self.assertIn("never written", fault["message"])
        self.assertIn("in the last 4 of dimension 0", fault["message"])


class Timing(ReferenceTest):
    def signals(self):
        go, done = os.eventfd(0), os.eventfd(0, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
        self.addCleanup(os.close, go)
        self.addCleanup(os.close, done)
        return go, done

    def test_eager_and_compiled_calls_by_handshake(self):
        self.opened_and_shared(SOFTMAX)
        answer, _ = self.reference.ok("compile", arms=["eager", "compiled"])
        self.assertEqual(answer["arms"], ["eager", "compiled"], answer["notes"])
        self.assertEqual(answer["graph_breaks"], [])
        self.assertTrue((CACHE / "inductor").is_dir())
        for arm in ("eager", "compiled"):
            go, done = self.signals()
            for _ in range(3):
                self.reference.send("loop", (go, done), arm=arm, set=0, calls=1, touch=4096)
                self.assertEqual(os.eventfd_read(done), 1)     # ready
                self.assertEqual(select.select([done], [], [], 0.02)[0], [])   # it waits for us
                os.eventfd_write(go, 1)
                self.assertEqual(os.eventfd_read(done), 1)
                answer, _ = self.reference.receive()
                self.assertEqual(answer, {"ok": {}})

    def test_compile_processes_are_killed_not_waited_for(self):
        from torch._inductor.async_compile import AsyncCompile
        process = AsyncCompile.process_pool().process
        baselines.stop_compile_workers()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_graph_breaks_are_named(self):
        self.opened_and_shared("""
            import torch, torch.nn as nn
            class Model(nn.Module):
                def forward(self, x):
                    y = x * 2
                    torch._dynamo.graph_break()
                    return y + 1
            def get_inputs(): return [torch.randn(4)]
            def get_init_inputs(): return []
        """)
        answer, _ = self.reference.ok("compile", arms=["compiled"])
        self.assertEqual(len(answer["graph_breaks"]), 1)
        self.assertEqual(answer["arms"], ["compiled"])


if __name__ == "__main__":
    unittest.main()
