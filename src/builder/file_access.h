// SPDX-License-Identifier: Apache-2.0
// The second wall behind source_scan: a compiling child can open what compilers need and nothing else,
// whichever sandbox is around the whole builder.
#pragma once

#include <filesystem>

#include "builder/compiler_paths.h"
#include "builder/options.h"
#include "sandbox/landlock.h"

namespace kagent::builder {

/// What the compiler needs; `folder` is the unit's own, or empty.
sandbox::FileAccess file_access(const CompilerPaths& paths, CompilerKind compiler,
                                const std::filesystem::path& folder);

}  // namespace kagent::builder
