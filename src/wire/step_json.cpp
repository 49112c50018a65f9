// SPDX-License-Identifier: Apache-2.0
// The steps of a plan: operators and launches, with their arguments.
#include "wire/forms.h"

#include <initializer_list>
#include <type_traits>

namespace kagent::wire {
namespace {

constexpr std::int64_t kMaxLaunchDimension = 2147483647;  // what a driver can be asked for

std::array<std::int64_t, 3> read_dimensions(const Reader& reader) {
  const auto list = reader.integers(3, 1, kMaxLaunchDimension);
  if (!reader.failed() && list.size() != 3) reader.fail("expected three integers");
  if (reader.failed()) return {1, 1, 1};
  return {list[0], list[1], list[2]};
}

bool read_flag(const Reader& reader) { return reader.present() && reader.boolean(); }

}  // namespace

void read(const Reader& reader, ValueId& id) {
  id.index = static_cast<int>(reader.integer(0, kMaxValues - 1));
}

void read(const Reader& reader, OperatorStep& step) {
  step.overload = reader.field("op").text(kMaxNameBytes);
  read_list(reader.field("args"), step.arguments, kMaxArguments);
  read_list(reader.field("results"), step.results, kMaxValues);
  if (const Reader name = reader.optional("torch"); name.present()) {
    step.torch_name = name.text(kMaxNameBytes);
  }
}

Json to_json(const OperatorStep& step) {
  Json results = Json::array();
  for (const ValueId id : step.results) results.push_back(id.index);
  Json json{{"op", step.overload}, {"results", std::move(results)}};
  json["args"] = list_to_json(step.arguments);
  if (!step.torch_name.empty()) json["torch"] = step.torch_name;
  return json;
}

void read(const Reader& reader, TensorMap& map) {
  read(reader.field("tensor"), map.tensor);
  map.box = reader.field("box").integers(kMaxRank, 1);
  map.element_strides = reader.field("element_strides").integers(kMaxRank, 1);
  const auto read_choice = [&](const char* name, std::string& value) {
    if (const Reader choice = reader.optional(name); choice.present()) value = choice.text(16);
  };
  read_choice("swizzle", map.swizzle);
  read_choice("interleave", map.interleave);
  read_choice("l2_promotion", map.l2_promotion);
  if (const Reader fill = reader.optional("fill_nan"); fill.present()) {
    map.fill_nan = fill.boolean();
  }
  const auto expect_one_of = [&](const char* name, const std::string& value,
                                 std::initializer_list<const char*> words) {
    for (const char* allowed : words) {
      if (value == allowed) return;
    }
    reader.field(name).fail("no such value");
  };
  if (reader.failed()) return;
  expect_one_of("swizzle", map.swizzle, {"none", "32B", "64B", "128B"});
  expect_one_of("interleave", map.interleave, {"none", "16B", "32B"});
  expect_one_of("l2_promotion", map.l2_promotion, {"none", "64B", "128B", "256B"});
  if (map.element_strides.size() != map.box.size()) {
    reader.fail("box and element_strides differ in length");
  }
}

Json to_json(const TensorMap& map) {
  return {{"tensor", map.tensor.index},
          {"box", map.box},
          {"element_strides", map.element_strides},
          {"swizzle", map.swizzle},
          {"interleave", map.interleave},
          {"l2_promotion", map.l2_promotion},
          {"fill_nan", map.fill_nan}};
}

void read(const Reader& reader, LaunchArgument& argument) {
  const auto [tag, content] = reader.only_member();
  if (tag == "tensor_map") return read(content, argument.emplace<TensorMap>());
  Argument tagged;
  read(reader, tagged);
  if (reader.failed()) return;
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_constructible_v<LaunchArgument, decltype(value)> &&
                      !std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          argument = value;
        } else {
          reader.fail("a launch takes tensor, int, float, bool or tensor_map");
        }
      },
      tagged.value);
}

Json to_json(const LaunchArgument& argument) {
  if (const auto* map = std::get_if<TensorMap>(&argument)) return {{"tensor_map", to_json(*map)}};
  Argument tagged;
  std::visit(
      [&](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, TensorMap>) {
          tagged.value = value;
        }
      },
      argument);
  return to_json(tagged);
}

void read(const Reader& reader, LaunchStep& step) {
  step.kernel = static_cast<int>(reader.field("launch").integer(0, kMaxKernels - 1));
  step.grid = read_dimensions(reader.field("grid"));
  step.block = read_dimensions(reader.field("block"));
  if (const Reader shared = reader.optional("shared_bytes"); shared.present()) {
    step.shared_bytes = shared.integer(0, kMaxLaunchDimension);
  }
  if (const Reader cluster = reader.optional("cluster"); cluster.present()) {
    step.cluster = read_dimensions(cluster);
  }
  step.cooperative = read_flag(reader.optional("cooperative"));
  step.programmatic = read_flag(reader.optional("programmatic"));
  const Reader arguments = reader.field("args");
  const std::size_t count = arguments.list_size(kMaxArguments);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read(arguments.item(i), step.arguments.emplace_back());
  }
}

Json to_json(const LaunchStep& step) {
  Json json{{"launch", step.kernel},
            {"grid", step.grid},
            {"block", step.block},
            {"shared_bytes", step.shared_bytes},
            {"cluster", nullptr},
            {"cooperative", step.cooperative},
            {"programmatic", step.programmatic}};
  if (step.cluster) json["cluster"] = *step.cluster;
  Json arguments = Json::array();
  for (const LaunchArgument& argument : step.arguments) arguments.push_back(to_json(argument));
  json["args"] = std::move(arguments);
  return json;
}

void read(const Reader& reader, Step& step) {
  if (reader.optional("op").present()) {
    read(reader, step.action.emplace<OperatorStep>());
  } else if (reader.optional("launch").present()) {
    read(reader, step.action.emplace<LaunchStep>());
  } else {
    reader.fail("a step has \"op\" or \"launch\"");
  }
  read(reader.optional("at"), step.at);
}

Json to_json(const Step& step) {
  Json json = std::visit([](const auto& action) { return to_json(action); }, step.action);
  json["at"] = to_json(step.at);
  return json;
}

}  // namespace kagent::wire
