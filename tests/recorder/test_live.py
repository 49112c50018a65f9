# SPDX-License-Identifier: Apache-2.0
"""The kagent module in ordinary Python: arguments as bytes, the driver's structs, and C++ kernels that really run."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

LIBEXEC = os.environ["KAGENT_LIBEXEC"]
sys.path.insert(0, os.path.join(LIBEXEC, "python"))
import torch  # noqa: E402

import kagent  # noqa: E402
from documented import documented_example  # noqa: E402
from kagent.live import cuda, packing  # noqa: E402
from kagent.live.builder import Builder  # noqa: E402


def parameter(kind, size, written, pointee=None):
    return {"kind": kind, "bytes": size, "type": written, "pointee": pointee}


class Packing(unittest.TestCase):
    def refused(self, words, argument, *described):
        with self.assertRaises(kagent.LaunchError) as caught:
            packing.pack(argument, parameter(*described))
        self.assertIn(words, str(caught.exception))

    def test_numbers(self):
        pack = packing.pack
        self.assertEqual(b"\x05\0\0\0", pack(5, parameter("signed_integer", 4, "int")))
        self.assertEqual(b"\xff\xff\xff\xff\xff\xff\xff\xff", pack(-1, parameter("signed_integer", 8, "long")))
        self.assertEqual(b"\x01", pack(True, parameter("boolean", 1, "bool")))
        self.assertEqual(b"\0\0\x80\x3f", pack(1, parameter("floating", 4, "float")))
        self.assertEqual(b"\0\x3e", pack(1.5, parameter("half", 2, "__half")))
        self.assertEqual(b"\xc0\x3f", pack(1.5, parameter("bfloat16", 2, "__nv_bfloat16")))
        self.assertEqual(b"\0\0\x80\x7f", pack(float("inf"), parameter("floating", 4, "float")))

    def test_numbers_whatever_the_default_device_is(self):
        with torch.device("meta"):
            self.assertEqual(b"\0\0\x80\x3f", packing.pack(1, parameter("floating", 4, "float")))

    def test_what_does_not_fit(self):
        self.refused("float 1.0 for a parameter of type int", 1.0, "signed_integer", 4, "int")
        self.refused("does not fit into int", 2**31, "signed_integer", 4, "int")
        self.refused("does not fit into unsigned int", -1, "unsigned_integer", 4, "unsigned int")
        self.refused("does not fit into __half", 1e6, "half", 2, "__half")
        self.refused("True for a parameter of type float", True, "floating", 4, "float")
        self.refused("int 3 for a parameter of type float*", 3, "pointer", 8, "float*", "float32")
        self.refused("does not fit into bool", 2, "boolean", 1, "bool")

    def test_tensors(self):
        x = torch.zeros(4)
        self.assertEqual(x.data_ptr().to_bytes(8, "little"),
                         packing.pack(x, parameter("pointer", 8, "float*", "float32")))
        self.assertEqual(8, len(packing.pack(x, parameter("pointer", 8, "void*"))))
        self.assertEqual(8, len(packing.pack(x.bool(), parameter("pointer", 8, "unsigned char*", "uint8"))))
        self.refused("torch.float32 for a parameter of type int*", x, "pointer", 8, "int*", "int32")
        self.refused("a tensor for a parameter of type int", x, "signed_integer", 4, "int")
        with self.assertRaisesRegex(kagent.LaunchError, r"k: 1 arguments for 2 parameters \(int, float\)"):
            packing.PackedArguments("k", [1], [parameter("signed_integer", 4, "int"),
                                               parameter("floating", 4, "float")], None)


class DriverLayout(unittest.TestCase):
    def test_structs_and_numbers_are_the_headers(self):
        text = subprocess.run([os.environ["KAGENT_LAUNCH_LAYOUT"]], capture_output=True, text=True, check=True).stdout
        header = {name: int(number) for name, number in (line.rsplit(" ", 1) for line in text.splitlines())}
        config, attribute = cuda._Config, cuda._Attribute
        import ctypes
        ours = {
            "sizeof(CUlaunchConfig)": ctypes.sizeof(config), "CUlaunchConfig.blockDimX": config.block.offset,
            "CUlaunchConfig.sharedMemBytes": config.shared_bytes.offset, "CUlaunchConfig.hStream": config.stream.offset,
            "CUlaunchConfig.attrs": config.attributes.offset, "CUlaunchConfig.numAttrs": config.count.offset,
            "sizeof(CUlaunchAttribute)": ctypes.sizeof(attribute), "CUlaunchAttribute.value": attribute.value.offset,
            "CUlaunchAttribute.value.clusterDim.z": attribute.value.offset + 8,
            "CU_LAUNCH_ATTRIBUTE_COOPERATIVE": cuda._COOPERATIVE,
            "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION": cuda._CLUSTER,
            "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION": cuda._PROGRAMMATIC,
            "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": cuda._MAX_DYNAMIC_SHARED,
            "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED": cuda._NON_PORTABLE_CLUSTER,
            "CU_TENSOR_MAP_DATA_TYPE_UINT8": cuda._MAP_TYPES[torch.uint8],
            "CU_TENSOR_MAP_DATA_TYPE_UINT16": cuda._MAP_TYPES[torch.int16],
            "CU_TENSOR_MAP_DATA_TYPE_INT32": cuda._MAP_TYPES[torch.int32],
            "CU_TENSOR_MAP_DATA_TYPE_INT64": cuda._MAP_TYPES[torch.int64],
            "CU_TENSOR_MAP_DATA_TYPE_FLOAT16": cuda._MAP_TYPES[torch.float16],
            "CU_TENSOR_MAP_DATA_TYPE_FLOAT32": cuda._MAP_TYPES[torch.float32],
            "CU_TENSOR_MAP_DATA_TYPE_FLOAT64": cuda._MAP_TYPES[torch.float64],
            "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16": cuda._MAP_TYPES[torch.bfloat16],
            "CU_TENSOR_MAP_SWIZZLE_128B": cuda._SWIZZLE["128B"],
            "CU_TENSOR_MAP_INTERLEAVE_32B": cuda._INTERLEAVE["32B"],
            "CU_TENSOR_MAP_L2_PROMOTION_L2_256B": cuda._PROMOTION["256B"],
            "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA": int(True), "sizeof(CUtensorMap)": 128}
        self.assertEqual(header, ours)


class CpuKernels(unittest.TestCase):
    KERNEL = '''
        #include <kagent/cpu.h>
        template <int kShift>
        void scale_rows(float* y, const float* x, int columns, float factor, bool negate) {
          for (int i = 0; i < columns; ++i) {
            const long at = blockIdx.x * columns + i;
            y[at] = (negate ? -x[at] : x[at]) * factor + kShift + gridDim.x * 100;
          }
        }
        '''
    MODEL = '''
        import kagent
        import torch

        k = kagent.kernel("kernels/scale.cpp", "scale_rows<7>", options=["-O2"])

        class ModelNew(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.factor = torch.nn.Parameter(torch.tensor(2.0))

            def prepare(self):
                return {"bias": self.factor * 3}

            def forward(self, x):
                y = torch.empty_like(x)
                k[x.shape[0], 1](y, x, x.shape[1], 0.5, True)
                return y + self.prepared["bias"]
        '''

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kagent-live-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "kernels"))
        self.write("model_new.py", self.MODEL)
        self.write("kernels/scale.cpp", self.KERNEL)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def run_python(self, text):
        """An ordinary interpreter without any hint of where kagent is but the path of its package."""
        program = f"import sys; sys.path[:0] = [{os.path.join(LIBEXEC, 'python')!r}, {self.folder!r}]\n"
        environment = {name: value for name, value in os.environ.items() if name != "KAGENT_LIBEXEC"}
        return subprocess.run([sys.executable, "-c", program + textwrap.dedent(text)], capture_output=True, text=True,
                              env=environment, cwd="/", timeout=100)

    def test_a_candidate_runs(self):
        done = self.run_python('''
            import torch, kagent
            from model_new import ModelNew
            model = kagent.prepare(ModelNew())
            x = torch.arange(12.).reshape(3, 4)
            with torch.no_grad():
                y = model(x)
            assert torch.equal(y, -x * 0.5 + 7 + 300 + 6), y
            assert kagent.device.backend == "cpu" and kagent.device.sm_count > 0
            try:
                import model_new
                model_new.k[3, 1](y, x.int(), 4, 0.5, True)
            except kagent.LaunchError as error:
                print(error)
            ''')
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("argument 2 is a tensor of torch.int32 for a parameter of type", done.stdout)

    def test_the_documented_examples(self):
        for name, text in documented_example("cpp").items():
            self.write(name, text)
        done = self.run_python('''
            import torch
            from model_new import ModelNew
            x = torch.randn(5, 100)
            assert torch.allclose(ModelNew()(x), torch.softmax(x, 1), atol=1e-6)
            ''')
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        kernels = {name: text for name, text in documented_example("cuda").items() if name.startswith("kernels/")}
        build, images = Builder().build({
            "backend": "cuda", "architecture": "sm_90a", "compiler": "nvrtc", "sources": kernels,
            "kernels": [{"kernel": 0, "source": "kernels/bias_relu.cu", "name": "bias_relu<4>",
                         "options": ["-DBLOCK=256"]}]})
        self.assertEqual(["pointer", "pointer", "signed_integer", "signed_integer"],
                         [each["kind"] for each in build["kernels"][0]["parameters"]])
        self.assertEqual(b"\x7fELF", os.pread(images[0], 4, 0))
        for image in images:
            os.close(image)

    def test_a_build_error_carries_the_compilers_words(self):
        self.write("kernels/scale.cpp", self.KERNEL.replace("const long at", "const lung at"))
        done = self.run_python('''
            import torch, kagent
            from model_new import ModelNew
            kagent.prepare(ModelNew())(torch.ones(1, 4))
            ''')
        self.assertEqual(1, done.returncode)
        self.assertIn("lung", done.stderr)
        self.assertIn("BuildError", done.stderr)

    def test_a_missing_file(self):
        os.remove(os.path.join(self.folder, "kernels", "scale.cpp"))
        done = self.run_python("import model_new")
        self.assertIn("kernels/scale.cpp does not exist", done.stderr)


if __name__ == "__main__":
    unittest.main()
