// SPDX-License-Identifier: Apache-2.0
// The second wall behind source_scan: a compiling child can open what compilers need and nothing else,
// whichever sandbox is around the whole builder (Landlock, Linux 5.13 or newer).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/compiler_paths.h"
#include "builder/options.h"

namespace kagent::builder {

struct FileAccess {
  std::vector<std::string> read;        // folders and files, with all below them; also execute
  std::vector<std::string> read_write;
};

/// What the compiler needs; `folder` is the unit's own, or empty.
FileAccess file_access(const CompilerPaths& paths, CompilerKind compiler,
                       const std::filesystem::path& folder);

/// From now on this process and its children can open only that; descriptors that are open stay
/// open. False where the kernel cannot do it: nothing is changed then. Cannot be undone.
bool confine_files(const FileAccess& access);

}  // namespace kagent::builder
