// SPDX-License-Identifier: Apache-2.0
#include "reference/call_loop.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace kagent::reference {
namespace {

constexpr std::size_t kCacheLine = 64;

Error failed(const char* what) {
  return Error{ErrorKind::environment, std::string(what) + ": " + std::strerror(errno)};
}

Result<void> wait_for(int fd) {
  for (;;) {
    std::uint64_t value = 0;
    const ssize_t got = read(fd, &value, sizeof value);
    if (got == static_cast<ssize_t>(sizeof value)) return {};
    if (got == 0) return Error{ErrorKind::environment, "wait for the clock: the other side is gone"};
    if (errno == EAGAIN) {
      pollfd entry{fd, POLLIN, 0};
      if (poll(&entry, 1, -1) < 0 && errno != EINTR) return failed("wait for the clock");
    } else if (errno != EINTR) {
      return failed("wait for the clock");
    }
  }
}

Result<void> signal(int fd) {
  const std::uint64_t one = 1;
  while (write(fd, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) {
    if (errno != EINTR) return failed("signal the clock");
  }
  return {};
}

void touch(std::vector<unsigned char>& memory) {
  volatile unsigned char* bytes = memory.data();
  for (std::size_t i = 0; i < memory.size(); i += kCacheLine) {
    bytes[i] = static_cast<unsigned char>(bytes[i] + 1);
  }
}

}  // namespace

Result<void> run(const CallLoop& loop, const std::function<void()>& before,
                 const std::function<void()>& call) {
  std::vector<unsigned char> memory(static_cast<std::size_t>(loop.touch_bytes));
  for (int i = 0; i < loop.calls; ++i) {
    before();
    touch(memory);
    KAGENT_TRY_VOID(signal(loop.signal_fd));
    KAGENT_TRY_VOID(wait_for(loop.wait_fd));
    call();
    KAGENT_TRY_VOID(signal(loop.signal_fd));
  }
  return {};
}

}  // namespace kagent::reference
