// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/device_program.h"

#include <filesystem>

namespace kagent::runner {

/// Runs the plan folder once in this process with one exact-size allocation per tensor, so that
/// valgrind, compute-sanitizer, ncu or a debugger can be put on it (docs/audit-mode.md). Prints
/// what came out on stdout. Returns the exit code: 0 ran, 1 the candidate did something wrong, 2
/// the folder is not complete, 70 we failed.
int audit(const std::filesystem::path& folder, const plan::DeviceProgram& device);

}  // namespace kagent::runner
