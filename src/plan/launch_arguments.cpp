// SPDX-License-Identifier: Apache-2.0
#include "plan/launch_arguments.h"

#include "base/pack_scalar.h"

#include <cstring>

namespace kagent::plan {

const KernelBuild* find_kernel(const BuildResult& build, int kernel) {
  for (const KernelBuild& candidate : build.kernels) {
    if (candidate.kernel == kernel) return &candidate;
  }
  return nullptr;
}

std::variant<LaunchArguments, std::string> LaunchArguments::create(const LaunchStep& step,
                                                                   const KernelBuild& kernel) {
  const std::vector<KernelParameter>& parameters = kernel.parameters;
  if (step.arguments.size() != parameters.size()) {
    return "is given " + std::to_string(step.arguments.size()) + " arguments and takes " +
           std::to_string(parameters.size());
  }
  LaunchArguments made;
  made.packed_.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const LaunchArgument& argument = step.arguments[i];
    const std::string where = "argument " + std::to_string(i) + ": ";
    if (const auto* id = std::get_if<ValueId>(&argument)) {
      if (parameters[i].kind != ParameterKind::pointer) {
        return where + "a tensor for a parameter of type " + parameters[i].type;
      }
      made.tensors_.push_back({i, static_cast<std::size_t>(id->index)});
    } else if (const auto* map = std::get_if<TensorMap>(&argument)) {
      if (parameters[i].kind != ParameterKind::tensor_map) {
        return where + "a tensor map for a parameter of type " + parameters[i].type;
      }
      made.maps_.push_back({i, *map});
    } else {
      const auto packed = base::pack_scalar(argument, parameters[i]);
      if (const auto* problem = std::get_if<std::string>(&packed)) return where + *problem;
      const auto& scalar = std::get<base::PackedScalar>(packed);
      std::memcpy(made.packed_[i].bytes, scalar.bytes.data(), scalar.bytes.size());
      made.packed_[i].size = scalar.size;
    }
  }
  return made;
}

std::variant<const std::vector<PackedArgument>*, Fault> LaunchArguments::fill(
    const std::vector<at::Tensor>& values, Backend& backend) {
  for (const TensorPlace& place : tensors_) {
    const void* address = values[place.value].data_ptr();
    std::memcpy(packed_[place.argument].bytes, &address, sizeof address);
    packed_[place.argument].size = sizeof address;
  }
  for (const MapPlace& place : maps_) {
    auto encoded =
        backend.encode(place.map, values[static_cast<std::size_t>(place.map.tensor.index)]);
    if (auto* fault = std::get_if<Fault>(&encoded)) return std::move(*fault);
    packed_[place.argument] = std::get<PackedArgument>(encoded);
  }
  return &packed_;
}

}  // namespace kagent::plan
