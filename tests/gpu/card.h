// SPDX-License-Identifier: Apache-2.0
// One card, one backend with the test kernels loaded; made once in a process.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kagent/device.h>

#include "gpu/cuda_backend.h"
#include "gpu/driver.h"
#include "gpu/kernel_image.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace kagent::test {

class Card {
 public:
  /// Error where this machine has none. The timeline must not be needed, or be started before.
  static Result<std::unique_ptr<Card>> create(const gpu::CudaBackendOptions& options);

  gpu::CudaBackend& backend() { return *backend_; }
  const DeviceRecord& record() const { return record_; }
  const gpu::Driver& driver() const { return *driver_; }
  const sys::Fd& instruments() const { return instruments_; }
  const std::string& image() const { return image_; }
  double create_ms() const { return create_ms_; }

  /// Launches a test kernel through the backend on the default stream.
  template <typename... Arguments>
  std::optional<Fault> launch(LaunchStep step, const Arguments&... arguments) {
    return backend_->launch(step, {pack(arguments)...});
  }

  template <typename T>
  static plan::PackedArgument pack(const T& value) {
    plan::PackedArgument argument{};
    static_assert(sizeof(T) <= sizeof argument.bytes);
    std::memcpy(argument.bytes, &value, sizeof value);
    argument.size = sizeof value;
    return argument;
  }
  static plan::PackedArgument pack(const plan::PackedArgument& argument) { return argument; }

 private:
  DeviceRecord record_;
  const gpu::Driver* driver_ = nullptr;
  sys::Fd instruments_;
  std::string image_;
  std::unique_ptr<gpu::CudaBackend> backend_;
  double create_ms_ = 0;
};

/// Step for the test kernel of that name.
LaunchStep step(const std::string& kernel, std::int64_t grid = 1, std::int64_t block = 1,
                std::int64_t shared_bytes = 0);

/// The process's card; null where there is none, with the reason in card_error().
Card* card();
const std::string& card_error();

/// "  figure: …" on standard output, at once.
[[gnu::format(printf, 1, 2)]] void figure(const char* format, ...);

double median(std::vector<double> values);

/// CUDA tensors.
at::Tensor cuda_empty(std::vector<std::int64_t> shape, at::ScalarType type);

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (card() == nullptr) GTEST_SKIP() << "SKIPPED: no GPU (" << card_error() << ")";
    card()->backend().reuse_allocations();
  }
  void TearDown() override {
    if (card() == nullptr) return;
    const auto fault = card()->backend().synchronize();
    EXPECT_FALSE(fault.has_value()) << "the card is not healthy after this test: " << fault->message;
  }
};

}  // namespace kagent::test
