// SPDX-License-Identifier: Apache-2.0
#include "gpu/tensor_map.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gpu/arena_layout.h"

namespace kagent::gpu {
namespace {

constexpr std::size_t kMaxRank = 5;
constexpr std::int64_t kMaxBox = 256;
constexpr std::int64_t kStrideUnit = 16;             // bytes
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 32;

std::optional<CUtensorMapDataType> data_type(DType dtype) {
  switch (dtype) {
    case DType::float64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::float32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::float16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bfloat16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::int64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::int32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::int16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case DType::complex64:
    case DType::complex128: return std::nullopt;
  }
  return std::nullopt;
}

/// Finds `word` among the pairs; false where it is none of them.
template <typename Value, std::size_t n>
bool choose(const std::pair<const char*, Value> (&words)[n], const std::string& word,
            Value& value) {
  const auto* found =
      std::find_if(std::begin(words), std::end(words), [&](const auto& w) { return word == w.first; });
  if (found == std::end(words)) return false;
  value = found->second;
  return true;
}

constexpr std::pair<const char*, CUtensorMapSwizzle> kSwizzles[] = {
    {"none", CU_TENSOR_MAP_SWIZZLE_NONE},
    {"32B", CU_TENSOR_MAP_SWIZZLE_32B},
    {"64B", CU_TENSOR_MAP_SWIZZLE_64B},
    {"128B", CU_TENSOR_MAP_SWIZZLE_128B}};
constexpr std::pair<const char*, CUtensorMapInterleave> kInterleaves[] = {
    {"none", CU_TENSOR_MAP_INTERLEAVE_NONE},
    {"16B", CU_TENSOR_MAP_INTERLEAVE_16B},
    {"32B", CU_TENSOR_MAP_INTERLEAVE_32B}};
constexpr std::pair<const char*, CUtensorMapL2promotion> kPromotions[] = {
    {"none", CU_TENSOR_MAP_L2_PROMOTION_NONE},
    {"64B", CU_TENSOR_MAP_L2_PROMOTION_L2_64B},
    {"128B", CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
    {"256B", CU_TENSOR_MAP_L2_PROMOTION_L2_256B}};

std::string numbered(const char* what, std::size_t dimension, std::int64_t value) {
  return std::string(what) + " " + std::to_string(value) + " of dimension " +
         std::to_string(dimension) + " (innermost is 0)";
}

/// Sizes and strides, innermost first; the text of what does not fit, or nothing.
std::string fill_geometry(const TensorSpec& spec, TiledMap& tiled) {
  const std::size_t rank = spec.shape.size();
  const std::int64_t element = size_of(spec.dtype);
  std::int64_t extent = element;   // bytes that the dimensions so far span
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = spec.shape[rank - 1 - i];
    const std::int64_t stride = spec.stride[rank - 1 - i];
    if (size < 1 || size > kMaxSize) return numbered("tensor map: size", i, size);
    tiled.sizes[i] = static_cast<std::uint64_t>(size);
    if (i == 0) {
      if (size > 1 && stride != 1) return "tensor map: the innermost dimension is not contiguous";
      extent = size * element;
      continue;
    }
    if (stride < 0 || stride > kMaxStride) return numbered("tensor map: stride", i, stride);
    // Of a dimension of size 1 the stride means nothing; TMA still wants a valid one.
    const std::int64_t bytes = size == 1 ? round_up(extent, kStrideUnit) : stride * element;
    if (bytes % kStrideUnit != 0 || bytes >= kMaxStride || bytes == 0) {
      return numbered("tensor map: stride in bytes", i, bytes) + " is no multiple of 16";
    }
    tiled.strides[i - 1] = static_cast<std::uint64_t>(bytes);
    extent = size > kMaxStride / bytes ? kMaxStride : std::max(extent, bytes * size);
  }
  return "";
}

std::string fill_box(const TensorMap& map, std::size_t rank, TiledMap& tiled) {
  if (map.box.size() != rank) {
    return "tensor map: box has " + std::to_string(map.box.size()) + " dimensions, the tensor " +
           std::to_string(rank);
  }
  if (!map.element_strides.empty() && map.element_strides.size() != rank) {
    return "tensor map: element_strides has " + std::to_string(map.element_strides.size()) +
           " dimensions, the tensor " + std::to_string(rank);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t step = map.element_strides.empty() ? 1 : map.element_strides[i];
    if (map.box[i] < 1 || map.box[i] > kMaxBox) {
      return numbered("tensor map: box size", i, map.box[i]) + " is not in 1..256";
    }
    if (step < 1 || step > 8) {
      return numbered("tensor map: element stride", i, step) + " is not in 1..8";
    }
    tiled.box[i] = static_cast<std::uint32_t>(map.box[i]);
    tiled.element_strides[i] = static_cast<std::uint32_t>(step);
  }
  return "";
}

}  // namespace

std::variant<TiledMap, std::string> translate(const TensorMap& map, const TensorSpec& spec) {
  TiledMap tiled;
  const std::size_t rank = spec.shape.size();
  if (rank < 1 || rank > kMaxRank || spec.stride.size() != rank) {
    return "tensor map: the tensor has " + std::to_string(rank) + " dimensions, TMA takes 1 to 5";
  }
  const auto type = data_type(spec.dtype);
  if (!type) return std::string("tensor map: TMA has no complex numbers");
  tiled.type = *type;
  tiled.rank = static_cast<std::uint32_t>(rank);
  if (std::string text = fill_geometry(spec, tiled); !text.empty()) return text;
  if (std::string text = fill_box(map, rank, tiled); !text.empty()) return text;
  if (!choose(kSwizzles, map.swizzle, tiled.swizzle)) {
    return "tensor map: no swizzle '" + map.swizzle + "'";
  }
  if (!choose(kInterleaves, map.interleave, tiled.interleave)) {
    return "tensor map: no interleave '" + map.interleave + "'";
  }
  if (!choose(kPromotions, map.l2_promotion, tiled.promotion)) {
    return "tensor map: no l2_promotion '" + map.l2_promotion + "'";
  }
  if (map.fill_nan) tiled.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return tiled;
}

std::variant<CUtensorMap, std::string> encode(const Driver& driver, const TiledMap& map,
                                              CUdeviceptr address) {
  CUtensorMap descriptor{};
  const CUresult code = driver.cuTensorMapEncodeTiled(
      &descriptor, map.type, map.rank, reinterpret_cast<void*>(address),
      map.sizes.data(), map.strides.data(), map.box.data(), map.element_strides.data(), map.interleave, map.swizzle, map.promotion, map.fill);
  if (code == CUDA_SUCCESS) return descriptor;
  return "tensor map: the driver refuses it, " + driver.text(code) +
         "; the inner box in bytes must be a multiple of 16 and at most the swizzle's span";
}

}  // namespace kagent::gpu
