// SPDX-License-Identifier: Apache-2.0
#include "sandbox/view.h"

#include <algorithm>
#include <set>

#include "sandbox/defence.h"

namespace kagent::sandbox {
namespace {

namespace fs = std::filesystem;

/// Programs, libraries, the loader's cache, the CPU's topology: nothing that is private to this host.
void add_system(std::vector<Entry>& view) {
  std::error_code code;
  view.push_back({EntryKind::read_only, "/usr", "/usr"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    if (fs::is_symlink(fs::symlink_status(folder, code))) {
      view.push_back({EntryKind::link, fs::read_symlink(folder, code), folder});
    } else if (fs::exists(folder, code)) {
      view.push_back({EntryKind::read_only, folder, folder});
    }
  }
  for (const char* folder : {"/etc", "/sys", "/sys/devices", "/sys/devices/system", "/sys/module", "/sys/bus"}) {
    view.push_back({EntryKind::folder, {}, folder});
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/passwd",
                           "/etc/group", "/etc/localtime", "/sys/devices/system/cpu", "/sys/devices/system/node"}) {
    if (fs::exists(file, code)) view.push_back({EntryKind::read_only, file, file});
  }
}

void add_gpu(std::vector<Entry>& view) {
  std::error_code code;
  for (const char* file : {"/sys/module/nvidia", "/sys/bus/pci", "/sys/devices", "/etc/nvidia", "/etc/OpenCL"}) {
    if (fs::exists(file, code)) view.push_back({EntryKind::read_only, file, file});
  }
  for (const auto& node : gpu_device_nodes()) view.push_back({EntryKind::device, node, node});
}

/// Whether `path` is there without being made: the system's, or inside a folder that was mounted.
bool is_provided(const fs::path& path, const std::set<fs::path>& mounted) {
  for (fs::path folder = path; folder != folder.root_path(); folder = folder.parent_path()) {
    if (folder == "/usr" || mounted.count(folder) != 0) return true;
  }
  static const std::set<fs::path> ours{"/", "/dev", "/dev/shm", "/proc", "/sys", "/etc", "/tmp"};
  return ours.count(path) != 0;
}

/// Folders on the way to a mount. They are made here, with a mode that lets the child pass.
void add_parents(std::vector<Entry>& view, const fs::path& mount, std::set<fs::path>& mounted) {
  fs::path parent;
  for (const auto& part : mount.parent_path()) {
    parent /= part;
    if (!is_provided(parent, mounted)) view.push_back({EntryKind::folder, {}, parent});
  }
  mounted.insert(mount);
}

}  // namespace

Result<std::vector<Entry>> view_of(const Policy& policy) {
  std::vector<Entry> view;
  add_system(view);
  if (policy.gpu == GpuAccess::devices) add_gpu(view);
  std::vector<Entry> mounts;
  // A later mount hides what an earlier one put below it, so depth decides, whichever of the two is read-only.
  const auto frozen = defends("read_only") ? EntryKind::read_only : EntryKind::read_write;
  for (const auto& mount : policy.read_only) mounts.push_back({frozen, mount.ours, mount.theirs});
  // ncu's own files; /opt may hold a folder of the policy too.
  if (std::error_code code; policy.gpu == GpuAccess::devices && fs::exists("/opt/nvidia", code)) {
    mounts.push_back({EntryKind::read_only, "/opt/nvidia", "/opt/nvidia"});
  }
  for (const auto& mount : policy.read_write) mounts.push_back({EntryKind::read_write, mount.ours, mount.theirs});
  const auto depth = [](const Entry& entry) { return std::distance(entry.theirs.begin(), entry.theirs.end()); };
  std::stable_sort(mounts.begin(), mounts.end(), [&](const auto& a, const auto& b) { return depth(a) < depth(b); });
  std::set<fs::path> mounted;
  for (auto& mount : mounts) {
    std::error_code code;
    if (!fs::exists(mount.ours, code)) {
      return Error{ErrorKind::environment, "sandbox: " + mount.ours.string() + " is missing"};
    }
    add_parents(view, mount.theirs, mounted);
    view.push_back(std::move(mount));
  }
  return view;
}

}  // namespace kagent::sandbox
