# SPDX-License-Identifier: Apache-2.0
"""Candidates that cannot be recorded: each fault names the kind, the line and what is wrong."""
import os
import unittest

from recorder_server import RecorderTest, tensor, weight

FORWARD = '''
    class ModelNew(nn.Module):
        def forward(self, x):
            {}
'''


class Values(RecorderTest):
    def forward_fault(self, body, kind, words, text=None, **request):
        fault = self.fault(FORWARD.format(body), **request)
        self.assert_fault(fault, kind, words, text or body.splitlines()[0])
        return fault

    def test_data_dependent_control_flow(self):
        self.forward_fault("return x * x.sum().item()", "unsupported", "torch.Tensor.item needs a tensor's value")
        self.forward_fault("return x if x.sum() > 0 else -x", "unsupported", "torch.Tensor.__bool__")
        self.forward_fault("return x * float(x.max())", "unsupported", "torch.Tensor.__float__")
        self.forward_fault("return x.nonzero()", "unsupported", "shape depends on values")
        self.forward_fault("return x[x > 0]", "unsupported", "shape depends on values")
        self.forward_fault("return x.tolist()", "unsupported", "needs a tensor's value")
        self.forward_fault("return x.numpy()", "unsupported", "torch.Tensor.numpy")
        fault = self.forward_fault("return x if torch.equal(x, x) else -x", "unsupported", "value")
        self.assertIn("kernel", fault["hint"])

    def test_random_numbers(self):
        self.forward_fault("return x + torch.randn_like(x)", "unsupported", "torch.randn_like draws random numbers")
        self.forward_fault("return F.dropout(x, 0.5, True)", "unsupported", "draws random numbers")
        self.forward_fault("return x + torch.rand(8).to(x.device)", "unsupported", "torch.rand draws random numbers")

    def test_other_devices(self):
        self.forward_fault("return x.cpu()", "unsupported", "torch.Tensor.cpu puts a tensor on cpu")
        self.forward_fault("return x + torch.zeros(8)", "unsupported", "mixes a tensor on the CPU")
        self.assert_fault(self.fault(FORWARD.format("return torch.zeros(8)")), "unsupported",
                          "returns a tensor on the CPU")
        self.forward_fault("return torch.empty(8, device='meta')", "unsupported", "meta")

    def test_attributes_set_in_forward(self):
        self.forward_fault("self.cache = x + 1", "unsupported", "forward sets self.cache")

    def test_tensors_beyond_any_memory(self):
        self.forward_fault("return torch.empty(1 << 40, device=x.device)", "out_of_memory", "4398046511104 bytes")

    def test_kinds_of_results(self):
        self.assert_fault(self.fault(FORWARD.format("return {1: x}")), "unsupported", "keys that are not strings")
        self.assert_fault(self.fault(FORWARD.format("return [x, {1, 2}]")), "unsupported", "returns a set")
        self.forward_fault("return x.to(torch.complex32)", "unsupported", "complex32")
        self.forward_fault("return x.to_sparse()", "unsupported", "")

    def test_loops_without_end_of_operators(self):
        self.forward_fault("while True: x = x + 1", "unsupported", "more than 2048 steps")


class Constructors(RecorderTest):
    LINEAR = [weight("line.weight", [8, 8]), weight("line.bias", [8])]
    MODEL = '''
        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                {}

            def forward(self, x):
                return x + self.w if hasattr(self, "w") else x
        '''

    def test_parameter_names(self):
        fault = self.fault(self.MODEL.format("self.fc = nn.Linear(8, 8)"), weights=self.LINEAR)
        self.assert_fault(fault, "unsupported", "ModelNew has parameter 'fc.weight' that Model has not; "
                          "Model's are: line.weight, line.bias")
        fault = self.fault(self.MODEL.format("self.line = nn.Linear(8, 8, bias=False)"), weights=self.LINEAR)
        self.assert_fault(fault, "unsupported", "ModelNew lacks 'line.bias', which Model has")
        fault = self.fault(self.MODEL.format("self.line = nn.Linear(8, 8)"))
        self.assert_fault(fault, "unsupported", "Model has none")

    def test_shape_and_dtype(self):
        fault = self.fault(self.MODEL.format("self.line = nn.Linear(4, 8)"), weights=self.LINEAR)
        self.assert_fault(fault, "shape", "'line.weight' has shape [8, 4]; Model's has [8, 8]")
        fault = self.fault(self.MODEL.format("self.line = nn.Linear(8, 8).half()"), weights=self.LINEAR)
        self.assert_fault(fault, "dtype", "'line.weight' is float16; Model's is float32")

    def test_constants_that_depend_on_weights(self):
        for line, words in (("self.w = self.line.weight.t()", "is a view of 'line.weight'"),
                            ("self.w = self.line.weight.t().contiguous() * 2", "computed from weights"),
                            ("self.w = torch.randn(8)", "drawn at random")):
            fault = self.fault(self.MODEL.format("self.line = nn.Linear(8, 8); " + line), weights=self.LINEAR)
            self.assert_fault(fault, "unsupported", words)
            self.assertIn("prepare", fault["hint"])

    def test_parameters_that_are_out_of_reach(self):
        for backend in ("cpu", "cuda"):
            fault = self.fault('''
                class ModelNew(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.parts = [nn.Linear(8, 8)]

                    def forward(self, x):
                        return self.parts[0](x)
                ''', backend=backend)
            self.assertEqual("unsupported", fault["kind"], fault)
            self.assertTrue("nn.ModuleList" in fault["hint"] or "on the CPU" in fault["message"], fault)

    def test_programs(self):
        fault = self.fault("import subprocess; subprocess.run(['nvcc'])")
        self.assert_fault(fault, "crash", "model_new.py raised PermissionError", "subprocess.run")
        self.assertIn("kernels/", fault["hint"])

    def test_constants_that_are_too_large(self):
        fault = self.fault(self.MODEL.format("self.w = torch.zeros(5000, 4000)"), inputs=[tensor([5000, 1])])
        self.assert_fault(fault, "unsupported", "more than 64 MiB", "return x + self.w")

    def test_raises(self):
        fault = self.fault(self.MODEL.format("raise ValueError('no\\nway')"))
        self.assert_fault(fault, "crash", "ModelNew.__init__ raised ValueError: no way", "raise ValueError")
        self.assertIn('File "model_new.py"', fault["detail"])
        self.assertNotIn(os.environ["KAGENT_LIBEXEC"], fault["detail"])
        fault = self.fault(self.MODEL.format("self.w = undefined_name"))
        self.assert_fault(fault, "crash", "NameError", "undefined_name")
        fault = self.fault(self.MODEL.format("pass"), init=[{"int": 3}])
        self.assert_fault(fault, "crash", "TypeError")

    def test_files(self):
        self.assert_fault(self.fault("class ModelNew(nn.Module:\n    pass\n"), "crash", "SyntaxError",
                          "class ModelNew(")
        self.assert_fault(self.fault("class Model(nn.Module):\n    pass\n"), "unsupported", "no class ModelNew")
        self.assert_fault(self.fault("ModelNew = 3\n"), "unsupported", "not a subclass")
        self.assert_fault(self.fault("import no_such_module\n"), "crash", "ModuleNotFoundError", "no_such_module")
        os.remove(os.path.join(self.folder, "model_new.py"))
        answer = self.server.ask(type="record", candidate=self.folder, backend="cuda", mode="eval", device={},
                                 signature={"init": [], "inputs": [], "weights": []})
        self.assert_fault(answer["fault"], "unsupported", "no model_new.py")

    def test_prepare(self):
        model = '''
            class ModelNew(nn.Module):
                def prepare(self):
                    {}

                def forward(self, x):
                    return x + self.prepared["w"]
            '''
        self.assert_fault(self.fault(model.format("self.w = 1")), "unsupported", "prepare sets self.w", "self.w = 1")
        self.assert_fault(self.fault(model.format("return torch.ones(8)")), "unsupported", "must return a dict",
                          "def prepare")
        self.assert_fault(self.fault(model.format("return {'w': [1]}")), "unsupported", "returns a list as 'w'",
                          "def prepare")
        self.assert_fault(self.fault(model.format("return {}")), "crash", "KeyError", 'self.prepared["w"]')


class Kernels(RecorderTest):
    MODEL = '''
        k = kagent.kernel({declare})

        class ModelNew(nn.Module):
            def forward(self, x):
                y = torch.empty_like(x)
                {launch}
                return y
        '''

    def launch_fault(self, launch, words, declare='"kernels/k.cu", "k"', kind="bad_launch", **request):
        fault = self.fault(self.MODEL.format(declare=declare, launch=launch), **request)
        self.assert_fault(fault, kind, words, launch)

    def test_missing_file(self):
        for source, words in (("kernels/none.cu", "kernels/none.cu does not exist"),
                              ("../../etc/passwd", "is not in the candidate's folder"),
                              ("model_new.py", "is not in the candidate's folder")):
            fault = self.fault(self.MODEL.format(declare=f'"{source}", "k"', launch="pass"))
            self.assert_fault(fault, "build_failed", words, "kagent.kernel(")
            self.assertIn("k.cu", fault["hint"])

    def test_launches(self):
        self.launch_fault("k[(1, 1, 1, 1), 32](y)", "grid has 4 dimensions")
        self.launch_fault("k[0, 32](y)", "nothing to run")
        self.launch_fault("k[1.5, 32](y)", "not a whole number")
        self.launch_fault("k[1, 2048](y)", "2048 threads")
        self.launch_fault("k[1, (1, 1, 128)](y)", "at most 64")
        self.launch_fault("k[(1, 70000), 32](y)", "too large")
        self.launch_fault("k[1](y)", "k[grid, block]")
        self.launch_fault("k(y)", "k[grid, block]")
        self.launch_fault("k[1, 32, -1](y)", "shared_bytes is -1")
        self.launch_fault("k.launch(grid=3, block=32, cluster=2)(y)", "not a multiple of cluster")
        self.launch_fault("k[1, 32](y, [1, 2])", "argument 2 is a list")
        self.launch_fault("k[1, 32](y, 2**63)", "does not fit in 64 bits")
        self.launch_fault("k[1, 32](y, torch.ones(3))", "its tensors lie on cpu, cuda:0")
        self.launch_fault("k[1, 32](torch.ones(3))", "argument 1 is a tensor on the CPU")
        self.launch_fault("k[1, 32](*[y] * 65)", "65 arguments")
        self.launch_fault("k[1, 32](kagent.tensor_map(y, box=[8]))", "need 2 numbers")
        self.launch_fault("k[1, 32](y)", "block must be 1 on the CPU", backend="cpu")

    def test_launch_outside_of_forward(self):
        fault = self.fault('''
            k = kagent.kernel("kernels/k.cu", "k")
            k[1, 32](1)
            ''')
        self.assert_fault(fault, "unsupported", "outside of prepare and forward", "k[1, 32](1)")


class Crashes(RecorderTest):
    def test_raises_in_forward(self):
        fault = self.fault(FORWARD.format("return x @ x"))
        self.assert_fault(fault, "crash", "forward raised RuntimeError", "return x @ x")
        self.assert_fault(self.fault(FORWARD.format("raise KeyboardInterrupt")), "crash", "KeyboardInterrupt",
                          "raise KeyboardInterrupt")
        self.assert_fault(self.fault(FORWARD.format("print('seen'); raise SystemExit(0)")), "crash", "called exit(0)",
                          "raise SystemExit")

    def test_what_it_printed_is_shown(self):
        fault = self.fault(FORWARD.format("print('value', 42); return x @ x"))
        self.assertIn("value 42", fault["detail"])

    def test_recursion_without_end(self):
        fault = self.fault(FORWARD.format("return self.forward(x)"))
        self.assert_fault(fault, "crash", "RecursionError", "return self.forward(x)")

    def test_stack_overflow(self):
        fault = self.fault('''
            import sys
            sys.setrecursionlimit(10**9)

            class Deep:
                def __getattr__(self, name):
                    return getattr(self, name + "x")

            class ModelNew(nn.Module):
                def forward(self, x):
                    return Deep().a
            ''')
        self.assert_fault(fault, "crash", "forward crashed the interpreter (SIGSEGV)")
        self.assertEqual("model_new.py", fault["at"]["file"])

    def test_memory(self):
        fault = self.fault(FORWARD.format("return x * torch.ones(1 << 45)[0]"))
        self.assert_fault(fault, "out_of_memory", "forward ran out of host memory", "torch.ones(1 << 45)")


if __name__ == "__main__":
    unittest.main()
