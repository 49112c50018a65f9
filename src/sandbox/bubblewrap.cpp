// SPDX-License-Identifier: Apache-2.0
#include "sandbox/bubblewrap.h"

#include <cstdlib>
#include <sstream>

#include "sandbox/defence.h"
#include "sandbox/view.h"

#include <unistd.h>

namespace kagent::sandbox {

namespace fs = std::filesystem;

fs::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path != nullptr ? path : "") + ":/usr/bin:/bin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

Result<std::vector<std::string>> bubblewrap_arguments(const Policy& policy) {
  const fs::path program = find_program("bwrap");
  if (program.empty()) {
    return Error{ErrorKind::environment, "sandbox: bwrap not found; run: apt-get install bubblewrap"};
  }
  std::vector<std::string> arguments{program.string(), "--unshare-uts", "--unshare-cgroup-try", "--new-session"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  if (defends("pid_namespace")) add({"--unshare-pid"});
  if (defends("network_namespace")) add({"--unshare-net"});
  if (defends("ipc_namespace")) add({"--unshare-ipc"});
  if (defends("death_with_parent")) add({"--die-with-parent"});
  if (::geteuid() == 0) {
    add({"--cap-drop", "ALL"});
    for (const char* kept : {"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SYS_ADMIN"}) add({"--cap-add", kept});
  } else {
    add({"--unshare-user", "--cap-add", "ALL"});
  }
  if (!defends("own_root")) {
    add({"--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--"});
    return arguments;
  }
  add({"--proc", "/proc", "--dev", "/dev"});
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    if (defends("scratch_limit")) add({"--size", std::to_string(policy.scratch_bytes)});
    add({"--perms", "1777", "--tmpfs", folder});
  }
  KAGENT_TRY(const auto view, view_of(policy));
  for (const auto& entry : view) {
    const std::string ours = entry.ours.string();
    const std::string theirs = entry.theirs.string();
    switch (entry.kind) {
      case EntryKind::folder:
        add({"--perms", "0755", "--dir", theirs});  // by itself bwrap makes them 0700
        break;
      case EntryKind::link:
        add({"--symlink", ours, theirs});
        break;
      case EntryKind::read_only:
        add({"--ro-bind", ours, theirs});
        break;
      case EntryKind::read_write:
        add({"--bind", ours, theirs});
        break;
      case EntryKind::device:
        add({"--dev-bind", ours, theirs});
        break;
    }
  }
  add({"--chdir", "/", "--"});  // the launcher enters the directory as the user that may
  return arguments;
}

}  // namespace kagent::sandbox
