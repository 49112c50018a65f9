// SPDX-License-Identifier: Apache-2.0
#include "plan/tensors.h"

#include <kagent/result.h>

#include "base/text.h"
#include "wire/json.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

namespace kagent::plan {
namespace {

std::string list(c10::IntArrayRef numbers) {
  std::vector<std::string> parts;
  for (const std::int64_t number : numbers) parts.push_back(std::to_string(number));
  return "[" + base::join(parts, ", ") + "]";
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return at::kDouble;
    case DType::float32:
      return at::kFloat;
    case DType::float16:
      return at::kHalf;
    case DType::bfloat16:
      return at::kBFloat16;
    case DType::float8_e4m3fn:
      return at::kFloat8_e4m3fn;
    case DType::float8_e5m2:
      return at::kFloat8_e5m2;
    case DType::complex64:
      return at::kComplexFloat;
    case DType::complex128:
      return at::kComplexDouble;
    case DType::int64:
      return at::kLong;
    case DType::int32:
      return at::kInt;
    case DType::int16:
      return at::kShort;
    case DType::int8:
      return at::kChar;
    case DType::uint8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
  }
  KAGENT_CHECK(false);
}

std::string describe(const TensorSpec& spec) {
  return std::string(wire::word(spec.dtype)) + " " + list(spec.shape) + " stride " +
         list(spec.stride);
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "no tensor";
  std::string dtype = c10::toString(tensor.scalar_type());
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    const auto candidate = static_cast<DType>(i);
    if (scalar_type(candidate) == tensor.scalar_type()) dtype = wire::word(candidate);
  }
  return dtype + " " + list(tensor.sizes()) + " stride " + list(tensor.strides());
}

bool matches(const at::Tensor& tensor, const TensorSpec& spec) {
  if (!tensor.defined() || tensor.layout() != at::kStrided ||
      tensor.scalar_type() != scalar_type(spec.dtype) || tensor.sizes() != spec.shape) {
    return false;
  }
  if (tensor.numel() == 0) return true;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] > 1 && tensor.stride(static_cast<std::int64_t>(i)) != spec.stride[i]) {
      return false;
    }
  }
  return true;
}

at::Tensor tensor_over(void* memory, const TensorSpec& spec, at::Device device) {
  // target_device spares LibTorch from asking the driver whose memory this is.
  return at::from_blob(
      memory, spec.shape, spec.stride, [](void*) {},
      at::TensorOptions().dtype(scalar_type(spec.dtype)).device(device), device);
}

at::Tensor constant_tensor(const PlanValue& value, at::Device device) {
  const auto options = at::TensorOptions().dtype(scalar_type(value.spec.dtype));
  at::Tensor made = at::empty_strided(value.spec.shape, value.spec.stride, options.device(device));
  if (made.numel() == 0) return made;
  // The bytes are only read: copy_ takes a tensor, and tensors are over mutable memory.
  void* bytes = const_cast<char*>(value.constant.data());
  made.copy_(at::from_blob(bytes, value.spec.shape, options));
  return made;
}

}  // namespace kagent::plan
