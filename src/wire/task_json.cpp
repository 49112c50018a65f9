// SPDX-License-Identifier: Apache-2.0
// TaskSignature and DeviceRecord.
#include "wire/forms.h"

namespace kagent::wire {
namespace {

/// A count or a size of the device.
int read_count(const Reader& reader) { return static_cast<int>(reader.integer(0, 1 << 30)); }

}  // namespace

void read(const Reader& reader, InputSpec& input) {
  const auto [tag, content] = reader.only_member();
  if (reader.failed()) return;
  if (tag == "tensor") {
    read(content, input.tensor.emplace());
  } else if (tag == "scalar") {
    read(content, input.scalar);
  } else {
    content.fail("an input is a tensor or a scalar");
  }
}

Json to_json(const InputSpec& input) {
  Json json = Json::object();
  if (input.tensor) {
    json["tensor"] = to_json(*input.tensor);
  } else {
    json["scalar"] = to_json(input.scalar);
  }
  return json;
}

void read(const Reader& reader, WeightSpec& weight) {
  weight.path = reader.field("path").text(kMaxNameBytes);
  read(reader.field("spec"), weight.spec);
  weight.in_state_dict = reader.field("in_state_dict").boolean();
}

Json to_json(const WeightSpec& weight) {
  return {{"path", weight.path},
          {"spec", to_json(weight.spec)},
          {"in_state_dict", weight.in_state_dict}};
}

void read(const Reader& reader, TaskSignature& signature) {
  read_list(reader.field("init"), signature.init_arguments, kMaxEntries);
  read_list(reader.field("inputs"), signature.inputs, kMaxValues);
  read_list(reader.field("weights"), signature.weights, kMaxEntries);
}

Json to_json(const TaskSignature& signature) {
  Json inputs = Json::array();
  for (const InputSpec& input : signature.inputs) inputs.push_back(to_json(input));
  Json weights = Json::array();
  for (const WeightSpec& weight : signature.weights) weights.push_back(to_json(weight));
  Json json{{"inputs", std::move(inputs)}, {"weights", std::move(weights)}};
  json["init"] = list_to_json(signature.init_arguments);
  return json;
}

void read(const Reader& reader, DeviceRecord& device) {
  device.name = reader.field("name").text(kMaxNameBytes);
  device.uuid = reader.field("uuid").text(kMaxNameBytes);
  device.architecture = reader.field("architecture").text(kMaxNameBytes);
  device.driver = reader.field("driver").text(kMaxNameBytes);
  device.capability_major = read_count(reader.field("capability_major"));
  device.capability_minor = read_count(reader.field("capability_minor"));
  device.multiprocessors = read_count(reader.field("multiprocessors"));
  device.max_threads_per_block = read_count(reader.field("max_threads_per_block"));
  device.max_threads_per_multiprocessor =
      read_count(reader.field("max_threads_per_multiprocessor"));
  device.registers_per_multiprocessor = read_count(reader.field("registers_per_multiprocessor"));
  device.warp_size = read_count(reader.field("warp_size"));
  device.shared_bytes_per_block = reader.field("shared_bytes_per_block").integer(0);
  device.shared_bytes_per_multiprocessor =
      reader.field("shared_bytes_per_multiprocessor").integer(0);
  device.l2_bytes = reader.field("l2_bytes").integer(0);
  device.memory_bytes = reader.field("memory_bytes").integer(0);
}

Json to_json(const DeviceRecord& device) {
  return {{"name", device.name},
          {"uuid", device.uuid},
          {"architecture", device.architecture},
          {"driver", device.driver},
          {"capability_major", device.capability_major},
          {"capability_minor", device.capability_minor},
          {"multiprocessors", device.multiprocessors},
          {"max_threads_per_block", device.max_threads_per_block},
          {"max_threads_per_multiprocessor", device.max_threads_per_multiprocessor},
          {"registers_per_multiprocessor", device.registers_per_multiprocessor},
          {"warp_size", device.warp_size},
          {"shared_bytes_per_block", device.shared_bytes_per_block},
          {"shared_bytes_per_multiprocessor", device.shared_bytes_per_multiprocessor},
          {"l2_bytes", device.l2_bytes},
          {"memory_bytes", device.memory_bytes}};
}

template <>
Result<TaskSignature> parse(const Json& json) {
  return read_document<TaskSignature>(json);
}
template <>
Result<DeviceRecord> parse(const Json& json) {
  return read_document<DeviceRecord>(json);
}

}  // namespace kagent::wire
