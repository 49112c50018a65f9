// SPDX-License-Identifier: Apache-2.0
#include "builder/confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

#include "sys/fd.h"

namespace kagent::builder {
namespace {

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kAll = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // every right of ABI 1
constexpr std::uint64_t kOfFiles =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE;

/// A path that is not there needs no rule.
bool allow(int rules, const std::string& path, std::uint64_t rights) {
  const sys::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return true;
  landlock_path_beneath_attr rule{};
  rule.parent_fd = fd.get();
  rule.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & kOfFiles;
  return ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0;
}

/// The folder that holds a program's bin folder, links followed: /usr/local/cuda-13.0 of
/// /usr/local/cuda/bin/nvcc.
std::string home_of(const std::string& program) {
  std::error_code code;
  const std::filesystem::path real = std::filesystem::canonical(program, code);
  return code ? std::string() : real.parent_path().parent_path().string();
}

}  // namespace

FileAccess file_access(const CompilerPaths& paths, CompilerKind compiler,
                       const std::filesystem::path& folder) {
  FileAccess access;
  access.read = paths.cuda_includes;
  if (compiler == CompilerKind::nvrtc) return access;  // everything else is loaded already
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
                           "/sys/devices/system/cpu"}) {
    access.read.emplace_back(path);
  }
  access.read.push_back(home_of(paths.host_compiler));
  access.read.push_back(paths.host_include);
  if (compiler == CompilerKind::nvcc) access.read.push_back(home_of(paths.nvcc));
  access.read_write = {folder.string(), "/dev/null"};
  return access;
}

bool confine_files(const FileAccess& access) {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = kAll;
  const sys::Fd rules(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U)));
  if (!rules) return false;
  for (const std::string& path : access.read) {
    if (!path.empty() && !allow(rules.get(), path, kRead)) return false;
  }
  for (const std::string& path : access.read_write) {
    if (!path.empty() && !allow(rules.get(), path, kAll)) return false;
  }
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, rules.get(), 0U) == 0;
}

}  // namespace kagent::builder
