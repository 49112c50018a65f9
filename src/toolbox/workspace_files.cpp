// SPDX-License-Identifier: Apache-2.0
#include "toolbox/workspace_files.h"

#include "base/hash.h"
#include "base/text.h"
#include "toolbox/sandboxed_shell.h"

namespace kagent::toolbox {
namespace {

constexpr std::size_t kMaxFileBytes = 4u << 20;

}  // namespace

Result<std::string> WorkspaceFiles::normalize(const std::string& path) {
  const std::string inside = std::string(kShellFolder) + "/";
  const bool as_the_shell_sees_it = path == kShellFolder || path.rfind(inside, 0) == 0;
  const std::string relative = as_the_shell_sees_it ? "." + path.substr(inside.size() - 1) : path;
  auto parts = sys::ConfinedFolder::split(relative);
  if (!parts) return Error{ErrorKind::usage, base::one_line(parts.error().message)};
  return base::join(*parts, "/");
}

Result<std::string> WorkspaceFiles::read(const std::string& path) {
  KAGENT_TRY(std::string text, folder_.read(path, kMaxFileBytes));
  seen_[path] = base::sha256_hex(text);
  return text;
}

Result<void> WorkspaceFiles::write(const std::string& path, const std::string& text) {
  for (const std::string& given : read_only_) {
    if (path == given || path.rfind(given + "/", 0) == 0) {
      return Error{ErrorKind::usage,
                   path + ": is read-only; write model_new.py and files under kernels/"};
    }
  }
  if (text.size() > kMaxFileBytes) {
    return Error{ErrorKind::usage, path + ": more than 4 MiB of text"};
  }
  KAGENT_TRY_VOID(folder_.write(path, text));
  seen_[path] = base::sha256_hex(text);
  return {};
}

bool WorkspaceFiles::changed_since_seen(const std::string& path, const std::string& text) const {
  const auto at = seen_.find(path);
  return at != seen_.end() && at->second != base::sha256_hex(text);
}

}  // namespace kagent::toolbox
