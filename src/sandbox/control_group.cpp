// SPDX-License-Identifier: Apache-2.0
#include "sandbox/control_group.h"

#include <atomic>
#include <fstream>
#include <sstream>
#include <vector>

#include "sandbox/defence.h"

#include <unistd.h>

namespace kagent::sandbox {
namespace {

namespace fs = std::filesystem;

const fs::path kTree = "/sys/fs/cgroup";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return bool(file.flush());
}

/// Hands the controllers down to children of the group, if somebody above has not.
bool hands_down(const fs::path& group) {
  std::string now = text_of(group / "cgroup.subtree_control");
  if (now.find("memory") == std::string::npos || now.find("pids") == std::string::npos) {
    write_text(group / "cgroup.subtree_control", "+memory +pids");
    now = text_of(group / "cgroup.subtree_control");
  }
  return now.find("memory") != std::string::npos && now.find("pids") != std::string::npos;
}

/// The groups in which one of ours may lie: our own group's parent (a group with processes in it has no
/// children with limits), then the top.
std::vector<fs::path> possible_parents() {
  std::vector<fs::path> parents;
  std::istringstream lines(text_of("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0::/", 0) != 0) continue;
    const fs::path own = kTree / line.substr(4);
    if (own != kTree / "") parents.push_back(own.parent_path());
  }
  parents.push_back(kTree);
  return parents;
}

}  // namespace

std::optional<ControlGroup> ControlGroup::create(std::uint64_t memory_bytes, std::uint64_t processes) {
  static std::atomic<unsigned> number{0};
  std::error_code code;
  if (!defends("control_group") || !fs::exists(kTree / "cgroup.controllers", code)) return std::nullopt;
  for (const auto& parent : possible_parents()) {
    if (!hands_down(parent)) continue;
    const fs::path folder = parent / ("kagent-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    if (!fs::create_directory(folder, code)) continue;
    ControlGroup group(folder);
    const std::string most = defends("process_limit") ? std::to_string(processes) : "max";
    if (write_text(folder / "memory.max", std::to_string(memory_bytes)) && write_text(folder / "pids.max", most)) {
      write_text(folder / "memory.swap.max", "0");
      write_text(folder / "memory.oom.group", "1");  // a tree with a hole in it is of no use
      return group;
    }
  }
  return std::nullopt;
}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = std::move(other.folder_);
    other.folder_.clear();
  }
  return *this;
}

ControlGroup::~ControlGroup() { remove(); }

void ControlGroup::remove() {
  if (folder_.empty()) return;
  write_text(folder_ / "cgroup.kill", "1");
  for (int attempt = 0; attempt < 100 && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++attempt) ::usleep(10'000);
  folder_.clear();
}

}  // namespace kagent::sandbox
