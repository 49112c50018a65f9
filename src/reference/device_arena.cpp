// SPDX-License-Identifier: Apache-2.0
#include "reference/device_arena.h"

#include <string>
#include <utility>

#include "gpu/device_range.h"
#include "gpu/driver.h"

namespace kagent::reference {
namespace {

class DeviceArena final : public Arena {
 public:
  DeviceArena(gpu::PrimaryContext context, gpu::DeviceRange range)
      : context_(std::move(context)), range_(std::move(range)) {
    data_ = reinterpret_cast<void*>(range_.address());
    bytes_ = range_.bytes();
  }

  Result<sys::Fd> descriptor() const override { return range_.share(); }

 private:
  gpu::PrimaryContext context_;   // outlives the range
  gpu::DeviceRange range_;
};

}  // namespace

Result<std::unique_ptr<Arena>> create_device_arena(int device_index, std::int64_t bytes) {
  KAGENT_TRY(gpu::PrimaryContext context, gpu::PrimaryContext::retain(device_index));
  auto range = gpu::DeviceRange::allocate(context.driver(), context.device(), bytes,
                                          gpu::Sharing::exportable);
  if (!range) {
    return std::move(range).error().with_context("share " + std::to_string(bytes) +
                                                 " bytes of GPU memory");
  }
  return std::unique_ptr<Arena>(
      std::make_unique<DeviceArena>(std::move(context), *std::move(range)));
}

}  // namespace kagent::reference
