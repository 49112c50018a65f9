// SPDX-License-Identifier: Apache-2.0
// Files, TCP, signals and abstract sockets held back by Landlock (Linux 5.13 and newer): the wall of tier
// "landlock", and a second one around compilers.
#pragma once

#include <string>
#include <vector>

#include <kagent/result.h>

#include "sandbox/policy.h"

namespace kagent::sandbox {

struct FileAccess {
  std::vector<std::string> read;        // folders and files, with all below them; also execute
  std::vector<std::string> read_write;
  std::vector<std::string> write_files;  // existing files that may be written, not made
};

/// Version of Landlock in this kernel; 0: none.
int landlock_version();

/// From now on this process and its children can open only that, and (as far as the version goes) use no
/// TCP, no abstract Unix socket and no signal to anybody outside. Descriptors that are open stay open.
Result<void> confine(const FileAccess& access);

/// What a policy comes to where there is no root of its own. private_folder stands for /tmp.
Result<FileAccess> file_access(const Policy& policy, const std::string& private_folder);

}  // namespace kagent::sandbox
