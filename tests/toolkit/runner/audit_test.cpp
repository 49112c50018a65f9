// SPDX-License-Identifier: Apache-2.0
// docs/audit-mode.md: a plan folder run alone.
#include "plan_maker.h"
#include "sys/files.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace kagent::testing {
namespace {

constexpr const char* kSource = R"(
#include <cstdint>
extern "C" void kagent_launch_0(const void* const* a, const std::int64_t*) {
  float* y = *static_cast<float* const*>(a[0]);
  const float* x = *static_cast<const float* const*>(a[1]);
  const int n = *static_cast<const int*>(a[2]);
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
)";

struct Ended {
  int code = -1;
  std::string output;
};

Ended run_program(const std::vector<std::string>& arguments, std::chrono::seconds patience,
                  const std::vector<std::string>& environment = {}) {
  auto capture = sys::OutputCapture::start(1 << 16, 1 << 16);
  sys::SpawnRequest request;
  request.arguments = arguments;
  request.environment = environment;
  request.environment.emplace_back("PATH=/usr/bin:/bin");
  request.output = (*capture)->writer();
  auto process = sys::Process::spawn(request);
  (*capture)->close_writer();
  const auto status = process->wait(sys::Process::Clock::now() + patience);
  (*capture)->finish(1000);
  return {status && status->code ? *status->code : -1, (*capture)->text()};
}

std::string sanitizer_library() {
  std::FILE* pipe = ::popen("g++ -print-file-name=libasan.so", "r");
  char path[4096] = {};
  if (pipe != nullptr) {
    const std::size_t bytes = std::fread(path, 1, sizeof path - 1, pipe);
    ::pclose(pipe);
    while (bytes > 0 && path[std::strlen(path) - 1] == '\n') path[std::strlen(path) - 1] = '\0';
  }
  return path;
}

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() : folder_(*sys::TemporaryDirectory::create("audit-test")) {}

  void write(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(sys::write_file_atomically(folder_.path() / name, bytes));
  }

  /// y = 2 x over `count` elements of tensors of four.
  void write_plan(std::int64_t count, const std::string& options = "-O1") {
    PlanMaker maker;
    const ValueId x = maker.input(contiguous({4}), counting());
    const int kernel = maker.kernel(maker.unit(kSource, options), 0, "double_it",
                                    {{"float*"}, {"const float*"}, {"int"}});
    const ValueId y = maker.empty(contiguous({4}));
    maker.launch(kernel, {y, x, count});
    const Evaluation evaluation = maker.finish({y});
    write("plan.json", wire::dump(wire::to_json(evaluation.plan)));
    write("build.json", wire::dump(wire::to_json(evaluation.build)));
    write("unit-0.so", *sys::read_all(evaluation.images[0].get(), 1u << 24));
    write("inputs.json", wire::dump(wire::to_json(evaluation.inputs[0].layout())));
    write("inputs.bin", evaluation.inputs[0].read_bytes(0));
  }

  static std::string counting() { return bytes_of<float>({1, 2, 3, 4}); }
  Ended audit(const std::vector<std::string>& environment = {}) {
    return run_program({runner_program(), "audit", path()}, std::chrono::seconds(60), environment);
  }
  std::string path() const { return folder_.path().string(); }

  sys::TemporaryDirectory folder_;
};

TEST_F(AuditTest, RunsOnRecordedInputsAndPrintsOutputs) {
  write_plan(4);
  const Ended ended = audit();
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("forward model_new.py:2: kernel double_it"), std::string::npos)
      << ended.output;
  EXPECT_NE(ended.output.find("output 0: float32 [4] stride [1]: first 2 4 6 8, not finite 0 of 4"),
            std::string::npos)
      << ended.output;
}

TEST_F(AuditTest, RunsOnRandomInputsWhereNoneAreThere) {
  write_plan(4);
  std::filesystem::remove(folder_.path() / "inputs.bin");
  const Ended ended = audit();
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ended.output.find("first 2 4 6 8"), std::string::npos) << ended.output;
}

TEST_F(AuditTest, MissingFileIsNamed) {
  write_plan(4);
  std::filesystem::remove(folder_.path() / "unit-0.so");
  const Ended ended = audit();
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("unit-0.so"), std::string::npos) << ended.output;
}

TEST_F(AuditTest, AddressSanitizerSeesAnOverrunOfOneElement) {
  write_plan(5, "-O1 -g -fsanitize=address");
  const Ended ended = audit({"LD_PRELOAD=" + sanitizer_library(), "ASAN_OPTIONS=detect_leaks=0"});
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_NE(ended.output.find("heap-buffer-overflow"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("kagent_launch_0"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("16-byte region"), std::string::npos) << ended.output;
}

// A minute and a half, since LibTorch starts slowly under valgrind.
TEST_F(AuditTest, ValgrindSeesAnOverrunOfOneElement) {
  if (std::getenv("KAGENT_SLOW_TESTS") == nullptr) GTEST_SKIP() << "KAGENT_SLOW_TESTS is not set";
  write_plan(5);
  const Ended ended =
      run_program({"/usr/bin/valgrind", "--error-exitcode=9", "--undef-value-errors=no",
                   "--leak-check=no", runner_program(), "audit", path()},
                  std::chrono::seconds(170));
  EXPECT_EQ(ended.code, 9) << ended.output;
  EXPECT_NE(ended.output.find("kagent_launch_0"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("0 bytes after a block of size 16"), std::string::npos)
      << ended.output;
}

}  // namespace
}  // namespace kagent::testing
