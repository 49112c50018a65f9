// SPDX-License-Identifier: Apache-2.0
#include "candidate_argument.h"

#include <filesystem>

namespace kagent::cli {

Result<FrozenArgument> freeze_argument(const std::string& candidate) {
  namespace fs = std::filesystem;
  fs::path folder = candidate;
  std::error_code code;
  if (!fs::exists(folder, code)) {
    return Error{ErrorKind::usage, candidate + ": no such file or folder"};
  }
  if (!fs::is_directory(folder, code)) {
    if (folder.filename() != "model_new.py") {
      return Error{ErrorKind::usage,
                   candidate + ": a candidate is a folder with model_new.py, or that file"};
    }
    folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  }
  KAGENT_TRY(const auto confined, sys::ConfinedFolder::open(folder));
  KAGENT_TRY(auto temporary, sys::TemporaryDirectory::create("kagent-candidate"));
  KAGENT_TRY(auto content, workspace::freeze(confined, temporary.path()));
  return FrozenArgument{std::move(temporary), std::move(content)};
}

}  // namespace kagent::cli
