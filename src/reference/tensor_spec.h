// SPDX-License-Identifier: Apache-2.0
// Between LibTorch's view of a tensor and the contracts'.
#pragma once

#include <cstdint>
#include <vector>

#include <kagent/result.h>
#include <kagent/tensor.h>

#include <ATen/core/Tensor.h>

namespace kagent::reference {

/// Error for dtypes that kagent has no name for (quantized, float8 variants beyond two, …).
Result<DType> dtype_of(const at::Tensor& tensor);
at::ScalarType scalar_type(DType dtype);

/// Shape, stride and dtype; Error for sparse, nested and other tensors without strides.
Result<TensorSpec> spec_of(const at::Tensor& tensor);

/// A tensor over memory that outlives it.
at::Tensor tensor_over(void* memory, const TensorSpec& spec, at::Device device);

}  // namespace kagent::reference
