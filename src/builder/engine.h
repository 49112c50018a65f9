// SPDX-License-Identifier: Apache-2.0
// Builds all kernels of a candidate: groups them into units, compiles each unit in a forked child,
// several at a time, and checks what came out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "builder/compiler_paths.h"
#include "builder/request.h"

namespace kagent::builder {

struct EngineLimits {
  int parallel_units = 8;
  int unit_seconds = 120;
};

class Engine {
 public:
  /// The process must have one thread for as long as the engine lives, since it forks.
  static Result<std::unique_ptr<Engine>> create(CompilerPaths paths, EngineLimits limits = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Loads NVRTC where it is there and compiles something, so that the first build is warm.
  void warm_up();

  /// A Fault is the candidate's; an Error means that this machine could not do it.
  Result<BuildOutcome> build(const BuildRequest& request);

  /// What can compile here: "nvrtc 13.0", "nvcc 13.0", "c++ (Debian 12.2.0) 12.2.0".
  std::vector<std::string> compilers();

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kagent::builder
