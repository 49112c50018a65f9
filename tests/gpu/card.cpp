// SPDX-License-Identifier: Apache-2.0
#include "card.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>

#include "gpu/device_record.h"
#include "gpu/timeline.h"
#include "nvrtc_image.h"
#include "sys/files.h"
#include "test_kernels.h"

namespace kagent::test {

Result<std::unique_ptr<Card>> Card::create(const gpu::CudaBackendOptions& options) {
  // The subscription comes before cuInit, which reading the device needs.
  if (options.timeline && !options.audit) KAGENT_TRY_VOID(gpu::start_timeline());
  auto card = std::make_unique<Card>();
  KAGENT_TRY(card->driver_, gpu::Driver::initialize());
  KAGENT_TRY(card->record_, gpu::read_device(options.device_index));
  KAGENT_TRY(card->instruments_,
             sys::sealed_memory_file("instruments", compile(instruments_source(),
                                                            card->record_.architecture)));
  card->image_ = compile(kTestKernels, card->record_.architecture);
  const auto start = std::chrono::steady_clock::now();
  KAGENT_TRY(card->backend_, gpu::CudaBackend::create(card->instruments_, options));
  BuildResult build;
  build.units.push_back({"test.cu", {}, "", "", 0});
  for (std::size_t i = 0; i < std::size(kTestEntries); ++i) {
    KernelBuild kernel;
    kernel.kernel = static_cast<int>(i);
    kernel.unit = 0;
    kernel.entry = kTestEntries[i];
    build.kernels.push_back(kernel);
  }
  std::vector<sys::Fd> images;
  KAGENT_TRY(sys::Fd file, sys::sealed_memory_file("image", card->image_));
  images.push_back(std::move(file));
  KAGENT_TRY(const std::optional<Fault> fault, card->backend_->load(build, std::move(images)));
  if (fault) return Error{ErrorKind::internal, fault->message};
  card->create_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return card;
}

LaunchStep step(const std::string& kernel, std::int64_t grid, std::int64_t block,
                std::int64_t shared_bytes) {
  LaunchStep made;
  const auto* found = std::find(std::begin(kTestEntries), std::end(kTestEntries), kernel);
  KAGENT_CHECK(found != std::end(kTestEntries));
  made.kernel = static_cast<int>(found - std::begin(kTestEntries));
  made.grid = {grid, 1, 1};
  made.block = {block, 1, 1};
  made.shared_bytes = shared_bytes;
  return made;
}

namespace {
std::string& error_text() {
  static std::string text;
  return text;
}
}  // namespace

Card* card() {
  static const std::unique_ptr<Card> instance = [] {
    auto made = Card::create({});
    if (made) return *std::move(made);
    error_text() = made.error().message;
    return std::unique_ptr<Card>();
  }();
  return instance.get();
}

const std::string& card_error() { return error_text(); }

void figure(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::printf("  figure: ");
  std::vprintf(format, arguments);
  std::printf("\n");
  std::fflush(stdout);
  va_end(arguments);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

at::Tensor cuda_empty(std::vector<std::int64_t> shape, at::ScalarType type) {
  return at::empty(shape, at::TensorOptions().device(card()->backend().device()).dtype(type));
}

}  // namespace kagent::test
