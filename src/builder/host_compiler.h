// SPDX-License-Identifier: Apache-2.0
// C++ kernels of the CPU backend (docs/protocol.md, "CPU images").
#pragma once

#include <chrono>
#include <filesystem>

#include "builder/compile_unit.h"

namespace kagent::builder {

/// Compiles to assembly, refuses inline assembly (it could include any file), then makes a shared
/// object in `folder`, which is empty. An Error where there is no compiler.
Result<Checked<CompileReport>> compile_for_host(const CompilerPaths& paths, const CompileUnit& unit,
                                                const Sources& sources,
                                                const std::string& architecture,
                                                const std::filesystem::path& folder,
                                                std::chrono::steady_clock::time_point deadline);

}  // namespace kagent::builder
