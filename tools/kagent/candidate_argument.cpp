// SPDX-License-Identifier: Apache-2.0
#include "candidate_argument.h"

#include <filesystem>

namespace kagent::cli {
namespace {

Result<workspace::Frozen> freeze_into(const std::string& candidate, const std::filesystem::path& to) {
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
  return workspace::freeze(confined, to);
}

}  // namespace

Result<FrozenArgument> freeze_argument(const std::string& candidate) {
  KAGENT_TRY(auto temporary, sys::TemporaryDirectory::create("kagent-candidate"));
  KAGENT_TRY(auto content, freeze_into(candidate, temporary.path()));
  return FrozenArgument{std::move(temporary), std::move(content)};
}

Result<FrozenArguments> freeze_arguments(const std::vector<std::string>& candidates) {
  KAGENT_TRY(auto temporary, sys::TemporaryDirectory::create("kagent-candidate"));
  FrozenArguments result{std::move(temporary), {}};
  for (const std::string& candidate : candidates) {
    KAGENT_TRY(auto content, freeze_into(candidate, result.folder.path()));
    if (const auto* fault = std::get_if<Fault>(&content)) {
      return Error{ErrorKind::usage, candidate + ": " + fault->message};
    }
    result.contents.push_back(std::move(content));
  }
  return result;
}

}  // namespace kagent::cli
