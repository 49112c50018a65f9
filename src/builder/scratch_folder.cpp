// SPDX-License-Identifier: Apache-2.0
#include "builder/scratch_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace kagent::builder {
namespace {

[[noreturn]] void watch(int reader, const std::filesystem::path& folder) {
  ::setsid();  // whoever kills the builder's group must not take the watcher along
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::dup2(reader, 3);
  ::syscall(SYS_close_range, 4U, ~0U, 0);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);  // nobody waits for the end of our output
  char byte = 0;
  while (::read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code code;
  for (int attempt = 0; attempt < 50; ++attempt) {  // a compiler may still be writing
    std::filesystem::remove_all(folder, code);
    if (!std::filesystem::exists(folder, code)) break;
    ::usleep(20'000);
  }
  ::_exit(0);
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create() {
  KAGENT_TRY(sys::TemporaryDirectory root, sys::TemporaryDirectory::create("kagent-builder"));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorKind::environment, std::string("pipe: ") + std::strerror(errno)};
  }
  sys::Fd reader(ends[0]);
  sys::Fd writer(ends[1]);
  const int watcher = ::fork();
  if (watcher < 0) return Error{ErrorKind::environment, std::string("fork: ") + std::strerror(errno)};
  if (watcher == 0) watch(reader.get(), root.path());
  return ScratchFolder(std::move(root), std::move(writer), watcher);
}

ScratchFolder::~ScratchFolder() {
  if (!alive_) return;
  alive_.reset();
  while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::filesystem::path> ScratchFolder::folder(unsigned user) {
  const std::filesystem::path path = root_.path() / std::to_string(next_++);
  std::error_code code;
  std::filesystem::create_directory(path, code);
  if (code) return Error{ErrorKind::environment, path.string() + ": " + code.message()};
  if (user != 0 && ::chown(path.c_str(), user, static_cast<gid_t>(-1)) != 0) {
    return Error{ErrorKind::environment, path.string() + ": chown: " + std::strerror(errno)};
  }
  return path;
}

void ScratchFolder::remove(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::remove_all(folder, code);
}

}  // namespace kagent::builder
