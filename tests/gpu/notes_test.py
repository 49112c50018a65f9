#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels in the notes that the model reads (skills/cuda/references) do on a card what the notes say. They are taken
out of the notes, built and launched by the kagent module in ordinary Python, and compared with PyTorch."""
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import unittest

NOTES = pathlib.Path(__file__).resolve().parents[2] / "skills/cuda/references"
sys.path.insert(0, os.path.join(os.environ["KAGENT_LIBEXEC"], "python"))
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

if not torch.cuda.is_available():
    print("SKIPPED: no GPU")
    sys.exit(77)

import kagent  # noqa: E402

CARD = torch.device("cuda")


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=CARD).to(dtype)


class Notes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kagent-notes-")
        cls.addClassCleanup(cls.folder.cleanup)
        lines = ["import kagent"]
        for path in NOTES.glob("*.md"):
            text = path.read_text()
            for block in re.findall(r"\n```cuda\n(.*?\n)```", text, re.S):
                file = pathlib.Path(cls.folder.name) / re.match(r"// (kernels/\w+\.cu)\n", block)[1]
                file.parent.mkdir(exist_ok=True)
                file.write_text(block)
            for source, kernel in re.findall(r'kagent\.kernel\("(kernels/\w+\.cu)", "([^"]+)"\)', text):
                name = re.match(r"(?:ops::)?(\w+)", kernel)[1]
                lines.append(f'{name} = kagent.kernel("{source}", "{kernel}")')
        module = pathlib.Path(cls.folder.name) / "kernels_of_notes.py"
        module.write_text("\n".join(lines) + "\n")
        found = importlib.util.spec_from_file_location("kernels_of_notes", module)
        cls.kernels = importlib.util.module_from_spec(found)
        found.loader.exec_module(cls.kernels)
        torch.manual_seed(1)

    def same(self, got, expected, tolerance=1e-5):
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)

    def test_coalescing(self):
        x = random(3, 517, 1000)
        y = torch.full((3, 1000), float("nan"), device=CARD)
        self.kernels.mean_rows[(kagent.cdiv(1000, 256), 3), 256](y, x, 517, 1000)
        self.same(y, x.mean(1))

    def test_vector_loads(self):
        x = random(77, 1000, dtype=torch.bfloat16)
        y = torch.full_like(x, float("nan"))
        self.kernels.gelu_vec[kagent.cdiv(x.numel() // 8, 256 * 4), 256](y, x, x.numel() // 8)
        self.same(y, F.gelu(x.float()).bfloat16(), 1e-2)

    def test_shared_memory_tiling(self):
        x = random(2, 100, 333)
        y = torch.full((2, 333, 100), float("nan"), device=CARD)
        self.kernels.transpose[(kagent.cdiv(333, 32), kagent.cdiv(100, 32), 2), (32, 8)](y, x, 100, 333)
        self.assertTrue(torch.equal(y, x.transpose(1, 2)))

    def test_warp_reductions(self):
        x, weight, bias = random(50, 4096), random(4096), random(4096)
        y = torch.full_like(x, float("nan"))
        self.kernels.layer_norm[50, 256](y, x, weight, bias, 1e-5)
        self.same(y, F.layer_norm(x, (4096,), weight, bias, 1e-5))

    def test_online_softmax(self):
        x = random(9, 20_000) * 20
        x[0, :] = -float("inf")
        x[0, 5] = 1.0
        x[1, :100] = -float("inf")
        y = torch.full_like(x, float("nan"))
        self.kernels.softmax_long[9, 512](y, x, 20_000)
        self.same(y, torch.softmax(x.double(), 1).float(), 1e-6)

    def test_split_k(self):
        x = random(1000, 1028)
        slices = 2 * kagent.device.sm_count
        parts, y = torch.empty(slices, device=CARD), torch.empty(1, device=CARD)
        self.kernels.slice_sums[slices, 512](parts, x, x.numel() // 4)
        self.kernels.join_slices[1, 512](y, parts, slices, 1.0 / x.numel())
        self.same(y, x.double().mean().float().view(1), 1e-6)

    def test_batchnorm_folding(self):
        x, bias = random(2, 8, 12, 16), random(8)
        y = x.clone()
        self.kernels.bias_act[(1, 16), 256](y, bias, 8, 12 * 16 // 4)
        self.same(y, F.silu(x + bias.view(1, -1, 1, 1)))

    def test_library_calls(self):
        x, residual = random(300, 500), random(300, 500)
        y = x.clone()
        self.kernels.add_relu[kagent.cdiv(x.numel() // 4, 256), 256](y, residual, x.numel() // 4)
        self.same(y, F.relu(x + residual))

    def test_tensor_cores_mma(self):
        m, n, k = 192, 256, 352
        x, w, bias = random(m, k, dtype=torch.bfloat16), random(n, k, dtype=torch.bfloat16), random(n)
        y = torch.full((m, n), float("nan"), device=CARD, dtype=torch.bfloat16)
        self.kernels.linear_relu[(n // 64, m // 64), 128](y, x, w, bias, n, k)
        self.same(y.float(), F.relu(x.float() @ w.float().t() + bias).bfloat16().float(), 2e-2)

    def test_tensor_cores_wgmma(self):
        for m, n, k in ((64, 64, 64), (128, 192, 704)):
            x, w = random(m, k, dtype=torch.bfloat16), random(n, k, dtype=torch.bfloat16)
            y = torch.full((m, n), float("nan"), device=CARD, dtype=torch.bfloat16)
            left = kagent.tensor_map(x, box=[64, 64], swizzle="128B")
            right = kagent.tensor_map(w, box=[64, 64], swizzle="128B")
            self.kernels.linear_wgmma[(n // 64, m // 64), 128, 4 * 2 * 64 * 64 * 2 + 1024](y, left, right, n, k)
            self.same(y.float(), (x.float() @ w.float().t()).bfloat16().float(), 2e-2)

    def test_tma(self):
        x = random(640, 96)
        y = torch.full_like(x, float("nan"))
        self.kernels.scale_tiles[3, 256](y, kagent.tensor_map(x, box=[32, 64]), 640, 96, 2.0)
        self.assertTrue(torch.equal(y, x * 2))

    def test_persistent_kernels(self):
        x = random(1234, 4000)
        blocks = 2 * kagent.device.sm_count
        y, parts = torch.full_like(x, float("nan")), torch.empty(blocks, device=CARD)
        self.kernels.normalise.launch(grid=blocks, block=256, cooperative=True)(y, x, parts, x.numel() // 4)
        self.same(y, x / x.double().norm().float(), 1e-6)

    def test_launch_overhead(self):
        x, weight = random(100, 300), random(300)
        scratch, y = torch.empty_like(x), torch.full_like(x, float("nan"))
        scratch.copy_(x)
        self.kernels.scale_after.launch(grid=kagent.cdiv(x.numel(), 256), block=256, programmatic=True)(y, scratch, weight, x.numel(), 300)
        self.same(y, x * weight)

    def test_nvrtc_limits(self):
        x = random(1000, dtype=torch.bfloat16)
        y = torch.full_like(x, float("nan"))
        self.kernels.powers[4, 256](y, x, 1000)
        v = x.float()
        self.same(y.float(), (1 + 0.5 * v + 0.25 * v**2 + 0.125 * v**3).bfloat16().float(), 1e-2)

    def test_numerics(self):
        x, weight = random(33, 1001, dtype=torch.bfloat16), random(1001)
        y = torch.full_like(x, float("nan"))
        self.kernels.rms_norm[33, 256](y, x, weight, 1001, 1e-6)
        v = x.float()
        self.same(y.float(), (v * torch.rsqrt(v.square().mean(1, keepdim=True) + 1e-6) * weight).bfloat16().float(), 1e-2)


if __name__ == "__main__":
    unittest.main()
