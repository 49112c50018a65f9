// SPDX-License-Identifier: Apache-2.0
// Clocks for Python. Nothing but the timed callable itself runs in Python while time is taken.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>

#include "bindings.h"
#include "gpu/device_record.h"
#include "gpu/measure.h"
#include "python_json.h"
#include "reference/call_loop.h"
#include "wire/json.h"

namespace py = pybind11;

namespace kagent::reference {
namespace {

constexpr std::int64_t kMostTouched = std::int64_t{1} << 32;

// Calls function(*arguments) and keeps the result until the next call is prepared, so that freeing
// it is not timed.
class Caller {
 public:
  Caller(py::object before, py::object function, py::tuple arguments)
      : before_(std::move(before)), function_(std::move(function)), arguments_(std::move(arguments)) {}

  void prepare() {
    result_ = py::none();
    if (!before_.is_none()) before_();
  }

  void call() {
    PyObject* result = PyObject_Call(function_.ptr(), arguments_.ptr(), nullptr);
    if (result == nullptr) throw py::error_already_set();
    result_ = py::reinterpret_steal<py::object>(result);
  }

 private:
  py::object before_, function_;
  py::tuple arguments_;
  py::object result_ = py::none();
};

void call_loop(int wait_fd, int signal_fd, int calls, std::int64_t touch, const py::object& before,
               const py::object& function, const py::tuple& arguments) {
  if (calls < 1 || touch < 0 || touch > kMostTouched) {
    throw py::value_error("calls or touch is out of range");
  }
  Caller caller(before, function, arguments);
  const CallLoop loop{wait_fd, signal_fd, calls, touch};
  unwrap(run(loop, [&] { caller.prepare(); }, [&] { caller.call(); }));
}

class PythonMeter {
 public:
  PythonMeter(int instruments, std::uint64_t stream) {
    const sys::Fd cubin(fcntl(instruments, F_DUPFD_CLOEXEC, 0));
    meter_ = unwrap(gpu::Meter::create(cubin, reinterpret_cast<void*>(stream)));
  }

  py::object measure(int samples, const py::object& before, const py::object& function,
                     const py::tuple& arguments) {
    if (samples < 1) throw py::value_error("samples is out of range");
    Caller caller(before, function, arguments);
    std::vector<std::string> notes;
    const auto measured = unwrap(meter_->measure(
        samples, [&] { caller.prepare(); }, [&] { caller.call(); }, {}, notes));
    nlohmann::json list = nlohmann::json::array();
    for (const Sample& sample : measured) list.push_back(wire::to_json(sample));
    return to_python({{"samples", std::move(list)}, {"notes", notes}});
  }

 private:
  std::unique_ptr<gpu::Meter> meter_;
};

}  // namespace

void bind_timing(py::module_& module) {
  module.def("call_loop", &call_loop, py::arg("wait_fd"), py::arg("signal_fd"), py::arg("calls"),
             py::arg("touch"), py::arg("before"), py::arg("function"), py::arg("arguments"));
  module.def("start_timeline", [] { unwrap(gpu::start_timeline()); },
             "Before the process first touches CUDA.");
  module.def("device_record", [](int index) {
    return to_python(wire::to_json(unwrap(gpu::read_device(index))));
  });
  py::class_<PythonMeter>(module, "Meter")
      .def(py::init<int, std::uint64_t>(), py::arg("instruments"), py::arg("stream"))
      .def("measure", &PythonMeter::measure, py::arg("samples"), py::arg("before"),
           py::arg("function"), py::arg("arguments"));
}

}  // namespace kagent::reference
