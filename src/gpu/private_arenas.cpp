// SPDX-License-Identifier: Apache-2.0
#include "gpu/private_arenas.h"

#include <string>
#include <utility>

#include "gpu/arena_layout.h"

namespace kagent::gpu {

Result<void> PrivateArenas::add_copy(CUdeviceptr original, DeviceRange copied) {
  const CUdeviceptr watched = copied.address();
  const std::int64_t bytes = round_up(copied.bytes(), kTensorAlignment);
  pairs_.push_back({original, watched, bytes, std::move(copied), false});
  return copy(watched, original, bytes);
}

Result<void> PrivateArenas::add_snapshot(CUdevice device, CUdeviceptr address,
                                         std::int64_t bytes) {
  // Comparing goes by 16 bytes; the canary behind the block's last bytes is compared along.
  const std::int64_t rounded = round_up(bytes, 16);
  KAGENT_TRY(DeviceRange kept, DeviceRange::allocate(driver_, device, rounded, Sharing::none));
  const CUdeviceptr truth = kept.address();
  KAGENT_TRY_VOID(copy(truth, address, rounded));
  pairs_.push_back({truth, address, rounded, std::move(kept), true});
  return {};
}

void PrivateArenas::forget_snapshots() {
  std::erase_if(pairs_, [](const Pair& pair) { return pair.snapshot; });
}

Result<void> PrivateArenas::copy(CUdeviceptr to, CUdeviceptr from, std::int64_t bytes) const {
  return driver_.check(
      driver_.cuMemcpyDtoDAsync(to, from, static_cast<std::size_t>(bytes), stream_),
      "cuMemcpyDtoDAsync");
}

Result<void> PrivateArenas::refresh() {
  for (const Pair& pair : pairs_) {
    KAGENT_TRY_VOID(copy(pair.watched, pair.truth, pair.bytes));
  }
  return {};
}

std::optional<Fault> PrivateArenas::find_change() {
  for (const Pair& pair : pairs_) {
    auto offset = instruments_.first_difference(pair.truth, pair.watched, pair.bytes, stream_);
    if (offset && *offset < 0) continue;
    Fault fault;
    fault.kind = offset ? FaultKind::input_modified : FaultKind::crash;
    if (!offset) {
      fault.message = "crashed: " + offset.error().message;
      return fault;
    }
    fault.message = pair.snapshot ? "wrote to a tensor of prepare() or a constant, which must stay"
                                  : "wrote to an input or weight, which must stay as it is";
    fault.hint = "write results to a tensor that forward allocates";
    fault.detail = "first changed byte: about " + std::to_string(*offset) + " of " +
                   std::to_string(pair.bytes) + "\n";
    static_cast<void>(copy(pair.watched, pair.truth, pair.bytes));
    return fault;
  }
  return std::nullopt;
}

}  // namespace kagent::gpu
