// SPDX-License-Identifier: Apache-2.0
// Files below one folder that a hostile process may change at the same time. Every path is walked
// descriptor by descriptor without following links, so that nothing outside is ever read or
// written.
#pragma once

#include <kagent/result.h>

#include "sys/fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::sys {

enum class EntryKind { file, folder, other };

struct FolderEntry {
  std::string name;
  EntryKind kind = EntryKind::other;
  std::int64_t bytes = 0;  // files only
  bool operator==(const FolderEntry&) const = default;
};

/// An Error of kind usage says what is wrong with the path or the file (for whoever named it); kind
/// environment says what the machine could not do.
class ConfinedFolder {
 public:
  static Result<ConfinedFolder> open(const std::filesystem::path& folder);

  /// Text of a regular file with a single name (a hard link may point outside). At most
  /// `max_bytes`.
  Result<std::string> read(const std::string& relative, std::size_t max_bytes) const;

  /// Replaces the file as one piece; missing folders on the way are made. What is made belongs to
  /// the owner of the confined folder, where we have the right to give it away.
  Result<void> write(const std::string& relative, std::string_view text) const;

  Result<void> make_folder(const std::string& relative) const;

  /// Sorted by name; "" or "." is the folder itself. More than `max_entries` is an error.
  Result<std::vector<FolderEntry>> list(const std::string& relative, std::size_t max_entries) const;

  bool contains(const std::string& relative) const;

  /// Parts of a relative path without "."; refuses "", absolute paths, "..", NUL and over-long
  /// ones.
  static Result<std::vector<std::string>> split(const std::string& relative);

 private:
  explicit ConfinedFolder(Fd root) : root_(std::move(root)) {}
  enum class Missing { fail, create };
  Result<Fd> walk(const std::vector<std::string>& parts, std::size_t count, Missing missing) const;
  Result<void> give_to_owner(int fd) const;

  Fd root_;
};

}  // namespace kagent::sys
