// SPDX-License-Identifier: Apache-2.0
// Numerics and the comparison for Python.
#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "plan/numerics.h"
#include "python_json.h"
#include "python_tensor.h"
#include "reference/judge.h"
#include "wire/json.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace kagent::reference {
namespace {

py::object apply_numerics(const std::string& word) {
  const auto numerics = unwrap(wire::parse_word<Numerics>(word));
  const plan::NumericsInForce state = unwrap(plan::apply_numerics(numerics));
  return to_python({{"setting", word},
                    {"matmul_tf32", state.matmul_tf32},
                    {"cudnn_conv_tf32", state.cudnn_conv_tf32},
                    {"cudnn_rnn_tf32", state.cudnn_rnn_tf32},
                    {"fp16_reduced_reduction", state.fp16_reduced_reduction},
                    {"bf16_reduced_reduction", state.bf16_reduced_reduction},
                    {"fp16_accumulation", state.fp16_accumulation},
                    {"float32_matmul_precision", state.float32_matmul_precision}});
}

py::object compare_for_python(const Judge& judge, int set, const py::list& outputs,
                              std::optional<int> poison) {
  std::vector<at::Tensor> tensors;
  for (const py::handle& output : outputs) tensors.push_back(tensor_from_python(output));
  std::optional<std::uint8_t> byte;
  if (poison) byte = static_cast<std::uint8_t>(*poison);
  const Comparison comparison = unwrap(judge.compare(set, tensors, byte));
  nlohmann::json json{{"passed", comparison.passed},
                      {"max_error", comparison.max_error},
                      {"error_ratio", comparison.error_ratio}};
  if (comparison.fault) json["fault"] = wire::to_json(*comparison.fault);
  return to_python(json);
}

}  // namespace

void bind_judging(py::module_& module) {
  module.def("apply_numerics", &apply_numerics, "Sets precision; returns what is in force.");
  py::class_<Judge>(module, "Judge")
      .def(py::init<std::vector<std::vector<std::int64_t>>>(), py::arg("operand_shapes"))
      .def("forget", &Judge::forget, py::arg("set"))
      .def("expect",
           [](Judge& judge, int set, const py::object& eager, const py::object& exact,
              const py::object& perturbed) {
             unwrap(judge.expect(set, {tensor_from_python(eager), optional_tensor_from_python(exact),
                                       optional_tensor_from_python(perturbed)}));
           },
           py::arg("set"), py::arg("eager"), py::arg("exact"), py::arg("perturbed"))
      .def("noise", &Judge::noise, py::arg("set"))
      .def("compare", &compare_for_python, py::arg("set"), py::arg("outputs"),
           py::arg("poison") = py::none());
}

}  // namespace kagent::reference
