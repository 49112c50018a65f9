// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_spec.h"

#include <string>

#include <ATen/ops/from_blob.h>

namespace kagent::reference {

Result<DType> dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble: return DType::float64;
    case at::kFloat: return DType::float32;
    case at::kHalf: return DType::float16;
    case at::kBFloat16: return DType::bfloat16;
    case at::kFloat8_e4m3fn: return DType::float8_e4m3fn;
    case at::kFloat8_e5m2: return DType::float8_e5m2;
    case at::kComplexFloat: return DType::complex64;
    case at::kComplexDouble: return DType::complex128;
    case at::kLong: return DType::int64;
    case at::kInt: return DType::int32;
    case at::kShort: return DType::int16;
    case at::kChar: return DType::int8;
    case at::kByte: return DType::uint8;
    case at::kBool: return DType::boolean;
    default: break;
  }
  return Error{ErrorKind::task_invalid, std::string("tensors of dtype ") +
                                            c10::toString(tensor.scalar_type()) +
                                            " are not supported"};
}

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::float64: return at::kDouble;
    case DType::float32: return at::kFloat;
    case DType::float16: return at::kHalf;
    case DType::bfloat16: return at::kBFloat16;
    case DType::float8_e4m3fn: return at::kFloat8_e4m3fn;
    case DType::float8_e5m2: return at::kFloat8_e5m2;
    case DType::complex64: return at::kComplexFloat;
    case DType::complex128: return at::kComplexDouble;
    case DType::int64: return at::kLong;
    case DType::int32: return at::kInt;
    case DType::int16: return at::kShort;
    case DType::int8: return at::kChar;
    case DType::uint8: return at::kByte;
    case DType::boolean: return at::kBool;
  }
  return at::kFloat;
}

Result<TensorSpec> spec_of(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_quantized() || tensor.is_nested()) {
    return Error{ErrorKind::task_invalid, "only dense tensors are supported"};
  }
  KAGENT_TRY(const DType dtype, dtype_of(tensor));
  return TensorSpec{dtype, tensor.sizes().vec(), tensor.strides().vec()};
}

at::Tensor tensor_over(void* memory, const TensorSpec& spec, at::Device device) {
  return at::from_blob(memory, spec.shape, spec.stride, nullptr,
                       at::TensorOptions().dtype(scalar_type(spec.dtype)).device(device), device);
}

}  // namespace kagent::reference
