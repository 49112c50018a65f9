// SPDX-License-Identifier: Apache-2.0
// libkagent_timeline.so as Results.
#pragma once

#include <vector>

#include <kagent/result.h>

#include "gpu/timeline_window.h"

namespace kagent::gpu {

/// Subscribes to CUPTI; must be called before the process first touches CUDA. Again is a no-op.
Result<void> start_timeline();

/// What the card did since the last call. Names live as long as the process. Synchronise first.
Result<std::vector<Activity>> collect_timeline();

}  // namespace kagent::gpu
