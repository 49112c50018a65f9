// SPDX-License-Identifier: Apache-2.0
// torch.Tensor to at::Tensor and back.
#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <pybind11/pybind11.h>

namespace kagent::reference {

/// Throws TypeError for anything but a torch.Tensor.
at::Tensor tensor_from_python(const pybind11::handle& value);
/// None gives an undefined tensor.
at::Tensor optional_tensor_from_python(const pybind11::handle& value);
pybind11::object tensor_to_python(const at::Tensor& tensor);

}  // namespace kagent::reference
