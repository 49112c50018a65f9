// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>
#include <kagent/tensor.h>

#include "plan/load_request.h"

#include <filesystem>
#include <optional>
#include <string>

namespace kagent::runner {

/// Values of weights or inputs as they lay in their arena.
struct ArenaFile {
  ArenaLayout layout;
  std::string bytes;
};

struct PlanFolder {
  plan::LoadRequest request;         // plan, build and images; audit is set, there are no arenas
  std::optional<ArenaFile> weights;  // empty: not in the folder
  std::optional<ArenaFile> inputs;
};

/// plan.json, build.json, unit-N.so or unit-N.cubin; weights.json with weights.bin and inputs.json
/// with inputs.bin where they are there; instruments.cubin likewise. Errors of kind usage name the
/// file.
Result<PlanFolder> read_plan_folder(const std::filesystem::path& folder);

}  // namespace kagent::runner
