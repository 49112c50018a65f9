// SPDX-License-Identifier: Apache-2.0
// The clock, against kernels of known length (research: timing.md §5, "Validate the timer").
#include "gpu/measure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "card.h"
#include "gpu/instruments.h"
#include "gpu/timeline.h"

namespace kagent::test {
namespace {

using MeterTest = GpuTest;

using Milliseconds = std::chrono::duration<double, std::milli>;
const std::function<void()> kNothing = [] {};

std::vector<double> spans(const std::vector<Sample>& samples) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.span_us);
  return values;
}

/// Measured through the backend, as the runner's `time` request does.
std::vector<Sample> measure(int samples, const std::function<void()>& call,
                            std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> heard;
  auto measured = card()->backend().time(samples, kNothing, call, heard);
  for (const std::string& note : heard) figure("note: %s", note.c_str());
  if (notes != nullptr) *notes = heard;
  EXPECT_TRUE(measured) << (measured ? "" : measured.error().message);
  return measured ? *std::move(measured) : std::vector<Sample>{};
}

std::unique_ptr<gpu::Meter> own_meter() {
  auto meter = gpu::Meter::create(card()->instruments(), nullptr);
  KAGENT_CHECK(static_cast<bool>(meter));
  return *std::move(meter);
}

void launch_spin(std::uint64_t ns) {
  const auto fault = card()->launch(step("spin"), ns);
  ASSERT_FALSE(fault.has_value()) << fault->message;
}

TEST_F(MeterTest, SpinKernelsLieOnALineOfSlopeOne) {
  const std::vector<double> lengths = {5, 10, 50, 100, 500};
  std::vector<double> read;
  for (const double length : lengths) {
    const auto samples =
        measure(30, [&] { launch_spin(static_cast<std::uint64_t>(length * 1000)); });
    const std::vector<double> values = spans(samples);
    ASSERT_EQ(values.size(), 30u);
    read.push_back(median(values));
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    figure("spin %5.0f us reads %.3f us (least %.3f, most %.3f)", length, read.back(), *least,
           *most);
    for (const Sample& sample : samples) {
      EXPECT_EQ(sample.launches, 1);
      EXPECT_EQ(sample.span_us, sample.sum_us);
      EXPECT_EQ(sample.own_us, sample.sum_us) << "spin is a kernel of the build";
    }
  }
  double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    mean_x += lengths[i] / static_cast<double>(lengths.size());
    mean_y += read[i] / static_cast<double>(lengths.size());
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    covariance += (lengths[i] - mean_x) * (read[i] - mean_y);
    variance += (lengths[i] - mean_x) * (lengths[i] - mean_x);
  }
  const double slope = covariance / variance;
  const double intercept = mean_y - slope * mean_x;
  figure("slope %.5f, intercept %.3f us", slope, intercept);
  EXPECT_NEAR(slope, 1.0, 0.002);
  EXPECT_GT(intercept, 0.0);
  EXPECT_LT(intercept, 3.0);
}

TEST_F(MeterTest, EmptyKernelIsTheFloorAndSamplesAreCheap) {
  const auto call = [] { EXPECT_FALSE(card()->launch(step("empty")).has_value()); };
  measure(3, call);
  const auto start = std::chrono::steady_clock::now();
  const auto samples = measure(200, call);
  const double each_ms = Milliseconds(std::chrono::steady_clock::now() - start).count() / 200;
  const std::vector<double> values = spans(samples);
  figure("empty kernel: median %.3f us, least %.3f, most %.3f", median(values),
         *std::min_element(values.begin(), values.end()),
         *std::max_element(values.begin(), values.end()));
  figure("one sample costs %.3f ms", each_ms);
  EXPECT_LT(median(values), 4.0);
  EXPECT_LT(each_ms, 0.4);
  const auto again = std::chrono::steady_clock::now();
  measure(2, call);
  figure("measure() of two samples takes %.3f ms in all",
         Milliseconds(std::chrono::steady_clock::now() - again).count());
}

TEST_F(MeterTest, PartsOfASampleAreKnown) {
  auto instruments = gpu::Instruments::load(card()->driver(), card()->instruments());
  ASSERT_TRUE(instruments) << instruments.error().message;
  const std::int64_t bytes = 2 * card()->record().l2_bytes;
  auto written = gpu::DeviceBuffer::allocate(card()->driver(), bytes);
  auto read = gpu::DeviceBuffer::allocate(card()->driver(), bytes);
  auto control = gpu::MappedHostBuffer::allocate(card()->driver(), 64);
  ASSERT_TRUE(written && read && control);
  ASSERT_TRUE(gpu::collect_timeline());
  for (std::uint32_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(instruments->open(i, nullptr));
    ASSERT_TRUE(instruments->flush_l2(*written, *read, i, nullptr));
    ASSERT_TRUE(instruments->gate(control->device(), 0, 1000000, nullptr));
    ASSERT_TRUE(instruments->end(i, nullptr));
  }
  ASSERT_EQ(card()->driver().cuCtxSynchronize(), CUDA_SUCCESS);
  const auto start = std::chrono::steady_clock::now();
  const auto activities = gpu::collect_timeline();
  figure("collecting takes %.3f ms",
         Milliseconds(std::chrono::steady_clock::now() - start).count());
  ASSERT_TRUE(activities) << activities.error().message;
  std::map<std::string, std::vector<double>> lengths;
  for (const gpu::Activity& activity : *activities) {
    lengths[std::string(activity.name)].push_back(
        static_cast<double>(activity.end_ns - activity.start_ns) / 1000);
  }
  for (const auto& [name, values] : lengths) {
    figure("%s: %zu times, median %.2f us", name.c_str(), values.size(), median(values));
    EXPECT_EQ(values.size(), 10u) << name;
  }
  EXPECT_EQ(lengths.size(), 5u) << "a record is missing, or CUPTI delivers later than a flush";
  const auto reset = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) card()->driver().cuCtxResetPersistingL2Cache();
  figure("cuCtxResetPersistingL2Cache takes %.2f us",
         10 * Milliseconds(std::chrono::steady_clock::now() - reset).count());
}

TEST_F(MeterTest, CopiesReachTheMemorysBandwidth) {
  const std::int64_t bytes = std::int64_t{1} << 30;
  const at::Tensor from = cuda_empty({bytes}, at::kByte);
  const at::Tensor to = cuda_empty({bytes}, at::kByte);
  from.fill_(3);
  const auto report = [&](const char* what, const std::vector<Sample>& samples) {
    const double us = median(spans(samples));
    const double gigabytes = 2.0 * static_cast<double>(bytes) / us / 1e3;
    figure("%s of 1 GiB: %.1f us, %.0f GB/s, %d launches", what, us, gigabytes,
           samples.empty() ? -1 : samples[0].launches);
    EXPECT_GT(gigabytes, 300);
    ASSERT_FALSE(samples.empty());
    EXPECT_EQ(samples[0].launches, 1);
  };
  const std::int64_t blocks = card()->record().multiprocessors * 16;
  report("our copy kernel", measure(10, [&] {
           EXPECT_FALSE(card()->launch(step("copy16", blocks, 512), from.data_ptr(), to.data_ptr(),
                                       static_cast<std::uint64_t>(bytes / 16)));
         }));
  report("torch's copy_", measure(10, [&] { to.copy_(from); }));
  EXPECT_TRUE(at::equal(from.slice(0, 0, 1000), to.slice(0, 0, 1000)));
}

TEST_F(MeterTest, CopiesAndSetsAreActivities) {
  const at::Tensor tensor = cuda_empty({1 << 20}, at::kByte);
  const auto address = reinterpret_cast<CUdeviceptr>(tensor.data_ptr());
  const auto samples = measure(5, [&] {
    card()->driver().cuMemsetD8Async(address, 1, 1 << 19, nullptr);
    card()->driver().cuMemcpyDtoDAsync(address + (1 << 19), address, 1 << 19, nullptr);
  });
  ASSERT_FALSE(samples.empty());
  figure("memset and copy of 512 KiB: span %.2f us, sum %.2f us", samples[0].span_us,
         samples[0].sum_us);
  EXPECT_EQ(samples[0].launches, 2);
  EXPECT_EQ(samples[0].own_us, 0);
}

TEST_F(MeterTest, L2IsColdInsideTheWindow) {
  const std::int64_t bytes = card()->record().l2_bytes / 2;
  const at::Tensor data = at::ones({bytes / 4}, cuda_empty({0}, at::kFloat).options());
  const at::Tensor sink = cuda_empty({1}, at::kInt);
  const std::int64_t blocks = card()->record().multiprocessors * 8;
  const auto read = [&] {
    EXPECT_FALSE(card()->launch(step("read16", blocks, 256), data.data_ptr(),
                                static_cast<std::uint64_t>(bytes / 16), sink.data_ptr()));
  };
  const double once = median(spans(measure(20, read)));
  const double twice = median(spans(measure(20, [&] {
    read();
    read();
  })));
  const double hot = twice - once;
  figure("reading %lld MiB: cold %.2f us (%.0f GB/s), again at once %.2f us (%.0f GB/s)",
         static_cast<long long>(bytes >> 20), once, static_cast<double>(bytes) / once / 1e3, hot,
         static_cast<double>(bytes) / hot / 1e3);
  EXPECT_LT(hot, 0.9 * once) << "the first read finds its data in L2 already";
}

TEST_F(MeterTest, TwoStreamsMakeOneSpan) {
  const gpu::Driver& driver = card()->driver();
  auto image = gpu::KernelImage::load(driver, card()->image());
  ASSERT_TRUE(image) << image.error().message;
  const auto spin = image->function("spin");
  ASSERT_TRUE(spin) << spin.error().message;
  CUstream side = nullptr;
  CUevent begin = nullptr;
  CUevent done = nullptr;
  ASSERT_EQ(driver.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventCreate(&begin, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  const auto start = [&](std::uint64_t ns, CUstream stream) {
    void* parameters[] = {&ns};
    EXPECT_EQ(gpu::launch(driver, *spin, {}, stream, parameters), CUDA_SUCCESS);
  };
  std::vector<std::string> notes;
  const auto joined = measure(10, [&] {
    EXPECT_EQ(driver.cuEventRecord(begin, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamWaitEvent(side, begin, 0), CUDA_SUCCESS);
    start(100'000, nullptr);
    start(200'000, side);
    EXPECT_EQ(driver.cuEventRecord(done, side), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamWaitEvent(nullptr, done, 0), CUDA_SUCCESS);
  }, &notes);
  ASSERT_FALSE(joined.empty());
  figure("100 us and 200 us on two streams: span %.1f, busy %.1f, sum %.1f us, %d launches",
         joined[0].span_us, joined[0].busy_us, joined[0].sum_us, joined[0].launches);
  EXPECT_EQ(joined[0].launches, 2);
  EXPECT_NEAR(joined[0].span_us, 205, 15);
  EXPECT_NEAR(joined[0].sum_us, 302, 10);
  EXPECT_LT(joined[0].busy_us, joined[0].sum_us - 50);
  EXPECT_TRUE(notes.empty());
  // Work that nobody waits for is charged all the same, and told.
  const auto loose = measure(3, [&] {
    start(10'000, nullptr);
    start(300'000, side);
  }, &notes);
  ASSERT_FALSE(loose.empty());
  figure("10 us, and 300 us on a stream that nobody waits for: span %.1f us", loose[0].span_us);
  EXPECT_GT(loose[0].span_us, 295);
  EXPECT_FALSE(notes.empty());
  driver.cuEventDestroy(begin);
  driver.cuEventDestroy(done);
  driver.cuStreamDestroy(side);
}

TEST_F(MeterTest, EveryKindOfLaunchIsCounted) {
  if (card()->record().capability_major < 9) GTEST_SKIP() << "SKIPPED: needs compute capability 9";
  const std::int64_t blocks = card()->record().multiprocessors;
  const at::Tensor words = at::zeros({blocks + 2}, cuda_empty({0}, at::kInt).options());
  auto* base = static_cast<int*>(words.data_ptr());
  LaunchStep cooperative = step("grid_barrier", blocks, 32);
  cooperative.cooperative = true;
  LaunchStep cluster = step("cluster_size", 32, 64);
  cluster.cluster = {8, 1, 1};
  LaunchStep programmatic = step("after_previous");
  programmatic.programmatic = true;
  const auto samples = measure(10, [&] {
    EXPECT_FALSE(card()->launch(cooperative, base, base + 1).has_value());
    EXPECT_FALSE(card()->launch(cluster, base + 1).has_value());
    EXPECT_FALSE(card()->launch(step("set_late"), base, std::uint32_t{0}, std::uint64_t{10000})
                     .has_value());
    EXPECT_FALSE(card()->launch(programmatic, base, base + 1).has_value());
  });
  ASSERT_FALSE(samples.empty());
  figure("cooperative, cluster, plain and programmatic: span %.2f, busy %.2f, sum %.2f us",
         samples[0].span_us, samples[0].busy_us, samples[0].sum_us);
  for (const Sample& sample : samples) EXPECT_EQ(sample.launches, 4);
}

TEST_F(MeterTest, AProgrammaticLaunchAtTheFrontWaitsForTheGate) {
  if (card()->record().capability_major < 9) GTEST_SKIP() << "SKIPPED: needs compute capability 9";
  LaunchStep first = step("spin");
  first.programmatic = true;
  const auto samples =
      measure(20, [&] { EXPECT_FALSE(card()->launch(first, std::uint64_t{20000}).has_value()); });
  figure("programmatic spin of 20 us reads %.2f us", median(spans(samples)));
  EXPECT_NEAR(median(spans(samples)), 21, 2);
}

TEST_F(MeterTest, ACallThatSynchronisesIsMeasuredWithoutAGateAndSaysSo) {
  const auto meter = own_meter();
  std::vector<std::string> notes;
  const auto call = [] {
    launch_spin(20'000);
    EXPECT_FALSE(card()->backend().synchronize().has_value());
    launch_spin(20'000);
  };
  const auto start = std::chrono::steady_clock::now();
  auto samples = meter->measure(3, kNothing, call, {"spin"}, notes);
  figure("with the gate's time-out: %.0f ms",
         Milliseconds(std::chrono::steady_clock::now() - start).count());
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->size(), 3u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "syncs inside: measured ungated");
  figure("two spins of 20 us around a synchronise: span %.1f us, sum %.1f us",
         (*samples)[0].span_us, (*samples)[0].sum_us);
  EXPECT_EQ((*samples)[0].launches, 2);
  const auto again = std::chrono::steady_clock::now();
  samples = meter->measure(3, kNothing, call, {"spin"}, notes);
  const double second_ms = Milliseconds(std::chrono::steady_clock::now() - again).count();
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(notes.size(), 2u);
  EXPECT_LT(second_ms, 500) << "the time-out is paid once";
}

TEST_F(MeterTest, ManyLaunchesAreMeasuredWithoutAGateAndSayso) {
  for (const int launches : {700, 1500}) {
    const auto meter = own_meter();
    std::vector<std::string> notes;
    const auto samples = meter->measure(3, kNothing, [&] {
      for (int i = 0; i < launches; ++i) {
        EXPECT_FALSE(card()->launch(step("empty")).has_value());
      }
    }, {}, notes);
    ASSERT_TRUE(samples) << samples.error().message;
    figure("%d empty kernels: span %.1f us, %.3f us each, note '%s'", launches,
           (*samples)[0].span_us, (*samples)[0].span_us / launches,
           notes.empty() ? "" : notes[0].c_str());
    EXPECT_EQ((*samples)[0].launches, launches);
    EXPECT_EQ(notes.size(), launches > 800 ? 1u : 0u);
  }
}

TEST_F(MeterTest, AnExceptionOfTheCallPassesAndTheNextMeasureWorks) {
  const auto meter = own_meter();
  std::vector<std::string> notes;
  int calls = 0;
  const auto call = [&] {
    launch_spin(5'000);
    if (++calls == 6) throw std::runtime_error("from the call");
  };
  EXPECT_THROW(static_cast<void>(meter->measure(10, kNothing, call, {}, notes)),
               std::runtime_error);
  const auto samples = meter->measure(4, kNothing, call, {}, notes);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->size(), 4u);
  EXPECT_TRUE(notes.empty());
}

TEST_F(MeterTest, ACallWithoutWorkIsZero) {
  const auto samples = measure(3, kNothing);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0], Sample{});
}

TEST_F(MeterTest, WorkOfBeforeIsNotMeasured) {
  std::vector<std::string> notes;
  const auto samples = card()->backend().time(
      5, [] { launch_spin(200'000); }, [] { launch_spin(10'000); }, notes);
  ASSERT_TRUE(samples) << samples.error().message;
  for (const Sample& sample : *samples) {
    EXPECT_EQ(sample.launches, 1);
    EXPECT_LT(sample.span_us, 20);
  }
}

TEST_F(MeterTest, SmallOpAgainstItselfIsEven) {
  const at::Tensor input = at::rand({512, 1024}, cuda_empty({0}, at::kFloat).options());
  const auto call = [&] { return at::softmax(input, 1); };
  const auto left = own_meter();
  const auto right = own_meter();
  std::vector<std::string> notes;
  std::vector<double> ratios;
  std::vector<double> lengths;
  for (int round = 0; round < 40; ++round) {
    // Palindromic: left right right left.
    std::vector<double> of_left;
    std::vector<double> of_right;
    for (const bool first : {true, false, false, true}) {
      auto samples = (first ? left : right)
                         ->measure(5, kNothing, [&] { static_cast<void>(call()); }, {}, notes);
      ASSERT_TRUE(samples) << samples.error().message;
      for (const double span : spans(*samples)) (first ? of_left : of_right).push_back(span);
    }
    lengths.insert(lengths.end(), of_left.begin(), of_left.end());
    ratios.push_back(std::log(median(of_left) / median(of_right)));
  }
  std::sort(ratios.begin(), ratios.end());
  figure("softmax 512x1024: %.3f us; against itself: median of 40 rounds %+.3f %%, "
         "middle 90 %% from %+.2f %% to %+.2f %%",
         median(lengths), 100 * median(ratios), 100 * ratios[2], 100 * ratios[37]);
  EXPECT_LT(std::abs(median(ratios)), 0.01);
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace kagent::test
