// SPDX-License-Identifier: Apache-2.0
#include "workspace/create.h"

#include "sys/confined_folder.h"
#include "sys/files.h"

namespace kagent::workspace {

Result<void> create(const std::filesystem::path& folder, const GivenFiles& given) {
  std::error_code code;
  if (std::filesystem::exists(folder, code)) {
    return Error{ErrorKind::usage, folder.string() + ": is there already"};
  }
  KAGENT_TRY_VOID(sys::make_directories(folder / "kernels"));
  KAGENT_TRY_VOID(sys::give_to_sandbox_user(folder));
  // After the folder was given away: these stay ours, so that only the sandbox's owner of the
  // folder could replace them, and the shell mounts them read-only on top.
  for (const auto& [path, text] : given) {
    KAGENT_TRY(const auto parts, sys::ConfinedFolder::split(path));
    KAGENT_CHECK(!parts.empty());
    const auto target = folder / path;
    KAGENT_TRY_VOID(sys::make_directories(target.parent_path()));
    KAGENT_TRY_VOID(sys::write_file_atomically(target, text, 0444));
  }
  return {};
}

}  // namespace kagent::workspace
