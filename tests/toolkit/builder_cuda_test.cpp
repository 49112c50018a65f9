// SPDX-License-Identifier: Apache-2.0
#include "builder_fixture.h"

#include <fcntl.h>

#include "base/hash.h"
#include "sys/files.h"

namespace kagent::builder {
namespace {

class BuilderCuda : public BuilderTest {};

std::vector<ParameterKind> kinds(const KernelBuild& kernel) {
  std::vector<ParameterKind> result;
  for (const auto& parameter : kernel.parameters) result.push_back(parameter.kind);
  return result;
}

TEST_F(BuilderCuda, TemplateKernelWithItsParameters) {
  const Built result = built(request(
      {{"kernels/rows.cu", "template <int B, typename T> __global__ void rows(const T* __restrict__ x, "
                           "T* y, int n, float scale, bool flag, long long big, unsigned char u) {\n"
                           "  if (flag) y[threadIdx.x] = x[n] * T(scale * B + big + u); }\n"}},
      {{"kernels/rows.cu", "rows<1024, float>"}, {"kernels/rows.cu", "rows<32, double>"}}));
  ASSERT_EQ(result.result.kernels.size(), 2u);
  ASSERT_EQ(result.result.units.size(), 1u);
  ASSERT_EQ(result.images.size(), 1u);
  EXPECT_EQ(result.result.compiler.rfind("nvrtc 13.", 0), 0u) << result.result.compiler;
  const KernelBuild& first = result.result.kernels[0];
  using K = ParameterKind;
  EXPECT_EQ(kinds(first), (std::vector<K>{K::pointer, K::pointer, K::signed_integer, K::floating,
                                          K::boolean, K::signed_integer, K::unsigned_integer}));
  EXPECT_EQ(first.parameters[0].pointee, DType::float32);
  EXPECT_TRUE(first.parameters[0].read_only);
  EXPECT_FALSE(first.parameters[1].read_only);
  EXPECT_EQ(first.parameters[0].type, "float const*");
  EXPECT_EQ(first.parameters[5].bytes, 8);
  EXPECT_EQ(first.parameters[6].bytes, 1);
  EXPECT_GT(first.registers, 0);
  EXPECT_TRUE(has(first.entry, "rowsILi1024Ef")) << first.entry;
  EXPECT_EQ(result.result.kernels[1].parameters[0].pointee, DType::float64);
  EXPECT_NE(result.result.kernels[1].entry, first.entry);
}

TEST_F(BuilderCuda, ImagesAreSealedAndHashed) {
  const Built result = built(one("extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n"));
  ASSERT_EQ(result.images.size(), 1u);
  const int seals = ::fcntl(result.images[0].get(), F_GET_SEALS);
  EXPECT_EQ(seals, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  const auto image = sys::read_all(result.images[0].get(), 1u << 20);
  ASSERT_TRUE(image);
  EXPECT_EQ(base::sha256_hex(*image), result.result.units[0].hash);
  EXPECT_EQ(image->substr(1, 3), "ELF");
  EXPECT_EQ(result.result.kernels[0].entry, "k");
  EXPECT_EQ(result.result.units[0].log, "");
}

TEST_F(BuilderCuda, NamespacesStaticAndExternC) {
  const Built result = built(request(
      {{"kernels/a.cu", "namespace ops { template <class T> __global__ void add(T* x) { x[0] += 1; }\n"
                        "extern \"C\" __global__ void plain(int* x) { x[0] = 2; } }\n"
                        "static __global__ void hidden(unsigned* x) { x[0] = 3; }\n"
                        "namespace { __global__ void unnamed(long* x) { x[0] = 3; } }\n"
                        "__global__ void none() {}\n"}},
      {{"kernels/a.cu", "ops::add<float>"}, {"kernels/a.cu", "ops::plain"}, {"kernels/a.cu", "hidden"},
       {"kernels/a.cu", "unnamed"}, {"kernels/a.cu", "none"}}));
  ASSERT_EQ(result.result.kernels.size(), 5u);
  EXPECT_EQ(result.result.kernels[1].entry, "plain");
  EXPECT_EQ(result.result.kernels[2].parameters[0].pointee, std::nullopt);
  EXPECT_TRUE(has(result.result.kernels[3].entry, "unnamed"));
  EXPECT_TRUE(result.result.kernels[4].parameters.empty());
}

TEST_F(BuilderCuda, HalfTypesAndCooperativeGroups) {
  const Built result = built(one(
      "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "namespace cg = cooperative_groups;\n"
      "extern \"C\" __global__ void k(const __half* a, __nv_bfloat16* b, __half c, __nv_bfloat16 d,\n"
      "    const __nv_fp8_e4m3* e, float4* f, void* g, half2* h) {\n"
      "  auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(block);\n"
      "  float sum = cg::reduce(tile, __half2float(a[threadIdx.x]), cg::plus<float>());\n"
      "  cg::this_grid().sync(); cg::this_cluster().sync(); cg::thread_block_tile<64> big = cg::tiled_partition<64>(block); big.sync();\n"
      "  b[0] = __float2bfloat16(sum + __half2float(c) + float(e[0])) + d; f[0].x = sum;\n"
      "}\n"));
  ASSERT_EQ(result.result.kernels.size(), 1u);
  const auto& parameters = result.result.kernels[0].parameters;
  ASSERT_EQ(parameters.size(), 8u);
  EXPECT_EQ(parameters[0].pointee, DType::float16);
  EXPECT_EQ(parameters[1].pointee, DType::bfloat16);
  EXPECT_EQ(parameters[2].kind, ParameterKind::half);
  EXPECT_EQ(parameters[3].kind, ParameterKind::bfloat16);
  EXPECT_EQ(parameters[3].bytes, 2);
  EXPECT_EQ(parameters[4].pointee, DType::float8_e4m3fn);
  EXPECT_EQ(parameters[5].pointee, std::nullopt);
  EXPECT_EQ(parameters[6].pointee, std::nullopt);
}

TEST_F(BuilderCuda, TensorMapParameter) {
  const Built result = built(one(
      "#include <cuda.h>\n"
      "extern \"C\" __global__ void k(const __grid_constant__ CUtensorMap map, float* y) {\n"
      "  __shared__ alignas(128) float tile[1024]; __shared__ alignas(8) unsigned long long bar;\n"
      "  unsigned s = __cvta_generic_to_shared(tile), b = __cvta_generic_to_shared(&bar);\n"
      "  asm volatile(\"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];\"\n"
      "      :: \"r\"(s), \"l\"(&map), \"r\"(0), \"r\"(b) : \"memory\");\n"
      "  y[0] = tile[0]; }\n"));
  ASSERT_EQ(result.result.kernels.size(), 1u);
  EXPECT_EQ(result.result.kernels[0].parameters[0].kind, ParameterKind::tensor_map);
  EXPECT_EQ(result.result.kernels[0].parameters[0].bytes, 128);
  EXPECT_GE(result.result.kernels[0].shared_bytes, 4096);
}

TEST_F(BuilderCuda, WhatModelsWriteWithoutIncludes) {
  built(one("extern \"C\" __global__ void k(float* x, int64_t n, uint32_t m) {\n"
            "  x[0] = INFINITY; x[1] = NAN; x[2] = FLT_MAX; x[3] = -INFINITY + DBL_MAX + M_PI + INT_MAX;\n"
            "  x[4] = fmaxf(x[1], x[2]) + max(n, int64_t(3)) + min(m, 3u) + FLT_EPSILON; size_t s = 3; x[5] = s; }\n"));
  // A source that brings its own is left alone.
  built(one("#ifndef INFINITY\n#error none\n#endif\n#define INFINITY __int_as_float(0x7f800000)\n"
            "typedef unsigned int uint32_t;\n"
            "extern \"C\" __global__ void k(float* x) { x[0] = INFINITY; }\n"));
}

TEST_F(BuilderCuda, EveryShim) {
  built(one(R"(
#include <cstdint>
#include <cstddef>
#include <type_traits>
#include <limits>
#include <cmath>
#include <cfloat>
#include <climits>
#include <cassert>
#include <cstring>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <utility>
#include <array>
#include <functional>
#include <bit>
#include <stdint.h>
#include <math.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <assert.h>
#include <string.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <vector_types.h>
#include <math_constants.h>
#include <mma.h>
#include <cuda_pipeline.h>
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
__device__ T twice(T v) { return std::fma(v, T(2), T(0)); }
template <std::size_t... I> __device__ int sum(std::index_sequence<I...>) { return (int(I) + ... + 0); }
static_assert(std::is_same_v<std::decay_t<const int&>, int> && std::is_unsigned_v<std::make_unsigned_t<int>>);
static_assert(std::is_convertible_v<int, float> && !std::is_convertible_v<int*, float>);
static_assert(std::is_trivially_copyable_v<float4> && std::is_signed_v<float>);
static_assert(std::is_same_v<std::common_type_t<int, float>, float>);
static_assert(std::numeric_limits<float>::max() == FLT_MAX && std::numeric_limits<int>::min() == INT_MIN);
static_assert(std::is_constructible_v<float, int> && std::is_same_v<std::conditional_t<true, int, float>, int>);
extern "C" __global__ void k(float* x, double* d, std::uint8_t* bytes) {
  assert(x != nullptr);
  x[0] = twice(x[0]) + std::exp(x[1]) + std::sqrt(x[2]) + std::abs(x[3]) + std::pow(x[4], 2.0f);
  x[1] = std::max(x[0], -std::numeric_limits<float>::infinity()) + std::min(3, 4) + std::clamp(x[1], 0.f, 1.f);
  x[2] = std::isnan(x[1]) || std::isinf(x[2]) ? std::tanh(x[3]) : std::floor(x[4]) + expf(x[3]) + std::fmaxf(1, 2);
  x[3] = std::bit_cast<float>(0x3f800000) + sum(std::make_index_sequence<5>{}) + std::plus<float>{}(1, 2);
  std::array<float, 4> a{}; a[1] = x[1]; x[4] = a[1] + a.size() + offsetof(float4, y);
  std::swap(x[5], x[6]); memcpy(bytes, x, 16); memset(bytes + 16, 0, 16);
  d[0] = std::log(d[0]) + std::numeric_limits<double>::epsilon() + std::erf(d[1]) + CUDART_INF_F;
  std::pair<int, float> p{1, 2.f}; x[7] = p.first + p.second + std::move(p).second;
}
)"));
}

TEST_F(BuilderCuda, LibcudacxxAndCub) {
  const auto paths = CompilerPaths::read(KAGENT_PATHS_FILE);
  ASSERT_TRUE(paths);
  if (!paths->has_nv_target) {
    const Fault missing = fault(one("#include <cuda/barrier>\n__global__ void k(float* x) { x[0] = 1; }\n"));
    EXPECT_TRUE(has(missing.hint, "CCCL")) << missing.hint;
    GTEST_SKIP() << "CCCL is not installed";
  }
  built(one("#include <cuda/std/type_traits>\n#include <cuda/atomic>\n#include <cuda/barrier>\n"
            "#include <cstdint>\n#include <limits>\n#include <type_traits>\n#include <utility>\n"
            "#include <cub/block/block_reduce.cuh>\n"
            "extern \"C\" __global__ void k(float* x, int* n) {\n"
            "  using R = cub::BlockReduce<float, 256>; __shared__ typename R::TempStorage t;\n"
            "  float v = R(t).Sum(x[threadIdx.x]); cuda::atomic_ref<int> a(*n); a.fetch_add(1);\n"
            "  if (threadIdx.x == 0) x[0] = v; }\n"));
}

TEST_F(BuilderCuda, SourcesShareHeaders) {
  const Built result = built(request(
      {{"kernels/a.cu", "#include \"row.cuh\"\n__global__ void a(float* x) { x[0] = row(1); }\n"},
       {"kernels/sub/b.cu", "#include \"../row.cuh\"\n#include \"near.cuh\"\n"
                            "__global__ void b(float* x) { x[0] = row(2) + near_by(); }\n"},
       {"kernels/sub/near.cuh", "#pragma once\n#include \"kernels/row.cuh\"\n"
                                "__device__ inline float near_by() { return row(1); }\n"},
       {"kernels/row.cuh", "#pragma once\n#include <cuda_fp16.h>\n"
                           "__device__ inline float row(int i) { return i; }\n"}},
      {{"kernels/a.cu", "a"}, {"kernels/sub/b.cu", "b"}, {"kernels/a.cu", "a", {"-use_fast_math"}}}));
  ASSERT_EQ(result.result.units.size(), 3u);
  EXPECT_EQ(result.result.units[1].source, "kernels/sub/b.cu");
  EXPECT_EQ(result.result.kernels[2].unit, 2);
  EXPECT_EQ(result.result.units[2].options, std::vector<std::string>{"-use_fast_math"});
}

TEST_F(BuilderCuda, OptionsReachTheCompiler) {
  const std::string text = "#if BLOCK != 256 || defined(NOT_THIS)\n#error wrong\n#endif\n"
                           "extern \"C\" __global__ void k(float* x) { x[0] = x[1] / x[2]; }\n";
  built(one(text, {"-DBLOCK=256", "-D", "NOT_THIS", "-UNOT_THIS", "--use_fast_math", "--maxrregcount", "64",
                   "-std=c++17", "-O3", "--fmad=false", "-lineinfo", "--restrict",
                   "--extra-device-vectorization", "--prec-div=false", "--ftz=true"}));
  const Fault missing = fault(one(text));
  EXPECT_EQ(missing.at.line, 2);
  EXPECT_TRUE(has(missing.message, "wrong")) << missing.message;
}

TEST_F(BuilderCuda, SpillsAreReported) {
  const Built result = built(one(
      "extern \"C\" __global__ void k(float* x) {\n"
      "  float v[96];\n#pragma unroll\n  for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n#pragma unroll\n  for (int i = 0; i < 96; ++i) x[i] = v[95 - i] * v[i]; }\n",
      {"--maxrregcount=32"}));
  ASSERT_EQ(result.result.kernels.size(), 1u);
  EXPECT_LE(result.result.kernels[0].registers, 32);
  EXPECT_GT(result.result.kernels[0].spill_store_bytes, 0);
  EXPECT_GT(result.result.kernels[0].spill_load_bytes, 0);
}

TEST_F(BuilderCuda, ErrorNamesFileAndLine) {
  const Fault found = fault(one("#include <cuda_fp16.h>\n\nextern \"C\" __global__ void k(float* x) {\n"
                                "  x[0] = undefined_name;\n}\n"));
  EXPECT_EQ(found.kind, FaultKind::build_failed);
  EXPECT_EQ(found.at.file, "kernels/k.cu");
  EXPECT_EQ(found.at.line, 4);
  EXPECT_TRUE(has(found.message, "kernels/k.cu:4: identifier \"undefined_name\"")) << found.message;
  EXPECT_FALSE(has(found.detail, "kagent_probe")) << found.detail;
  EXPECT_FALSE(has(found.detail, "nvidia/cu13")) << found.detail;
}

TEST_F(BuilderCuda, ErrorInAHeaderAndBehindALineDirective) {
  const Fault header = fault(request(
      {{"kernels/a.cu", "#include \"h.cuh\"\n__global__ void a(float* x) { x[0] = f(); }\n"},
       {"kernels/h.cuh", "\n\n__device__ float f() { return bad; }\n"}},
      {{"kernels/a.cu", "a"}}));
  EXPECT_EQ(header.at.file, "kernels/h.cuh");
  EXPECT_EQ(header.at.line, 3);
  const Fault line = fault(one("#line 900 \"/etc/passwd\"\n__global__ void k(float* x) { x[0] = bad; }\n"));
  EXPECT_EQ(line.at.file, "kernels/k.cu");
  EXPECT_EQ(line.at.line, 2);
}

TEST_F(BuilderCuda, PtxErrorsAreTold) {
  const Fault found = fault(one("extern \"C\" __global__ void k(float* x) { asm volatile(\"wgmma.nonsense;\"); }\n"));
  EXPECT_EQ(found.kind, FaultKind::build_failed);
  EXPECT_TRUE(has(found.detail, "ptxas") || has(found.message, "wgmma")) << found.message << found.detail;
}

TEST_F(BuilderCuda, MissingKernelListsWhatThereIs) {
  const std::string text = "template <int N> __global__ void __launch_bounds__(256) rows(float* x) { x[0] = N; }\n"
                           "// __global__ void commented(float*);\n"
                           "__global__ void over(float* x) {}\n__global__ void over(int* x) {}\n";
  const Fault missing = fault(request({{"kernels/k.cu", text}}, {{"kernels/k.cu", "softmax"}}));
  EXPECT_EQ(missing.kind, FaultKind::build_failed);
  EXPECT_EQ(missing.message, "kernels/k.cu has no kernel softmax");
  EXPECT_EQ(missing.hint, "it has: rows, over");
  EXPECT_EQ(missing.at.file, "model_new.py");
  EXPECT_EQ(missing.at.line, 10);
  const Fault bare = fault(request({{"kernels/k.cu", text}}, {{"kernels/k.cu", "rows<1>"}, {"kernels/k.cu", "rows"}}));
  EXPECT_TRUE(has(bare.message, "kernel rows does not fit")) << bare.message;
  EXPECT_EQ(bare.at.line, 11);
  const Fault overloaded = fault(request({{"kernels/k.cu", text}}, {{"kernels/k.cu", "over"}}));
  EXPECT_TRUE(has(overloaded.message, "kernel over does not fit")) << overloaded.message;
}

TEST_F(BuilderCuda, NamesThatAreNone) {
  for (const char* name : {"k>; int x", "k\"", "k; }", "", "k<1", "1k", "k<(1)>)", "a\nb"}) {
    const Fault found = fault(request({{"kernels/k.cu", "__global__ void k() {}\n"}}, {{"kernels/k.cu", name}}));
    EXPECT_EQ(found.kind, FaultKind::build_failed) << name;
    EXPECT_TRUE(has(found.message, "is no name of a kernel")) << found.message;
  }
}

TEST_F(BuilderCuda, ParametersALaunchCannotFill) {
  const Fault found = fault(one("struct Pair { int a, b; };\n__global__ void k(float* x, Pair p) { x[0] = p.a; }\n"));
  EXPECT_EQ(found.kind, FaultKind::build_failed);
  EXPECT_TRUE(has(found.message, "parameter 2 of kernel k has type Pair")) << found.message;
  EXPECT_EQ(found.at.file, "model_new.py");
}

TEST_F(BuilderCuda, DeviceDataThatOutlastsACall) {
  for (const char* text : {
           "__device__ float state[4];\n__global__ void k(float* x) { state[0] += x[0]; x[1] = state[0]; }\n",
           "__device__ int count = 5;\n__global__ void k(float* x) { x[0] = count++; }\n",
           "__global__ void k(float* x) { static __device__ int n; x[0] = ++n; }\n",
           "__global__ void k(float* x) { static int n; x[0] = ++n; }\n",
           "static constexpr int table[4] = {1, 2, 3, 4};\n__global__ void k(int* x) { x[0] = table[x[1]]; }\n",
           "__device__ int n;\n__global__ void k(int* x) { asm volatile(\"st.global.u32 [n], 3;\"); }\n",
           "__device__ int n;\n__device__ int* p = &n;\n__global__ void k(int* x) { *p = x[0]; }\n",
           "__global__ void k(int* x) { asm volatile(\"{ .global .u32 n; st.global.u32 [n], 3; }\"); }\n",
           "#include <cstdint>\nstruct A { __device__ virtual int f() { return 1; } };\n"
           "__device__ A made;\n__global__ void k(A** x) { x[0] = &made; }\n",
           "__managed__ int m;\n__global__ void k(float* x) { x[0] = ++m; }\n",
       }) {
    const Fault found = fault(one(text));
    EXPECT_EQ(found.kind, FaultKind::forbidden_op) << text << found.message;
    EXPECT_TRUE(has(found.message, "outlasts a call")) << found.message;
    EXPECT_TRUE(has(found.hint, "pass a tensor")) << found.hint;
  }
}

TEST_F(BuilderCuda, ConstantMemoryStaysConstant) {
  for (const char* text : {
           "__constant__ int c[4];\n__global__ void k(int* x) { unsigned long p; asm(\"{ .reg .u64 t; mov.u64 t, c; cvta.const.u64 %0, t; }\" : \"=l\"(p)); *(volatile int*)p = 3; }\n",
           "__global__ void k(int* x) { asm volatile(\"mov.u64 %0, __cud\" \"art_i2opi_f;\" : \"=l\"(*(long*)x)); }\n",
           "__device__ float __cudart_i2opi_f[6];\n__global__ void k(float* x) { x[0] = __cudart_i2opi_f[3]++; }\n",
       }) {
    const Fault found = fault(one(text));
    EXPECT_EQ(found.kind, FaultKind::forbidden_op) << text << found.message;
  }
}

TEST_F(BuilderCuda, ConstantsAndSlowMathAreFine) {
  // A register of inline assembly may be called like a constant; elsewhere the name is the constant's.
  const std::string shadow = "constexpr int P = 4;\n__global__ void k(int* x) { int y;\n"
                             "  asm volatile(\"{ .reg .u32 P; mov.u32 P, 3; mov.u32 %0, P; }\" : \"=r\"(y)); x[0] = y + P;";
  built(one(shadow + " }\n"));
  EXPECT_EQ(fault(one(shadow + " asm volatile(\"st.global.u32 [P], 3;\"); }\n")).kind, FaultKind::forbidden_op);
  built(one("constexpr int kTop = 5;\nstatic const float kHalf = 0.5f;\ntemplate <int N> struct Tile { static constexpr int kRows = N; };\n"
            "__global__ void k(float* x) { x[0] = kTop * kHalf + Tile<3>::kRows; }\n"));
  built(one("__constant__ float table[4] = {1, 2, 3, 4};\n"
            "__global__ void k(float* x, double* d, int i) {\n"
            "  const float w[5] = {1, 2, 3, 4, 5}; x[0] = table[i] * w[i] + sinf(x[1]) * cosf(x[2]) + tanf(x[3]);\n"
            "  d[0] = sin(d[0]) + pow(d[1], 3.3) + tgamma(d[3]); }\n"));
}

TEST_F(BuilderCuda, DeviceRuntimeIsRefused) {
  const Fault heap = fault(one("__global__ void k(float** x) { x[0] = new float[4]; }\n"));
  EXPECT_EQ(heap.kind, FaultKind::forbidden_op);
  EXPECT_TRUE(has(heap.message, "device heap")) << heap.message;
  const Fault print = fault(one("#include <cstdio>\n__global__ void k(float* x) { printf(\"%f\\n\", x[0]); }\n"));
  EXPECT_EQ(print.kind, FaultKind::forbidden_op);
  EXPECT_TRUE(has(print.message, "printf")) << print.message;
  const Fault external = fault(one("extern __device__ float other(float);\n__global__ void k(float* x) { x[0] = other(x[0]); }\n"));
  EXPECT_TRUE(has(external.message, "other")) << external.message;
}

TEST_F(BuilderCuda, HostCodeIsExplained) {
  const Fault torch = fault(one("#include <torch/extension.h>\n__global__ void k(float* x) {}\n"));
  EXPECT_EQ(torch.at.line, 1);
  EXPECT_TRUE(has(torch.hint, "docs/building-kernels.md")) << torch.hint;
  const Fault launch = fault(one("__global__ void k(float* x) {}\nvoid run(float* x) { k<<<1, 1>>>(x); }\n"));
  EXPECT_EQ(launch.at.line, 2) << launch.message;
  EXPECT_FALSE(launch.hint.empty()) << launch.message;
}

TEST_F(BuilderCuda, Nvcc) {
  const auto paths = CompilerPaths::read(KAGENT_PATHS_FILE);
  ASSERT_TRUE(paths);
  if (paths->nvcc.empty()) {
    const auto outcome = engine->build(one("__global__ void k(float* x) {}\n", {}, Compiler::nvcc));
    ASSERT_FALSE(outcome);
    EXPECT_TRUE(has(outcome.error().message, "no nvcc"));
    GTEST_SKIP() << "nvcc is not installed";
  }
  const std::string text = "#include <algorithm>\n#include <vector>\n"
                           "template <int N> __global__ void rows(const float* x, float* y, int n) { y[0] = x[n] * N; }\n"
                           "extern \"C\" __global__ void plain(double* d, bool b) { d[0] = b + sin(d[1]); }\n"
                           "void host(float* x) { rows<4><<<1, 1>>>(x, x, 3); }\n";
  const Built result = built(request({{"kernels/k.cu", text}},
                                     {{"kernels/k.cu", "rows<4>"}, {"kernels/k.cu", "plain"}},
                                     Backend::cuda, Compiler::nvcc));
  ASSERT_EQ(result.result.kernels.size(), 2u);
  EXPECT_EQ(result.result.compiler.rfind("nvcc 13.", 0), 0u) << result.result.compiler;
  EXPECT_EQ(result.result.kernels[1].entry, "plain");
  EXPECT_EQ(result.result.kernels[0].parameters.size(), 3u);
  EXPECT_GT(result.result.kernels[0].registers, 0);
  const Fault error = fault(one("\n__global__ void k(float* x) { x[0] = bad; }\n", {}, Compiler::nvcc));
  EXPECT_EQ(error.at.file, "kernels/k.cu") << error.message;
  EXPECT_EQ(error.at.line, 2);
  EXPECT_FALSE(has(error.detail, "/tmp")) << error.detail;
  const Fault missing = fault(request({{"kernels/k.cu", text}}, {{"kernels/k.cu", "cols"}}, Backend::cuda, Compiler::nvcc));
  EXPECT_EQ(missing.hint, "it has: rows, plain") << missing.message << missing.detail;
  const Fault global = fault(one("__device__ int n;\n__global__ void k(int* x) { x[0] = ++n; }\n", {}, Compiler::nvcc));
  EXPECT_EQ(global.kind, FaultKind::forbidden_op) << global.message;
}

}  // namespace
}  // namespace kagent::builder
