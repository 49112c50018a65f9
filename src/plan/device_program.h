// SPDX-License-Identifier: Apache-2.0
// What one runner program brings along: kagent-runner has the CPU's, kagent-runner-cuda the card's.
#pragma once

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "plan/backend.h"
#include "plan/load_request.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kagent::plan {

struct DeviceProgram {
  kagent::Backend backend = kagent::Backend::cpu;  // which plans it runs

  /// The first thing in a process that touches the device.
  Result<std::unique_ptr<Backend>> (*make_backend)(const LoadRequest& request) = nullptr;

  /// `samples` measured calls (the `time` request); null where there is only `loop`. before() runs
  /// ahead of each call, outside the measured window.
  Result<std::vector<Sample>> (*time)(Backend& backend, int samples,
                                      const std::function<void()>& before,
                                      const std::function<void()>& call,
                                      std::vector<std::string>& notes) = nullptr;
};

}  // namespace kagent::plan
