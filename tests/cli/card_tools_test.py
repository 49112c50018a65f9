# SPDX-License-Identifier: Apache-2.0
"""On a card: the kagent module in ordinary Python, and tools put on the runner's audit mode.

KAGENT_LIBEXEC names the folder of the workers and of the kagent package."""
import os
import pathlib
import shutil
import subprocess
import textwrap
import unittest

import bad_input_cuda_test as cuda
from command_fixture import CommandTest

LIBEXEC = pathlib.Path(os.environ["KAGENT_LIBEXEC"])
TASKS = pathlib.Path(__file__).resolve().parents[2] / "tasks"
SANITIZER = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
NCU = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"

LAUNCHES = """\
#include <cooperative_groups.h>
#include <cuda.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cluster_sizes(int* out) {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) out[blockIdx.x] = size;
}

// Each block adds 1, waits for the whole grid, and then reads what all have added.
extern "C" __global__ void count_blocks(int* counter, int* out) {
  if (threadIdx.x == 0) atomicAdd(counter, 1);
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *static_cast<volatile int*>(counter);
}

extern "C" __global__ void reverse(float* out, const float* in, int count) {
  extern __shared__ float kept[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) kept[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = kept[count - 1 - i];
}

extern "C" __global__ void tile(const __grid_constant__ CUtensorMap map, float* out, int x, int y) {
  __shared__ alignas(128) float tile[16 * 8];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned tile_at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier_at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at), "r"(512) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(tile_at), "l"(&map), "r"(x), "r"(y), "r"(barrier_at) : "memory");
  }
  unsigned done = 0;
  while (!done) {
    asm volatile("{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\\nselp.u32 %0, 1, 0, p;\\n}"
                 : "=r"(done) : "r"(barrier_at) : "memory");
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
"""
MODEL_NEW = """\
import kagent
import torch

clusters = kagent.kernel("kernels/launches.cu", "cluster_sizes")
count = kagent.kernel("kernels/launches.cu", "count_blocks")
reverse = kagent.kernel("kernels/launches.cu", "reverse")
tile = kagent.kernel("kernels/launches.cu", "tile")
"""
PROGRAM = """\
import torch
import kagent
import model_new as m
sizes = torch.zeros(8, dtype=torch.int32, device="cuda")
m.clusters.launch(8, 64, cluster=4)(sizes)
assert sizes.tolist() == [4] * 8, sizes
blocks = kagent.device.sm_count
counter = torch.zeros(1, dtype=torch.int32, device="cuda")
seen = torch.zeros(blocks, dtype=torch.int32, device="cuda")
m.count.launch(blocks, 32, cooperative=True)(counter, seen)
assert seen.tolist() == [blocks] * blocks, seen
x = torch.randn(40000, device="cuda")
y = torch.empty_like(x)
m.reverse[1, 1024, 4 * 40000](y, x, 40000)
assert torch.equal(y, x.flip(0))
image = torch.arange(64 * 32, dtype=torch.float32, device="cuda").view(64, 32)
out = torch.empty(8, 16, device="cuda")
m.tile[1, 128](kagent.tensor_map(image, box=[16, 8]), out, 16, 24)
assert torch.equal(out, image[24:32, 16:32]), out
try:
    m.reverse[1, 2048](y, x, 8)
except kagent.LaunchError as error:
    print(error)
try:
    m.reverse[1, 32](y, x.double(), 8)
except kagent.LaunchError as error:
    print(error)
print("all launched")
"""
OPERATOR = """\
import importlib.util, sys, torch
task, candidate = sys.argv[1:]
def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
theirs = load("task", task)
torch.set_default_device("cuda")
torch.backends.cudnn.allow_tf32 = False
arguments = theirs.get_init_inputs()
model = theirs.Model(*arguments).cuda().eval()
sys.path.insert(0, candidate)
import model_new
import kagent
ours = model_new.ModelNew(*arguments).cuda().eval()
ours.load_state_dict(model.state_dict())
with torch.no_grad():
    inputs = theirs.get_inputs()
    expected = model(*inputs)
    got = kagent.prepare(ours)(*inputs)
print("largest difference", (expected - got).abs().max().item(), "of", expected.abs().max().item())
torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4)
"""


@unittest.skipUnless(pathlib.Path("/dev/nvidiactl").exists(), "NO GPU: live launches and audit mode are not tried")
class OnCard(CommandTest):
    backend = "cuda"
    kernel_file = "scale.cu"

    def setUp(self):
        super().setUp()
        self.write(model=cuda.MODEL, kernel=cuda.KERNEL)
        self.python = os.environ["KAGENT_TEST_PYTHON"]

    def run_python(self, folder, text, *arguments):
        program = f"import sys\nsys.path[:0] = [{str(LIBEXEC / 'python')!r}, {str(folder)!r}]\n" + textwrap.dedent(text)
        return subprocess.run([self.python, "-c", program, *map(str, arguments)], text=True, capture_output=True, timeout=200)

    def test_live_launches(self):
        folder = self.root / "live"
        (folder / "kernels").mkdir(parents=True)
        (folder / "model_new.py").write_text(MODEL_NEW)
        (folder / "kernels" / "launches.cu").write_text(LAUNCHES)
        done = self.run_python(folder, PROGRAM)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], "all launched")
        self.assertEqual(len(lines), 3)
        self.assertIn("1024", lines[0])
        self.assertIn("torch.float64", lines[1])

    def test_live_candidates(self):
        for name in ("softmax_rows", "matmul_scale_residual", "conv_batchnorm_activation"):
            with self.subTest(name):
                candidate = TASKS / "candidates" / name / "cuda"
                done = self.run_python(candidate, OPERATOR, TASKS / f"{name}.py", candidate)
                self.assertEqual(done.returncode, 0, done.stderr[-1500:])

    def audit_folder(self):
        folder = self.root / "audit"
        done = self.kagent("plan", self.root / "new", "--task", self.root / "task.py", "--audit", folder, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def under(self, *tool):
        return subprocess.run([*tool, LIBEXEC / "kagent-runner-cuda", "audit", self.root / "audit"], text=True,
                              capture_output=True, timeout=280)

    def test_audit_alone(self):
        self.audit_folder()
        done = self.under()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"output 0: float32 \[64, 32\].*not finite 0 of 2048")

    def test_memcheck(self):
        self.audit_folder()
        good = self.under(SANITIZER, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "9")
        self.assertEqual(good.returncode, 0, good.stdout[-1500:])
        self.assertIn("ERROR SUMMARY: 0 errors", good.stdout)
        shutil.rmtree(self.root / "audit")
        self.write(kernel=cuda.KERNEL.replace("  for (int", "  if (row == 63) y[64 * columns] = 1;\n  for (int"))
        self.audit_folder()
        bad = self.under(SANITIZER, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "9")
        self.assertNotEqual(bad.returncode, 0, bad.stdout[-1500:])
        self.assertRegex(bad.stdout, r"Invalid __global__ write of size 4 bytes")
        self.assertIn("scale_relu", bad.stdout)

    def test_ncu(self):
        if not pathlib.Path(NCU).exists():
            self.skipTest("no ncu")
        self.audit_folder()
        done = self.under(NCU, "--metrics", "gpu__time_duration.sum", "--kernel-name", "scale_relu")
        if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
            self.skipTest("performance counters are not permitted here")
        self.assertEqual(done.returncode, 0, done.stdout[-1500:] + done.stderr[-500:])
        self.assertRegex(done.stdout, r"gpu__time_duration\.sum +\S+ +[0-9.,]+")

    def test_nvcc(self):
        done = self.check("--compiler", "nvcc", "--json")
        self.assertIn('"correct":true', done.stdout.replace(" ", ""), done.stderr + done.stdout[-800:])
        self.assertIn(done.returncode, (0, 1, 8))


if __name__ == "__main__":
    unittest.main()
