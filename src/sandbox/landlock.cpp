// SPDX-License-Identifier: Apache-2.0
#include "sandbox/landlock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "sandbox/defence.h"
#include "sandbox/view.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

// Debian 12's header ends at version 2; the numbers are the kernel's interface and don't change.
constexpr std::uint64_t kRead = 1 << 2 | 1 << 3 | 1 << 0;         // read file, read folder, execute
constexpr std::uint64_t kOfVersion1 = (1 << 13) - 1;              // up to MAKE_SYM
constexpr std::uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kDeviceControl = 1 << 15;
constexpr std::uint64_t kOfFiles = 1 << 2 | 1 << 1 | 1 << 0 | kTruncate | kDeviceControl;
constexpr std::uint64_t kTcp = 1 << 0 | 1 << 1;                   // bind, connect; version 4
constexpr std::uint64_t kScopes = 1 << 0 | 1 << 1;                // abstract sockets, signals; version 6

struct RulesetAttributes {   // struct landlock_ruleset_attr of version 6
  std::uint64_t files = 0, network = 0, scoped = 0;
};

struct Rights {
  RulesetAttributes all;
  std::size_t size = 8;
};

Rights rights_of(int version) {
  Rights rights;
  rights.all.files = kOfVersion1;
  if (version >= 2) rights.all.files |= kRefer;
  if (version >= 3) rights.all.files |= kTruncate;
  if (version >= 5) rights.all.files |= kDeviceControl;
  if (version >= 4) {
    rights.all.network = kTcp;
    rights.size = 16;
  }
  if (version >= 6) {
    rights.all.scoped = kScopes;
    rights.size = 24;
  }
  return rights;
}

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: landlock: " + what + ": " + std::strerror(errno)};
}

/// A path that is not there needs no rule.
Result<void> allow(int rules, const std::string& path, std::uint64_t rights) {
  if (path.empty()) return {};
  const sys::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return {};
  landlock_path_beneath_attr rule{};
  rule.parent_fd = fd.get();
  rule.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & kOfFiles;
  if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0) return {};
  return failed(path);
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, 1U /* LANDLOCK_CREATE_RULESET_VERSION */);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<void> confine(const FileAccess& access) {
  if (!defends("landlock")) return {};
  const Rights rights = rights_of(landlock_version());
  const sys::Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rights.all, rights.size, 0U)));
  if (!rules) return failed("this kernel has none");
  for (const std::string& path : access.read) KAGENT_TRY_VOID(allow(rules.get(), path, kRead & rights.all.files));
  for (const std::string& path : access.read_write) KAGENT_TRY_VOID(allow(rules.get(), path, rights.all.files));
  for (const std::string& path : access.write_files) {
    KAGENT_TRY_VOID(allow(rules.get(), path, rights.all.files & kOfFiles));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_landlock_restrict_self, rules.get(), 0U) == 0) {
    return {};
  }
  return failed("restrict");
}

Result<FileAccess> file_access(const Policy& policy, const std::string& private_folder) {
  KAGENT_TRY(const auto view, view_of(policy));
  FileAccess access;
  access.read_write.push_back(private_folder);
  access.read.emplace_back("/proc");   // of others nothing private: another user, and not of our domain
  for (const char* name : kPlainDevices) access.read_write.push_back(std::string("/dev/") + name);
  for (const auto& entry : view) {
    if (entry.kind == EntryKind::folder) continue;
    const std::string path = (entry.kind == EntryKind::link ? entry.theirs : entry.ours).string();
    auto& list = entry.kind == EntryKind::read_write || entry.kind == EntryKind::device ? access.read_write : access.read;
    list.push_back(path);
  }
  // CUDA names its threads through /proc/self/task/*/comm; without it, it fails with error 304.
  if (policy.gpu == GpuAccess::devices) access.write_files.emplace_back("/proc");
  return access;
}

}  // namespace kagent::sandbox
