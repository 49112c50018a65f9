// SPDX-License-Identifier: Apache-2.0
// Memory and process limits for a whole tree of processes, where this process may make a control group
// (cgroup v2 with the memory and pids controllers handed down). Elsewhere limits hold for each process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kagent::sandbox {

class ControlGroup {
 public:
  /// A group with these limits; empty where none can be made.
  static std::optional<ControlGroup> create(std::uint64_t memory_bytes, std::uint64_t processes);

  ControlGroup(ControlGroup&& other) noexcept : folder_(std::move(other.folder_)) { other.folder_.clear(); }
  ControlGroup& operator=(ControlGroup&& other) noexcept;
  /// Kills what is left in it and removes it.
  ~ControlGroup();

  /// Writing "0" there puts the writing process into the group.
  std::filesystem::path members() const { return folder_ / "cgroup.procs"; }

 private:
  explicit ControlGroup(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void remove();
  std::filesystem::path folder_;
};

}  // namespace kagent::sandbox
