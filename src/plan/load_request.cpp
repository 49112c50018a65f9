// SPDX-License-Identifier: Apache-2.0
#include "plan/load_request.h"

#include "wire/json.h"

#include <string>
#include <utility>

namespace kagent::plan {
namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 40;

template <typename T>
Result<T> take(const wire::Json& body, const char* field) {
  const auto found = body.find(field);
  if (found == body.end()) {
    return Error{ErrorKind::internal, std::string("load: no field ") + field};
  }
  auto parsed = wire::parse<T>(*found);
  if (!parsed) return std::move(parsed).error().with_context(std::string("load: ") + field);
  return parsed;
}

Result<void> read_fields(const wire::Json& body, LoadRequest& request) {
  KAGENT_TRY(request.plan, take<Plan>(body, "plan"));
  KAGENT_TRY(request.build, take<BuildResult>(body, "build"));
  KAGENT_TRY(request.weights, take<ArenaLayout>(body, "weights"));
  KAGENT_TRY(request.outputs, take<ArenaLayout>(body, "outputs"));
  const auto inputs = body.find("inputs");
  if (inputs == body.end() || !inputs->is_array() || inputs->empty()) {
    return Error{ErrorKind::internal, "load: inputs is not a list of at least one arena"};
  }
  for (const wire::Json& set : *inputs) {
    auto layout = wire::parse<ArenaLayout>(set);
    if (!layout) return std::move(layout).error().with_context("load: inputs");
    request.inputs.push_back(*std::move(layout));
  }
  if (const auto numerics = body.find("numerics"); numerics != body.end()) {
    if (!numerics->is_string()) return Error{ErrorKind::internal, "load: numerics is not a word"};
    KAGENT_TRY(request.numerics, wire::parse_word<Numerics>(numerics->get<std::string>()));
  }
  const auto diagnostic = body.find("diagnostic");
  request.diagnostic =
      diagnostic != body.end() && diagnostic->is_boolean() && diagnostic->get<bool>();
  const auto device = body.find("device_index");
  if (device != body.end() && device->is_number_unsigned() && *device < 1024u) {
    request.device_index = device->get<int>();
  }
  return {};
}

Result<void> sort_descriptors(std::vector<sys::Fd> descriptors, LoadRequest& request) {
  const bool cuda = request.plan.backend == Backend::cuda;
  const std::size_t units = request.build.units.size();
  const std::size_t wanted = 2 + request.inputs.size() + units + (cuda ? 1 : 0);
  if (descriptors.size() != wanted) {
    return Error{ErrorKind::internal, "load: " + std::to_string(descriptors.size()) +
                                          " descriptors came instead of " + std::to_string(wanted) +
                                          " (weights, inputs, outputs, units" +
                                          (cuda ? ", instruments)" : ")")};
  }
  auto next = descriptors.begin();
  request.weights_memory = std::move(*next++);
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    request.inputs_memory.push_back(std::move(*next++));
  }
  request.outputs_memory = std::move(*next++);
  for (std::size_t i = 0; i < units; ++i) request.images.push_back(std::move(*next++));
  if (cuda) request.instruments = std::move(*next++);
  return {};
}

}  // namespace

std::int64_t extent_bytes(const TensorSpec& spec) {
  std::int64_t last = 0;  // index of the farthest element
  const std::int64_t size = size_of(spec.dtype);
  if (spec.shape.size() != spec.stride.size()) return -1;
  for (const std::int64_t length : spec.shape) {
    if (length == 0) return 0;
  }
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    std::int64_t step = 0;
    if (spec.shape[i] < 0 || spec.stride[i] < 0 ||
        __builtin_mul_overflow(spec.shape[i] - 1, spec.stride[i], &step) ||
        __builtin_add_overflow(last, step, &last) || last >= kMaxTensorBytes / size) {
      return -1;
    }
  }
  return (last + 1) * size;
}

Result<void> check_layout(const ArenaLayout& layout, const std::string& what) {
  for (const ArenaEntry& entry : layout.entries) {
    const std::int64_t extent = extent_bytes(entry.spec);
    const bool inside = entry.offset >= 0 && entry.bytes >= 0 && entry.offset <= layout.bytes &&
                        entry.bytes <= layout.bytes - entry.offset;
    if (extent < 0 || extent > entry.bytes || !inside || entry.offset % 16 != 0) {
      return Error{ErrorKind::internal,
                   "load: " + what + ": entry " + entry.name + " does not fit into its arena"};
    }
  }
  return {};
}

Result<LoadRequest> parse_load_request(wire::Frame frame) {
  LoadRequest request;
  KAGENT_TRY_VOID(read_fields(frame.body, request));
  KAGENT_TRY_VOID(sort_descriptors(std::move(frame.descriptors), request));
  KAGENT_TRY_VOID(check_layout(request.weights, "weights"));
  for (const ArenaLayout& set : request.inputs) KAGENT_TRY_VOID(check_layout(set, "inputs"));
  KAGENT_TRY_VOID(check_layout(request.outputs, "outputs"));
  return request;
}

}  // namespace kagent::plan
