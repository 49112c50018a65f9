// SPDX-License-Identifier: Apache-2.0
#include "sandbox/own_root.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sandbox/defence.h"
#include "sandbox/view.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

namespace fs = std::filesystem;

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
const fs::path kOldRoot = "/oldroot";
const fs::path kNewRoot = "/newroot";
constexpr std::uint64_t kReadOnly = 0x1, kNoSetuid = 0x2, kNoDevices = 0x4;   // MOUNT_ATTR_* of linux/mount.h
struct MountAttributes {                                                     // struct mount_attr
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: " + what + ": " + std::strerror(errno)};
}

Result<void> make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return failed("mkdir " + path.string());
}

/// Something to mount on: a folder, or an empty file.
Result<void> make_target(const fs::path& ours, const fs::path& target) {
  std::error_code code;
  if (fs::is_directory(ours, code)) return make_folder(target);
  if (fs::exists(target, code)) return {};   // inside a folder that is shown, maybe read-only
  const sys::Fd file(::open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file) return failed("make " + target.string());
  return {};
}

Result<void> bind(const fs::path& ours, const fs::path& target, std::uint64_t attributes) {
  KAGENT_TRY_VOID(make_target(ours, target));
  if (::mount(ours.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return failed("show " + ours.string());
  }
  const MountAttributes wanted{attributes, 0, 0, 0};
  if (::syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), AT_RECURSIVE, &wanted, sizeof wanted) != 0) {
    return failed("mount_setattr " + target.string());
  }
  return {};
}

Result<void> mount_tmpfs(const fs::path& target, std::uint64_t bytes, const char* mode) {
  KAGENT_TRY_VOID(make_folder(target));
  std::string options = std::string("mode=") + mode;
  if (defends("scratch_limit")) options += ",size=" + std::to_string(bytes);
  if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0) return {};
  return failed("tmpfs on " + target.string());
}

/// A tmpfs as root, with the old root and the new one as folders in it: what is bound may lie anywhere.
Result<void> stand_between_roots() {
  if (::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) return failed("tmpfs for the root");
  KAGENT_TRY_VOID(make_folder("/tmp" / kOldRoot.relative_path()));
  KAGENT_TRY_VOID(make_folder("/tmp" / kNewRoot.relative_path()));
  if (::syscall(SYS_pivot_root, "/tmp", ("/tmp" / kOldRoot.relative_path()).c_str()) != 0 || ::chdir("/") != 0) {
    return failed("pivot_root");
  }
  if (::mount(kNewRoot.c_str(), kNewRoot.c_str(), nullptr, MS_BIND, nullptr) != 0) return failed("new root");
  return {};
}

Result<void> make_devices() {
  const fs::path base = kNewRoot;
  KAGENT_TRY_VOID(mount_tmpfs(base / "dev", 1 << 20, "0755"));
  for (const char* name : kPlainDevices) {
    const fs::path ours = kOldRoot / "dev" / name;
    std::error_code code;
    if (fs::exists(ours, code)) KAGENT_TRY_VOID(bind(ours, base / "dev" / name, kNoSetuid));
  }
  const std::pair<const char*, const char*> links[] = {
      {"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}};
  for (const auto& [to, name] : links) {
    if (::symlink(to, (base / "dev" / name).c_str()) != 0) return failed("link /dev/" + std::string(name));
  }
  return {};
}

Result<void> show(const Entry& entry) {
  const fs::path target = kNewRoot / entry.theirs.relative_path();
  const fs::path ours = kOldRoot / entry.ours.relative_path();
  switch (entry.kind) {
    case EntryKind::folder:
      return make_folder(target);
    case EntryKind::link:
      if (::symlink(entry.ours.c_str(), target.c_str()) != 0) return failed("link " + entry.theirs.string());
      return {};
    case EntryKind::read_only:
      return bind(ours, target, kReadOnly | kNoSetuid | kNoDevices);
    case EntryKind::read_write:
      return bind(ours, target, kNoSetuid | kNoDevices);
    case EntryKind::device:
      return bind(ours, target, kNoSetuid);
  }
  return {};
}

}  // namespace

Result<void> mount_proc() {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return {};
  return failed("mount /proc");
}

Result<void> enter_own_root(const Policy& policy) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("make / private");
  if (!defends("own_root")) return {};
  KAGENT_TRY(auto view, view_of(policy));
  for (auto& entry : view) {
    // Links are followed now: an absolute one would mean something else below kOldRoot.
    std::error_code code;
    if (entry.kind != EntryKind::link && entry.kind != EntryKind::folder) entry.ours = fs::canonical(entry.ours, code);
  }
  KAGENT_TRY_VOID(stand_between_roots());
  KAGENT_TRY_VOID(bind(kOldRoot / "proc", kNewRoot / "proc", kNoSetuid | kNoDevices));  // until mount_proc()
  KAGENT_TRY_VOID(make_devices());
  KAGENT_TRY_VOID(mount_tmpfs(kNewRoot / "dev/shm", policy.scratch_bytes, "1777"));
  KAGENT_TRY_VOID(mount_tmpfs(kNewRoot / "tmp", policy.scratch_bytes, "1777"));
  for (const auto& entry : view) KAGENT_TRY_VOID(show(entry));
  if (::umount2(kOldRoot.c_str(), MNT_DETACH) != 0) return failed("leave the old root");
  if (::chdir(kNewRoot.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
      ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
    return failed("enter the new root");
  }
  return {};
}

std::vector<std::string> mounts_in_scratch() {
  std::vector<std::string> found;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string skipped, escaped, path;
    fields >> skipped >> skipped >> skipped >> skipped >> escaped;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      const bool octal = escaped[i] == '\\' && i + 3 < escaped.size();   // a space is \040
      path += octal ? static_cast<char>(std::stoi(escaped.substr(i + 1, 3), nullptr, 8)) : escaped[i];
      if (octal) i += 3;
    }
    if (path.rfind("/tmp/", 0) == 0 || path.rfind("/dev/shm/", 0) == 0) found.push_back(path);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<void> mount_private_folders(std::uint64_t bytes, const std::vector<std::string>& kept) {
  std::vector<sys::Fd> sources;
  for (const std::string& path : kept) {
    sources.emplace_back(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!sources.back()) return failed("open " + path);
  }
  KAGENT_TRY_VOID(mount_tmpfs("/tmp", bytes, "1777"));
  KAGENT_TRY_VOID(mount_tmpfs("/dev/shm", bytes, "1777"));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::string source = "/proc/self/fd/" + std::to_string(sources[i].get());
    std::error_code code;
    fs::create_directories(fs::path(kept[i]).parent_path(), code);
    KAGENT_TRY_VOID(make_target(source, kept[i]));
    if (::mount(source.c_str(), kept[i].c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return failed("keep " + kept[i]);
  }
  return {};
}

}  // namespace kagent::sandbox
