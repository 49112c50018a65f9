// SPDX-License-Identifier: Apache-2.0
#include "sys/replace_folder.h"

#include "sys/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace kagent::sys {
namespace {

namespace fs = std::filesystem;

Error failure(const fs::path& path, const std::string& what) {
  return Error{ErrorKind::environment, path.string() + ": " + what + ": " + std::strerror(errno)};
}

Result<void> sync_folder(const fs::path& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failure(folder, "open");
  // Some file systems cannot sync a folder; there its entries are durable by their own rules.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return failure(folder, "sync");
  return {};
}

/// For file systems without RENAME_EXCHANGE: a kill in between leaves "<target>.old".
Result<void> swap_by_two_renames(const fs::path& prepared, const fs::path& target,
                                 const fs::path& old) {
  std::error_code ignored;
  fs::remove_all(old, ignored);
  if (::rename(target.c_str(), old.c_str()) != 0) return failure(target, "rename");
  if (::rename(prepared.c_str(), target.c_str()) != 0) return failure(target, "rename");
  return {};
}

}  // namespace

Result<void> replace_folder(const fs::path& prepared, const fs::path& target) {
  if (::rename(prepared.c_str(), target.c_str()) == 0) return sync_folder(target.parent_path());
  if (errno != ENOTEMPTY && errno != EEXIST) return failure(target, "rename");
  fs::path old = prepared;
  if (::renameat2(AT_FDCWD, prepared.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return failure(target, "exchange");
    old = target.string() + ".old";
    KAGENT_TRY_VOID(swap_by_two_renames(prepared, target, old));
  }
  KAGENT_TRY_VOID(sync_folder(target.parent_path()));
  std::error_code ignored;  // what is left over is out of date, not wrong
  fs::remove_all(old, ignored);
  return {};
}

}  // namespace kagent::sys
