// SPDX-License-Identifier: Apache-2.0
// Every kind of launch, right and refused.
#include "card.h"
#include "gpu/kernel_image.h"
#include "nvrtc_image.h"
#include "sys/files.h"

namespace kagent::test {
namespace {

using LaunchTest = GpuTest;

#define EXPECT_LAUNCHED(expression)                          \
  do {                                                       \
    const auto launch_fault = (expression);                  \
    EXPECT_FALSE(launch_fault.has_value()) << launch_fault->message; \
  } while (false)

at::Tensor zeros(std::int64_t count) {
  return at::zeros({count}, cuda_empty({0}, at::kInt).options());
}

bool is_hopper() { return card()->record().capability_major >= 9; }

TEST_F(LaunchTest, CooperativeBlocksAllRunAtOnce) {
  const std::int64_t blocks = card()->record().multiprocessors;
  const at::Tensor counter = zeros(1);
  const at::Tensor seen = zeros(blocks);
  LaunchStep launch = step("grid_barrier", blocks, 32);
  launch.cooperative = true;
  EXPECT_LAUNCHED(card()->launch(launch, counter.data_ptr(), seen.data_ptr()));
  EXPECT_EQ(seen.cpu().eq(blocks).sum().item<std::int64_t>(), blocks);
}

TEST_F(LaunchTest, CooperativeGridThatDoesNotFitIsABadLaunch) {
  LaunchStep launch = step("grid_barrier", 1'000'000, 1024);
  launch.cooperative = true;
  const at::Tensor words = zeros(2);
  const auto fault = card()->launch(launch, words.data_ptr(), words.data_ptr());
  ASSERT_TRUE(fault.has_value());
  figure("%s | %s", fault->message.c_str(), fault->hint.c_str());
  EXPECT_EQ(fault->kind, FaultKind::bad_launch);
}

TEST_F(LaunchTest, ClustersHaveTheSizeAskedFor) {
  if (!is_hopper()) GTEST_SKIP() << "SKIPPED: clusters need compute capability 9";
  for (const std::int64_t size : {2, 8, 16}) {
    const at::Tensor sizes = zeros(32);
    LaunchStep launch = step("cluster_size", 32, 64);
    launch.cluster = {size, 1, 1};
    EXPECT_LAUNCHED(card()->launch(launch, sizes.data_ptr()));
    EXPECT_EQ(sizes.cpu().eq(size).sum().item<std::int64_t>(), 32) << size;
  }
  LaunchStep launch = step("cluster_size", 32, 64);
  launch.cluster = {3, 1, 1};
  const at::Tensor sizes = zeros(32);
  const auto fault = card()->launch(launch, sizes.data_ptr());
  ASSERT_TRUE(fault.has_value()) << "32 blocks are no multiple of 3";
  figure("%s | %s", fault->message.c_str(), fault->hint.c_str());
  EXPECT_EQ(fault->kind, FaultKind::bad_launch);
}

TEST_F(LaunchTest, ProgrammaticLaunchesKeepTheirOrder) {
  if (!is_hopper()) GTEST_SKIP() << "SKIPPED: programmatic launches need compute capability 9";
  const at::Tensor words = zeros(2);
  auto* base = static_cast<int*>(words.data_ptr());
  LaunchStep second = step("after_previous");
  second.programmatic = true;
  for (int i = 1; i <= 20; ++i) {
    EXPECT_LAUNCHED(card()->launch(step("set_late"), base, static_cast<std::uint32_t>(i),
                                   std::uint64_t{20000}));
    EXPECT_LAUNCHED(card()->launch(second, base, base + 1));
    ASSERT_EQ(words.cpu()[1].item<int>(), i + 1);
  }
}

TEST_F(LaunchTest, SharedMemoryUpToTheCardsLimit) {
  const std::int64_t limit = card()->record().shared_bytes_per_block;
  const at::Tensor words = zeros(2);
  EXPECT_LAUNCHED(card()->launch(step("read_shared", 1, 32, limit), words.data_ptr(), 4u));
  const auto fault =
      card()->launch(step("read_shared", 1, 32, limit + 1024), words.data_ptr(), 4u);
  ASSERT_TRUE(fault.has_value());
  figure("%s | %s", fault->message.c_str(), fault->hint.c_str());
  EXPECT_EQ(fault->kind, FaultKind::bad_launch);
}

TEST_F(LaunchTest, WrongArgumentsAreRefusedBeforeTheDriverReadsThem) {
  const auto few = card()->launch(step("spin"));
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(few->message, "takes 1 arguments, not 0");
  const auto small = card()->launch(step("spin"), std::uint32_t{5});
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->message, "takes 8 bytes as argument 0, not 4");
  const auto block = card()->launch(step("empty", 1, 1025));
  ASSERT_TRUE(block.has_value());
  figure("%s", block->message.c_str());
  EXPECT_EQ(block->kind, FaultKind::bad_launch);
  const auto grid = card()->launch(step("empty", 0, 1));
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->kind, FaultKind::bad_launch);
}

TEST_F(LaunchTest, TensorMapReadsTheTile) {
  if (!is_hopper()) GTEST_SKIP() << "SKIPPED: TMA needs compute capability 9";
  const at::Tensor matrix =
      at::arange(64 * 48, cuda_empty({0}, at::kFloat).options()).view({64, 48});
  const at::Tensor tile = cuda_empty({8, 16}, at::kFloat);
  TensorMap map;
  map.box = {16, 8};
  map.element_strides = {1, 1};
  auto encoded = card()->backend().encode(map, matrix);
  const auto* fault = std::get_if<Fault>(&encoded);
  ASSERT_EQ(fault, nullptr) << fault->message;
  EXPECT_LAUNCHED(card()->launch(step("tma_read", 1, 128), std::get<plan::PackedArgument>(encoded),
                                 tile.data_ptr(), 32, 40));
  EXPECT_TRUE(at::equal(tile.cpu(), matrix.slice(0, 40, 48).slice(1, 32, 48).cpu()));
  map.box = {3, 8};   // 12 bytes: no multiple of 16
  encoded = card()->backend().encode(map, matrix);
  fault = std::get_if<Fault>(&encoded);
  ASSERT_NE(fault, nullptr);
  figure("%s", fault->message.c_str());
  EXPECT_EQ(fault->kind, FaultKind::bad_launch);
}

std::optional<Fault> load_fault(const std::string& image, const std::string& entry) {
  BuildResult build;
  build.units.push_back({"kernels/x.cu", {}, "", "", 0});
  KernelBuild kernel;
  kernel.kernel = 100;
  kernel.unit = 0;
  kernel.entry = entry;
  build.kernels.push_back(kernel);
  std::vector<sys::Fd> images;
  auto file = sys::sealed_memory_file("image", image);
  KAGENT_CHECK(static_cast<bool>(file));
  images.push_back(*std::move(file));
  auto fault = card()->backend().load(build, std::move(images));
  KAGENT_CHECK(static_cast<bool>(fault));
  return *std::move(fault);
}

TEST_F(LaunchTest, BadImagesAreTheCandidatesFault) {
  const auto noise = load_fault("no cubin at all", "x");
  ASSERT_TRUE(noise.has_value());
  EXPECT_EQ(noise->kind, FaultKind::build_failed);
  const auto missing = load_fault(card()->image(), "not_there");
  ASSERT_TRUE(missing.has_value());
  figure("%s", missing->message.c_str());
  EXPECT_EQ(missing->kind, FaultKind::build_failed);
  EXPECT_LAUNCHED(card()->launch(step("empty")));
}

TEST_F(LaunchTest, KernelsNamedLikeInstrumentsAreTampering) {
  const auto fault = load_fault(
      compile("extern \"C\" __global__ void kagent_instrument_gate() {}",
              card()->record().architecture),
      "kagent_instrument_gate");
  ASSERT_TRUE(fault.has_value());
  figure("%s", fault->message.c_str());
  EXPECT_EQ(fault->kind, FaultKind::tampering);
}

}  // namespace
}  // namespace kagent::test
