// SPDX-License-Identifier: Apache-2.0
#include "python_tensor.h"

#include <torch/csrc/autograd/python_variable.h>

namespace kagent::reference {

at::Tensor tensor_from_python(const pybind11::handle& value) {
  if (!THPVariable_Check(value.ptr())) throw pybind11::type_error("not a torch.Tensor");
  return THPVariable_Unpack(value.ptr());
}

at::Tensor optional_tensor_from_python(const pybind11::handle& value) {
  return value.is_none() ? at::Tensor() : tensor_from_python(value);
}

pybind11::object tensor_to_python(const at::Tensor& tensor) {
  return pybind11::reinterpret_steal<pybind11::object>(THPVariable_Wrap(tensor));
}

}  // namespace kagent::reference
