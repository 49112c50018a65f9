// SPDX-License-Identifier: Apache-2.0
#include "sys/sandbox.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>

#include "sys/capture.h"

#include <unistd.h>

namespace kagent::sys {
namespace {

namespace fs = std::filesystem;

/// Full path of a program in PATH or the usual folders; empty where there is none.
fs::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/bin:/bin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

/// The system's own read-only files: programs, libraries, the loader's cache, the CPU's topology.
void add_system(std::vector<std::string>& arguments) {
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  add({"--ro-bind", "/usr", "/usr"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(folder, code))) {
      add({"--symlink", fs::read_symlink(folder, code).string(), folder});
    } else if (fs::exists(folder, code)) {
      add({"--ro-bind", folder, folder});
    }
  }
  // Parents that bubblewrap makes by itself get mode 0700: nobody could pass after the uid drop.
  for (const char* folder : {"/etc", "/sys", "/sys/devices", "/sys/devices/system", "/sys/module",
                             "/sys/bus"}) {
    add({"--perms", "0755", "--dir", folder});
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                           "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/localtime",
                           "/sys/devices/system/cpu", "/sys/devices/system/node"}) {
    add({"--ro-bind-try", file, file});
  }
  add({"--proc", "/proc", "--dev", "/dev"});
  add({"--perms", "1777", "--tmpfs", "/dev/shm", "--perms", "1777", "--tmpfs", "/tmp"});
}

void add_gpu(std::vector<std::string>& arguments) {
  for (const auto& node : gpu_device_nodes()) {
    arguments.insert(arguments.end(), {"--dev-bind", node.string(), node.string()});
  }
  for (const char* file : {"/sys/module/nvidia", "/sys/bus/pci", "/sys/devices", "/etc/nvidia",
                           "/etc/OpenCL"}) {
    arguments.insert(arguments.end(), {"--ro-bind-try", file, file});
  }
}

/// Whether `path` is there without being made: the system's, or inside a folder that was mounted.
bool is_provided(const fs::path& path, const std::set<fs::path>& mounted) {
  for (fs::path folder = path; folder != folder.root_path(); folder = folder.parent_path()) {
    if (folder == "/usr" || mounted.count(folder) != 0) return true;
  }
  return path == "/" || path == "/dev" || path == "/dev/shm" || path == "/proc" || path == "/sys" ||
         path == "/etc" || path == "/tmp";
}

/// Folders on the way to a mount: bubblewrap would make them with mode 0700, and after the uid drop
/// nobody could pass.
void add_parents(std::vector<std::string>& arguments, const fs::path& mount,
                 std::set<fs::path>& mounted) {
  fs::path parent;
  for (const auto& part : mount.parent_path()) {
    parent /= part;
    if (is_provided(parent, mounted)) continue;
    arguments.insert(arguments.end(), {"--perms", "0755", "--dir", parent.string()});
  }
  mounted.insert(mount);
}

/// Parents before what lies inside them, whichever of the two is read-only: a later mount hides
/// what an earlier one put below it.
Result<void> add_mounts(std::vector<std::string>& arguments, const SandboxPolicy& policy) {
  std::vector<std::pair<const char*, const Mount*>> mounts;
  for (const auto& mount : policy.read_only) mounts.emplace_back("--ro-bind", &mount);
  for (const auto& mount : policy.read_write) mounts.emplace_back("--bind", &mount);
  const auto depth = [](const Mount* mount) {
    return std::distance(mount->theirs.begin(), mount->theirs.end());
  };
  std::stable_sort(mounts.begin(), mounts.end(), [&](const auto& a, const auto& b) {
    return depth(a.second) < depth(b.second);
  });
  std::set<fs::path> mounted;
  for (const auto& [kind, mount] : mounts) {
    std::error_code code;
    if (!fs::exists(mount->ours, code)) {
      return Error{ErrorKind::environment, "sandbox: " + mount->ours.string() + " is missing"};
    }
    add_parents(arguments, mount->theirs, mounted);
    arguments.insert(arguments.end(), {kind, mount->ours.string(), mount->theirs.string()});
  }
  return {};
}

}  // namespace

std::vector<fs::path> gpu_device_nodes() {
  std::vector<fs::path> nodes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/dev", code)) {
    const std::string name = entry.path().filename().string();
    const bool card = name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
                      std::all_of(name.begin() + 6, name.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
    if (card || name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" ||
        name == "nvidia-caps") {
      nodes.push_back(entry.path());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Result<SpawnRequest> sandboxed(SpawnRequest request, const SandboxPolicy& policy,
                               SandboxTier tier) {
  KAGENT_CHECK(request.directory.empty());
  if (tier == SandboxTier::none) {
    request.directory = policy.directory;
    return request;
  }
  const fs::path bwrap = find_program("bwrap");
  if (bwrap.empty()) {
    return Error{ErrorKind::environment,
                 "sandbox: bwrap not found; run: apt-get install bubblewrap"};
  }
  std::vector<std::string> arguments{bwrap.string(), "--unshare-pid", "--unshare-net",
                                     "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
                                     "--die-with-parent", "--new-session"};
  const bool root = ::geteuid() == 0;
  if (root) {
    arguments.insert(arguments.end(), {"--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add",
                                       "CAP_SETGID"});
  } else {
    arguments.insert(arguments.end(), {"--unshare-user", "--disable-userns", "--cap-drop", "ALL"});
  }
  add_system(arguments);
  if (policy.gpu == GpuAccess::devices) add_gpu(arguments);
  KAGENT_TRY_VOID(add_mounts(arguments, policy));
  // As root, bubblewrap has given up the right to enter others' private folders by now: the working
  // directory is entered after the uid was dropped.
  arguments.insert(arguments.end(), {"--chdir", root ? "/" : policy.directory, "--"});
  if (root) {
    const fs::path setpriv = find_program("setpriv");
    if (setpriv.empty()) {
      return Error{ErrorKind::environment,
                   "sandbox: setpriv not found; run: apt-get install util-linux"};
    }
    const std::string user = std::to_string(kSandboxUser);
    arguments.insert(arguments.end(), {setpriv.string(), "--reuid", user, "--regid", user,
                                       "--clear-groups", "--no-new-privs", "--inh-caps=-all",
                                       "/usr/bin/env", "-C", policy.directory});
  }
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  request.arguments = std::move(arguments);
  return request;
}

Result<SandboxTier> probe_sandbox() {
  SpawnRequest inner;
  // Refused: being uid 0, writing outside, seeing the host's processes.
  inner.arguments = {"/bin/sh", "-c",
                     "[ $(id -u) != 0 ] && ! touch /usr/kagent-probe 2>/dev/null && "
                     "! cat /proc/1/environ >/dev/null 2>&1 && [ -w /tmp ] && echo held"};
  inner.environment = {"PATH=/usr/bin:/bin"};
  KAGENT_TRY(SpawnRequest request, sandboxed(std::move(inner), {}, SandboxTier::bubblewrap));
  KAGENT_TRY(auto capture, OutputCapture::start(4096, 4096));
  request.output = capture->writer();
  KAGENT_TRY(Process process, Process::spawn(request));
  capture->close_writer();
  process.wait(Process::Clock::now() + std::chrono::seconds(10));
  process.kill();
  capture->finish(1000);
  const std::string said = capture->text();
  if (said == "held\n") return SandboxTier::bubblewrap;
  const std::string first_line = said.substr(0, said.find('\n'));
  return Error{ErrorKind::environment,
               "sandbox: bubblewrap does not hold here (" +
                   (first_line.empty() ? "no answer" : first_line) +
                   "); see docs/sandbox.md, or type --sandbox none"};
}

}  // namespace kagent::sys
