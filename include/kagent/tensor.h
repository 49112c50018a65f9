// SPDX-License-Identifier: Apache-2.0
// How a tensor looks from outside: dtype, shape, stride. No data, no ownership.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kagent {

/// Spelled in JSON as PyTorch spells it without the "torch." prefix (boolean is "bool").
enum class DType {
  float64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2,
  complex64, complex128,
  int64, int32, int16, int8, uint8, boolean,
};

/// Bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::complex128: return 16;
    case DType::float64: case DType::int64: case DType::complex64: return 8;
    case DType::float32: case DType::int32: return 4;
    case DType::float16: case DType::bfloat16: case DType::int16: return 2;
    case DType::float8_e4m3fn: case DType::float8_e5m2: case DType::int8: case DType::uint8:
    case DType::boolean: return 1;
  }
  return 0;
}

struct TensorSpec {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;   // elements
  std::vector<std::int64_t> stride;  // elements, same length as shape

  bool operator==(const TensorSpec&) const = default;
};

/// Where a tensor lies in a shared arena (one memory file or one CUDA VMM allocation).
struct ArenaEntry {
  std::string name;          // weight path, or "0", "1", ... for inputs and outputs
  TensorSpec spec;
  std::int64_t offset = 0;   // bytes from the arena's start; 256-byte aligned
  std::int64_t bytes = 0;    // extent of the tensor's storage, without padding

  bool operator==(const ArenaEntry&) const = default;
};

struct ArenaLayout {
  std::int64_t bytes = 0;  // size of the whole arena
  std::vector<ArenaEntry> entries;

  bool operator==(const ArenaLayout&) const = default;
};

}  // namespace kagent
