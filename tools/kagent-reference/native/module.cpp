// SPDX-License-Identifier: Apache-2.0
// kagent_native: what the reference does in C++, so that nothing that judges or times is Python.
// `import torch` comes first. Importing touches no device.
#include "bindings.h"
#include "python_json.h"

namespace py = pybind11;

namespace kagent::reference {
namespace {

PyObject* task_error = nullptr;    // owned by the module for as long as the process lives
PyObject* plain_error = nullptr;

}  // namespace

void raise(const Error& error) {
  PyErr_SetString(error.kind == ErrorKind::task_invalid ? task_error : plain_error,
                  error.message.c_str());
  throw py::error_already_set();
}

}  // namespace kagent::reference

PYBIND11_MODULE(kagent_native, module) {
  using namespace kagent::reference;
  module.doc() = "Arenas, comparison and clocks of kagent's reference.";
  plain_error = PyErr_NewException("kagent_native.Error", PyExc_RuntimeError, nullptr);
  task_error = PyErr_NewException("kagent_native.TaskError", PyExc_ValueError, nullptr);
  module.add_object("Error", py::reinterpret_borrow<py::object>(plain_error));
  module.add_object("TaskError", py::reinterpret_borrow<py::object>(task_error));
  bind_memory(module);
  bind_judging(module);
  bind_timing(module);
}
