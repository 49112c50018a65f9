// SPDX-License-Identifier: Apache-2.0
// Plan, as docs/plan-format.md has it; its steps are in step_json, its references are checked in
// plan_references.
#include "base/base64.h"
#include "wire/forms.h"

namespace kagent::wire {
namespace {

constexpr const char* kSchema = "kagent.plan/1";
constexpr std::size_t kMaxTunables = 256;

void read_value_content(const Reader& reader, PlanValue& value) {
  switch (value.origin) {
    case ValueOrigin::input:
      value.input = static_cast<int>(reader.field("input").integer(0, kMaxEntries));
      break;
    case ValueOrigin::weight:
    case ValueOrigin::prepared: value.path = reader.field("path").text(kMaxNameBytes); break;
    case ValueOrigin::constant: {
      const Reader data = reader.field("data");
      if (!data.present()) return;
      // Not through text(): constants have a cap of their own, and are not copied as base64.
      const Json& json = data.json();
      if (!json.is_string()) return data.fail("expected text");
      auto bytes = base::base64_decode(json.get_ref<const std::string&>());
      if (!bytes) return data.fail("not base64");
      value.constant = *std::move(bytes);
      break;
    }
    case ValueOrigin::computed: break;
  }
}

}  // namespace

void read(const Reader& reader, PlanValue& value) {
  read(reader, value.spec);
  value.origin = read_word<ValueOrigin>(reader.field("origin"));
  if (!reader.failed()) read_value_content(reader, value);
}

Json to_json(const PlanValue& value) {
  Json json = to_json(value.spec);
  json["origin"] = word(value.origin);
  switch (value.origin) {
    case ValueOrigin::input: json["input"] = value.input; break;
    case ValueOrigin::weight:
    case ValueOrigin::prepared: json["path"] = value.path; break;
    case ValueOrigin::constant: json["data"] = base::base64_encode(value.constant); break;
    case ValueOrigin::computed: break;
  }
  return json;
}

void read(const Reader& reader, KernelRequest& kernel) {
  kernel.source = reader.field("source").text(kMaxNameBytes);
  kernel.name = reader.field("name").text(kMaxExpressionBytes);
  if (const Reader options = reader.optional("options"); options.present()) {
    kernel.options = options.texts(kMaxArguments, kMaxNameBytes);
  }
  read(reader.optional("at"), kernel.at);
}

Json to_json(const KernelRequest& kernel) {
  return {{"source", kernel.source},
          {"name", kernel.name},
          {"options", kernel.options},
          {"at", to_json(kernel.at)}};
}

void read(const Reader& reader, Tunable& tunable) {
  tunable.name = reader.field("name").text(kMaxNameBytes);
  tunable.values = reader.field("values").integers(kMaxTunables);
  if (!reader.failed() && tunable.values.empty()) reader.field("values").fail("has no value");
}

Json to_json(const Tunable& tunable) {
  return {{"name", tunable.name}, {"values", tunable.values}};
}

void read(const Reader& reader, Plan& plan) {
  const std::string schema = reader.field("schema").text(kMaxNameBytes);
  if (!reader.failed() && schema != kSchema) {
    return reader.field("schema").fail("this kagent reads " + std::string(kSchema));
  }
  plan.backend = read_word<Backend>(reader.field("backend"));
  read_list(reader.field("values"), plan.values, kMaxValues);
  read_list(reader.field("kernels"), plan.kernels, kMaxKernels);
  read_list(reader.field("prepare"), plan.prepare, kMaxSteps);
  for (const auto& [name, id] : reader.field("prepared").members(kMaxValues)) {
    read(id, plan.prepared[std::string(name)]);
  }
  read_list(reader.field("forward"), plan.forward, kMaxSteps);
  read(reader.field("outputs"), plan.outputs);
  if (const Reader tunables = reader.optional("tunables"); tunables.present()) {
    read_list(tunables, plan.tunables, kMaxTunables);
  }
  if (reader.failed()) return;
  if (const std::string problem = broken_reference(plan); !problem.empty()) reader.fail(problem);
}

Json to_json(const Plan& plan) {
  Json prepared = Json::object();
  for (const auto& [name, id] : plan.prepared) prepared[name] = id.index;
  Json json{{"schema", kSchema}, {"backend", word(plan.backend)}};
  json["values"] = list_to_json(plan.values);
  json["kernels"] = list_to_json(plan.kernels);
  json["prepare"] = list_to_json(plan.prepare);
  json["prepared"] = std::move(prepared);
  json["forward"] = list_to_json(plan.forward);
  json["outputs"] = to_json(plan.outputs);
  if (!plan.tunables.empty()) json["tunables"] = list_to_json(plan.tunables);
  return json;
}

template <>
Result<Plan> parse(const Json& json) {
  return read_document<Plan>(json);
}

}  // namespace kagent::wire
