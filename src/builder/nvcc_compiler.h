// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>

#include "builder/compile_unit.h"

namespace kagent::builder {

/// nvcc -cubin in `folder`, which is empty. For sources that NVRTC cannot take: host functions,
/// the C++ library, CUTLASS' host headers. An Error where there is no nvcc.
Result<CompileReport> compile_with_nvcc(const CompilerPaths& paths, const CompileUnit& unit,
                                        const Sources& sources, const std::string& architecture,
                                        const std::filesystem::path& folder,
                                        std::chrono::steady_clock::time_point deadline);

}  // namespace kagent::builder
