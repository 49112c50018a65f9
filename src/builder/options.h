// SPDX-License-Identifier: Apache-2.0
// Compiler options a candidate may give: a closed list, since others write files, read files or
// change what is compiled (pitfall 10). docs/building-kernels.md shows it.
#pragma once

#include <string>
#include <vector>

#include "builder/request.h"

namespace kagent::builder {

enum class CompilerKind { nvrtc, nvcc, host };

struct CheckedOptions {
  std::vector<std::string> arguments;  // in the compiler's own spelling, defaults included
  std::vector<std::string> defines;    // names that -D gave, for messages and heuristics
};

/// Fault forbidden_op at the first option that is not on the list; it names the option and the line
/// of the kernel that asked for it.
Checked<CheckedOptions> check_options(const KernelRequest& kernel, CompilerKind compiler);

/// Fault build_failed unless `kernel.name` is a C++ name, with template arguments or without.
/// It is pasted into generated code, so nothing else may pass.
Checked<std::string> check_name(const KernelRequest& kernel);

}  // namespace kagent::builder
