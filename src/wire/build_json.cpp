// SPDX-License-Identifier: Apache-2.0
#include "wire/forms.h"

#include <set>

namespace kagent::wire {
namespace {

constexpr std::int64_t kMaxParameterBytes = 4096;  // all of a kernel's parameters together

void check_references(const Reader& reader, const BuildResult& build) {
  std::set<int> seen;
  for (std::size_t i = 0; i < build.kernels.size(); ++i) {
    const KernelBuild& kernel = build.kernels[i];
    const Reader place = reader.field("kernels").item(i);
    if (static_cast<std::size_t>(kernel.unit) >= build.units.size()) {
      place.field("unit").fail("there is no unit " + std::to_string(kernel.unit));
    }
    if (!seen.insert(kernel.kernel).second) {
      place.field("kernel").fail("kernel " + std::to_string(kernel.kernel) + " is there twice");
    }
  }
}

}  // namespace

void read(const Reader& reader, KernelParameter& parameter) {
  parameter.kind = read_word<ParameterKind>(reader.field("kind"));
  parameter.bytes = static_cast<int>(reader.field("bytes").integer(1, kMaxParameterBytes));
  if (const Reader pointee = reader.optional("pointee"); pointee.present()) {
    parameter.pointee = read_word<DType>(pointee);
  }
  parameter.read_only = reader.field("read_only").boolean();
  parameter.type = reader.field("type").text(kMaxExpressionBytes);
}

Json to_json(const KernelParameter& parameter) {
  Json json{{"kind", word(parameter.kind)},
            {"bytes", parameter.bytes},
            {"pointee", nullptr},
            {"read_only", parameter.read_only},
            {"type", parameter.type}};
  if (parameter.pointee) json["pointee"] = word(*parameter.pointee);
  return json;
}

void read(const Reader& reader, KernelBuild& kernel) {
  kernel.kernel = static_cast<int>(reader.field("kernel").integer(0, kMaxKernels - 1));
  kernel.unit = static_cast<int>(reader.field("unit").integer(0, kMaxKernels - 1));
  kernel.entry = reader.field("entry").text(kMaxMessageBytes);
  read_list(reader.field("parameters"), kernel.parameters, kMaxArguments);
  kernel.registers = static_cast<int>(reader.field("registers").integer(0, 1 << 20));
  kernel.spill_store_bytes =
      static_cast<int>(reader.field("spill_store_bytes").integer(0, 1 << 30));
  kernel.spill_load_bytes = static_cast<int>(reader.field("spill_load_bytes").integer(0, 1 << 30));
  kernel.shared_bytes = reader.field("shared_bytes").integer(0, 1 << 30);
}

Json to_json(const KernelBuild& kernel) {
  Json parameters = Json::array();
  for (const KernelParameter& parameter : kernel.parameters) {
    parameters.push_back(to_json(parameter));
  }
  return {{"kernel", kernel.kernel},
          {"unit", kernel.unit},
          {"entry", kernel.entry},
          {"parameters", std::move(parameters)},
          {"registers", kernel.registers},
          {"spill_store_bytes", kernel.spill_store_bytes},
          {"spill_load_bytes", kernel.spill_load_bytes},
          {"shared_bytes", kernel.shared_bytes}};
}

void read(const Reader& reader, BuildUnit& unit) {
  unit.source = reader.field("source").text(kMaxNameBytes);
  unit.options = reader.field("options").texts(kMaxArguments, kMaxNameBytes);
  unit.hash = reader.field("hash").text(kMaxNameBytes);
  unit.log = reader.field("log").text(kMaxLogBytes);
  unit.build_ms = reader.field("build_ms").quantity();
}

Json to_json(const BuildUnit& unit) {
  return {{"source", unit.source},
          {"options", unit.options},
          {"hash", unit.hash},
          {"log", unit.log},
          {"build_ms", unit.build_ms}};
}

void read(const Reader& reader, BuildResult& build) {
  build.compiler = reader.field("compiler").text(kMaxNameBytes);
  read_list(reader.field("units"), build.units, kMaxKernels);
  read_list(reader.field("kernels"), build.kernels, kMaxKernels);
  if (!reader.failed()) check_references(reader, build);
}

Json to_json(const BuildResult& build) {
  Json units = Json::array();
  for (const BuildUnit& unit : build.units) units.push_back(to_json(unit));
  Json kernels = Json::array();
  for (const KernelBuild& kernel : build.kernels) kernels.push_back(to_json(kernel));
  return {
      {"compiler", build.compiler}, {"units", std::move(units)}, {"kernels", std::move(kernels)}};
}

template <>
Result<BuildResult> parse(const Json& json) {
  return read_document<BuildResult>(json);
}

}  // namespace kagent::wire
