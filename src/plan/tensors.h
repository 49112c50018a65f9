// SPDX-License-Identifier: Apache-2.0
// Between the contracts' view of a tensor (TensorSpec) and LibTorch's.
#pragma once

#include <kagent/plan.h>
#include <kagent/tensor.h>

#include <ATen/core/Tensor.h>

#include <string>

namespace kagent::plan {

at::ScalarType scalar_type(DType dtype);

/// "float32 [4, 512] stride [512, 1]".
std::string describe(const TensorSpec& spec);
std::string describe(const at::Tensor& tensor);

/// Same dtype, shape and stride; the stride of a dimension of length 0 or 1 says nothing.
bool matches(const at::Tensor& tensor, const TensorSpec& spec);

/// A tensor over memory that outlives it.
at::Tensor tensor_over(void* memory, const TensorSpec& spec, at::Device device);

/// A new tensor on `device` with a constant's bytes (contiguous, row-major) in the value's layout.
at::Tensor constant_tensor(const PlanValue& value, at::Device device);

}  // namespace kagent::plan
