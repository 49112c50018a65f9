// SPDX-License-Identifier: Apache-2.0
// TMA descriptors: what a candidate asked for, checked, in the driver's terms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <kagent/plan.h>
#include <kagent/tensor.h>

#include "gpu/driver.h"

namespace kagent::gpu {

/// Arguments of cuTensorMapEncodeTiled; dimensions innermost first.
struct TiledMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, 5> sizes{};     // elements
  std::array<std::uint64_t, 4> strides{};   // bytes, without the innermost
  std::array<std::uint32_t, 5> box{};
  std::array<std::uint32_t, 5> element_strides{};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

/// The map over a tensor of this shape and stride (outermost first, as everywhere in a plan), or
/// one line saying what TMA cannot take.
std::variant<TiledMap, std::string> translate(const TensorMap& map, const TensorSpec& spec);

/// The descriptor's bytes, or the driver's complaint.
std::variant<CUtensorMap, std::string> encode(const Driver& driver, const TiledMap& map,
                                              CUdeviceptr address);

}  // namespace kagent::gpu
