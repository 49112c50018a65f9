// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include "sys/confined_folder.h"

#include <map>
#include <string>
#include <vector>

namespace kagent::toolbox {

/// What the file tools share: the workspace, which of its files are given and not to be changed,
/// and what the model last saw of each file, so that an edit of something else is refused.
class WorkspaceFiles {
 public:
  /// read_only: relative paths; an entry also covers what lies below it.
  WorkspaceFiles(const sys::ConfinedFolder& folder, std::vector<std::string> read_only)
      : folder_(folder), read_only_(std::move(read_only)) {}

  /// The path as this class knows it: without "./" and "//", and relative where it was given as the
  /// shell sees it ("/workspace/…"). An Error for a path that leaves the workspace.
  static Result<std::string> normalize(const std::string& path);

  /// `path` is normalized. A read or a write counts as seen.
  Result<std::string> read(const std::string& path);
  Result<void> write(const std::string& path, const std::string& text);

  /// True where the model has seen the file and `text` is not what it saw.
  bool changed_since_seen(const std::string& path, const std::string& text) const;

  const sys::ConfinedFolder& folder() const { return folder_; }

 private:
  const sys::ConfinedFolder& folder_;
  std::vector<std::string> read_only_;
  std::map<std::string, std::string> seen_;  // path -> sha256 of the text
};

}  // namespace kagent::toolbox
