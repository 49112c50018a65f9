// SPDX-License-Identifier: Apache-2.0
// Layouts and arenas for Python.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "python_json.h"
#include "python_tensor.h"
#include "reference/arena.h"
#include "reference/checksum.h"
#include "reference/device_arena.h"
#include "reference/layout.h"
#include "reference/tensor_spec.h"
#include "wire/json.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace kagent::reference {
namespace {

template <typename T>
T parsed(const py::handle& value) {
  return unwrap(wire::parse<T>(from_python(value)));
}

// An arena as Python sees it: it makes tensors over the memory, and knows whether that has changed.
class PythonArena {
 public:
  PythonArena(const std::string& device, int index, std::int64_t bytes, bool read_only)
      : device_(device == "cuda" ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index))
                                 : at::Device(at::kCPU)) {
    const Sharing sharing = read_only ? Sharing::read_only : Sharing::read_write;
    arena_ = unwrap(device_.is_cuda() ? create_device_arena(index, bytes)
                                      : create_host_arena(bytes, sharing));
  }

  int descriptor() const { return unwrap(arena_->descriptor()).release(); }

  py::object tensor(const py::dict& entry) const {
    py::dict form;   // a TensorSpec is part of an entry
    for (const char* key : {"dtype", "shape", "stride"}) form[key] = entry[key];
    const auto spec = parsed<TensorSpec>(form);
    const auto offset = entry["offset"].cast<std::int64_t>();
    const std::int64_t bytes = extent_bytes(spec);
    if (offset < 0 || offset % kArenaAlignment != 0 || bytes > arena_->bytes() - offset) {
      throw py::value_error("the tensor does not lie inside the arena");
    }
    return tensor_to_python(tensor_over(static_cast<char*>(arena_->data()) + offset, spec, device_));
  }

  void remember(const py::handle& layout) {
    sums_ = Checksums(arena_->data(), parsed<ArenaLayout>(layout), device_);
  }

  py::object first_changed() const {
    const auto changed = sums_.first_changed();
    return changed ? py::object(py::int_(*changed)) : py::object(py::none());
  }

 private:
  at::Device device_;
  std::unique_ptr<Arena> arena_;
  Checksums sums_;
};

py::object lay_out_for_python(const std::vector<std::pair<std::string, py::dict>>& tensors) {
  std::vector<std::pair<std::string, TensorSpec>> specs;
  for (const auto& [name, form] : tensors) specs.emplace_back(name, parsed<TensorSpec>(form));
  return to_python(wire::to_json(lay_out(specs)));
}

}  // namespace

void bind_memory(py::module_& module) {
  module.def("arena_form", [](const py::dict& form) {
    return to_python(wire::to_json(arena_form(parsed<TensorSpec>(form))));
  }, "The TensorSpec that a tensor has in an arena.");
  module.def("contiguous", [](const py::dict& form) {
    return to_python(wire::to_json(contiguous(parsed<TensorSpec>(form))));
  }, "The same TensorSpec, row-major.");
  module.def("lay_out", &lay_out_for_python, "ArenaLayout of [(name, TensorSpec)].");
  py::class_<PythonArena>(module, "Arena")
      .def(py::init<const std::string&, int, std::int64_t, bool>(), py::arg("device"),
           py::arg("index"), py::arg("bytes"), py::arg("read_only"))
      .def("descriptor", &PythonArena::descriptor, "A new descriptor, which the caller owns.")
      .def("tensor", &PythonArena::tensor, "A tensor over one entry; the arena must outlive it.")
      .def("remember", &PythonArena::remember, "Takes checksums of a layout's entries.")
      .def("first_changed", &PythonArena::first_changed,
           "Number of the first entry that has changed since remember(), or None.");
}

}  // namespace kagent::reference
