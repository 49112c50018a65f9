// SPDX-License-Identifier: Apache-2.0
#include "builder_fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include "builder/file_access.h"
#include "builder/forked_call.h"
#include "sys/files.h"

namespace kagent::builder {
namespace {

class BuilderHost : public BuilderTest {};

using Entry = void (*)(const void* const*, const std::int64_t*);

/// The image, loaded as the runner does.
class Loaded {
 public:
  explicit Loaded(const Built& built) {
    if (built.images.empty()) return;
    // dlopen knows an object again by its path, so that no number may come twice.
    const int kept = ::fcntl(built.images[0].get(), F_DUPFD_CLOEXEC, 100);
    const std::string path = "/proc/self/fd/" + std::to_string(kept);
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) ADD_FAILURE() << ::dlerror();
  }
  Entry entry(const std::string& name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Entry>(::dlsym(handle_, name.c_str()));
  }

 private:
  void* handle_ = nullptr;  // stays loaded: OpenMP's threads may still stand in it
};

TEST_F(BuilderHost, KernelRunsOncePerBlock) {
  const Built result = built(one_host(
      "#include <kagent/cpu.h>\n#include <cmath>\n#include <algorithm>\n#include <immintrin.h>\n"
      "extern \"C\" void k(const float* __restrict__ x, float* y, int columns, double scale, bool negate) {\n"
      "  const std::int64_t row = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
      "  for (int i = 0; i < columns; ++i) {\n"
      "    const float v = std::max(x[row * columns + i], 0.0f) * float(scale) * blockDim.x;\n"
      "    y[row * columns + i] += negate ? -v : v;\n  }\n}\n"));
  ASSERT_EQ(result.result.kernels.size(), 1u);
  const KernelBuild& kernel = result.result.kernels[0];
  EXPECT_EQ(kernel.entry, "kagent_launch_0");
  ASSERT_EQ(kernel.parameters.size(), 5u);
  EXPECT_EQ(kernel.parameters[0].pointee, DType::float32);
  EXPECT_TRUE(kernel.parameters[0].read_only);
  EXPECT_EQ(kernel.parameters[3].bytes, 8);
  EXPECT_EQ(kernel.parameters[4].kind, ParameterKind::boolean);
  EXPECT_EQ(result.result.compiler.rfind("g++ ", 0), 0u) << result.result.compiler;

  const Loaded image(result);
  const Entry entry = image.entry(kernel.entry);
  ASSERT_NE(entry, nullptr);
  const std::int64_t grid[3] = {4, 3, 5};
  constexpr int kColumns = 7;
  std::vector<float> x(60 * kColumns), y(x.size(), 0.5f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? -1.0f : static_cast<float>(i);
  const float* from = x.data();
  float* to = y.data();
  const int columns = kColumns;
  const double scale = 2;
  const bool negate = true;
  const void* arguments[] = {&from, &to, &columns, &scale, &negate};
  entry(arguments, grid);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], 0.5f - 2 * std::max(x[i], 0.0f)) << i;
  }
}

TEST_F(BuilderHost, TemplatesShareAnImage) {
  const Built result = built(request(
      {{"kernels/k.cpp", "#include <kagent/cpu.h>\n#include \"h.h\"\nnamespace ops {\n"
                         "template <typename T, int N> void fill(T* y, T value) { for (int i = 0; i < N; ++i) y[i] = twice(value); }\n}\n"
                         "__global__ void half(const _Float16* x, kagent::bfloat16* y, float scale) { y[blockIdx.x] = float(x[blockIdx.x]) * scale; }\n"},
       {"kernels/h.h", "#pragma once\ntemplate <class T> T twice(T v) { return v + v; }\n"}},
      {{"kernels/k.cpp", "ops::fill<float, 8>"}, {"kernels/k.cpp", "ops::fill<long, 2>"}, {"kernels/k.cpp", "half"}},
      Backend::cpu));
  ASSERT_EQ(result.result.kernels.size(), 3u);
  EXPECT_EQ(result.result.units.size(), 1u);
  EXPECT_EQ(result.result.kernels[1].parameters[0].pointee, DType::int64);
  EXPECT_EQ(result.result.kernels[2].parameters[0].pointee, DType::float16);
  EXPECT_EQ(result.result.kernels[2].parameters[1].pointee, DType::bfloat16);
  const Loaded image(result);
  const std::int64_t grid[3] = {1, 1, 1};
  float y[8] = {};
  float* to = y;
  const float value = 1.5f;
  const void* arguments[] = {&to, &value};
  ASSERT_NE(image.entry("kagent_launch_0"), nullptr);
  image.entry("kagent_launch_0")(arguments, grid);
  EXPECT_EQ(y[7], 3.0f);
  std::uint16_t from_bits = 0x3e00, to_bits = 0;  // 1.5 as half
  const void* from = &from_bits;
  void* target = &to_bits;
  const float scale = 2;
  const void* half_arguments[] = {&from, &target, &scale};
  image.entry("kagent_launch_2")(half_arguments, grid);
  EXPECT_EQ(to_bits, 0x4040);  // 3.0 as bfloat16
}

TEST_F(BuilderHost, StaticAndUnnamedKernels) {
  const Built result = built(request(
      {{"kernels/k.cpp", "static void hidden(float* x) { x[0] = 1; }\nnamespace { void unnamed(int* x, double) { x[0] = 2; } }\n"
                         "namespace ops { extern \"C\" void plain(long* x) { x[0] = 3; } }\n"}},
      {{"kernels/k.cpp", "hidden"}, {"kernels/k.cpp", "unnamed"}, {"kernels/k.cpp", "ops::plain"}}, Backend::cpu));
  ASSERT_EQ(result.result.kernels.size(), 3u);
  EXPECT_EQ(result.result.kernels[1].parameters.size(), 2u);
  EXPECT_EQ(result.result.kernels[2].parameters[0].pointee, DType::int64);
}

TEST_F(BuilderHost, FastMathLeavesTheProcessAlone) {
  const Built result = built(one_host("extern \"C\" void k(float* x) { x[0] = x[1] / x[2]; }\n", {"-Ofast", "-ffast-math"}));
  const Loaded image(result);
  ASSERT_NE(image.entry("kagent_launch_0"), nullptr);
  volatile float tiny = 1e-38f;
  EXPECT_GT(tiny / 4, 0.0f);  // denormals are still there
}

TEST_F(BuilderHost, ErrorNamesFileAndLine) {
  const Fault found = fault(one_host("#include <kagent/cpu.h>\n\nvoid k(float* x) {\n  x[0] = undefined_name;\n}\n"));
  EXPECT_EQ(found.kind, FaultKind::build_failed);
  EXPECT_EQ(found.at.file, "kernels/k.cpp");
  EXPECT_EQ(found.at.line, 4);
  EXPECT_TRUE(has(found.message, "undefined_name")) << found.message;
  EXPECT_FALSE(has(found.detail, "/tmp")) << found.detail;
  const Fault missing = fault(request({{"kernels/k.cpp", "#include <kagent/cpu.h>\nvoid rows(float* x) { x[0] = 1; }\n"}},
                                      {{"kernels/k.cpp", "cols"}}, Backend::cpu));
  EXPECT_EQ(missing.message, "kernels/k.cpp has no kernel cols") << missing.detail;
  EXPECT_EQ(missing.hint, "it has: rows");
}

TEST_F(BuilderHost, NoFileOfTheMachineGetsIn) {
  for (const char* text : {
           "void k(float* x) { asm volatile(\".incbin \\\"/etc/hostname\\\"\"); }\n",
           "asm(\".inc\" \"lude \\\"/etc/hostname\\\"\");\nvoid k(float* x) {}\n",
           "extern int y asm(\"y\\n.incbin \\\"/etc/hostname\\\"\");\nvoid k(int* x) { x[0] = y; }\n",
           "__attribute__((section(\".data\\n.incbin \\\"/etc/hostname\\\"\\n#\"))) int z = 1;\nvoid k(int* x) { x[0] = z; }\n",
           "#include \"/etc/hostname\"\nvoid k(float* x) {}\n",
       }) {
    const Fault found = fault(one_host(text));
    EXPECT_EQ(found.kind, FaultKind::forbidden_op) << text << found.message;
  }
  // A compiler barrier is no assembly.
  built(one_host("void k(float* x) { x[0] = 1; asm volatile(\"\" ::: \"memory\"); }\n"));
}

TEST_F(BuilderHost, CompilingChildrenCannotOpenOtherFiles) {
  auto paths = CompilerPaths::read(KAGENT_PATHS_FILE);
  ASSERT_TRUE(paths);
  for (const CompilerKind compiler : {CompilerKind::nvrtc, CompilerKind::nvcc, CompilerKind::host}) {
    auto report = memory_file("test");
    ASSERT_TRUE(report);
    const auto can_open = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0 && bool(sys::Fd(::open(path.c_str(), O_RDONLY))); };
    if (sandbox::landlock_version() == 0) GTEST_SKIP() << "no Landlock here";
    const auto access = file_access(*paths, compiler, "/nowhere");
    sandbox::Confinement confinement;
    confinement.files = &access;
    auto nest = sandbox::FreshNest::open();
    auto call = ForkedCall::start(
        [&] {
          std::string seen;
          if (can_open("/etc/hostname")) seen += "hostname ";
          if (can_open(KAGENT_PATHS_FILE)) seen += "paths ";
          if (!can_open(paths->cuda_includes.at(0) + "/cuda_fp16.h")) seen += "no headers ";
          if (sys::Fd(::open("/tmp/kagent-builder-test", O_CREAT | O_RDWR, 0600))) seen += "wrote ";
          [[maybe_unused]] const auto told = sys::write_all(report->get(), seen);
        },
        {report->get()}, std::chrono::seconds(10), nest, confinement);
    ASSERT_TRUE(call);
    pollfd wait{call->pidfd(), POLLIN, 0};
    ::poll(&wait, 1, 10'000);
    ASSERT_EQ(call->finish().code, 0);
    const auto seen = sys::read_all(report->get(), 1000);
    ASSERT_TRUE(seen);
    EXPECT_EQ(*seen, "");
  }
}

TEST_F(BuilderHost, NoFilesStayBehind) {
  const auto count = [] {
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::temp_directory_path())) {
      if (entry.path().filename().string().rfind("kagent_unit", 0) == 0) ++found;
    }
    return found;
  };
  built(one_host("void k(float* x) { x[0] = 1; }\n"));
  fault(one_host("void k(float* x) { x[0] = bad; }\n"));
  EXPECT_EQ(count(), 0);
}

TEST_F(BuilderHost, CompilersDoNotMix) {
  BuildRequest wrong = one_host("void k(float* x) {}\n");
  wrong.compiler = Compiler::nvcc;
  const auto outcome = engine->build(wrong);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace kagent::builder
