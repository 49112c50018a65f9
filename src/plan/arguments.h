// SPDX-License-Identifier: Apache-2.0
// Tagged arguments of a plan, converted once by the types of an operator's schema. What does not
// depend on a tensor is converted at load; tensors are put in at each call.
#pragma once

#include <kagent/plan.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <string>
#include <variant>
#include <vector>

namespace kagent::plan {

struct TensorSlot {
  int value = -1;
};
struct TensorListSlot {
  std::vector<int> values;
};
struct OptionalTensorListSlot {
  std::vector<int> values;
};  // -1: None

using Slot = std::variant<c10::IValue, TensorSlot, TensorListSlot, OptionalTensorListSlot>;

/// The slots in schema order, or what is wrong with the arguments ("argument 2 (alpha): ...").
std::variant<std::vector<Slot>, std::string> convert_arguments(
    const c10::FunctionSchema& schema, const std::vector<Argument>& arguments, at::Device device);

/// Pushes every slot with its tensors out of `values`.
void push_arguments(const std::vector<Slot>& slots, const std::vector<at::Tensor>& values,
                    torch::jit::Stack& stack);

}  // namespace kagent::plan
