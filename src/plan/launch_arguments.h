// SPDX-License-Identifier: Apache-2.0
// Arguments of one launch as the bytes that the kernel's C++ parameters want. Scalars are packed
// once at load; addresses and tensor maps are put in at each call.
#pragma once

#include <kagent/build.h>
#include <kagent/plan.h>

#include "plan/backend.h"

#include <string>
#include <variant>
#include <vector>

namespace kagent::plan {

/// The build's kernel for an index into Plan::kernels, or null.
const KernelBuild* find_kernel(const BuildResult& build, int kernel);

class LaunchArguments {
 public:
  /// What does not fit the kernel's parameters is a text for a bad_launch fault.
  static std::variant<LaunchArguments, std::string> create(const LaunchStep& step,
                                                           const KernelBuild& kernel);

  /// The packed arguments with the addresses of today's tensors; valid until the next call.
  std::variant<const std::vector<PackedArgument>*, Fault> fill(
      const std::vector<at::Tensor>& values, Backend& backend);

 private:
  struct TensorPlace {
    std::size_t argument;
    std::size_t value;
  };
  struct MapPlace {
    std::size_t argument;
    TensorMap map;
  };

  std::vector<PackedArgument> packed_;
  std::vector<TensorPlace> tensors_;
  std::vector<MapPlace> maps_;
};

}  // namespace kagent::plan
