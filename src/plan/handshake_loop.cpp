// SPDX-License-Identifier: Apache-2.0
#include "plan/handshake_loop.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kagent::plan {
namespace {

Error system_error(const std::string& what) {
  return Error{ErrorKind::environment, what + ": " + std::strerror(errno)};
}

Result<void> signal_event(const sys::Fd& event) {
  const std::uint64_t one = 1;
  while (::write(event.get(), &one, sizeof one) != static_cast<ssize_t>(sizeof one)) {
    if (errno != EINTR) return system_error("loop: signal");
  }
  return {};
}

Result<void> wait_event(const sys::Fd& event) {
  std::uint64_t count = 0;
  while (::read(event.get(), &count, sizeof count) != static_cast<ssize_t>(sizeof count)) {
    if (errno == EAGAIN) {  // the other side made it non-blocking
      pollfd waits{event.get(), POLLIN, 0};
      (void)::poll(&waits, 1, -1);
    } else if (errno != EINTR) {
      return system_error("loop: wait");
    }
  }
  return {};
}

}  // namespace

Outcome run_loop(const HandshakeLoop& loop, const std::function<void()>& before,
                 const std::function<Outcome()>& call) {
  for (int i = 0; i < loop.calls; ++i) {
    before();
    for (std::uint64_t& word : loop.touch) word += 1;
    KAGENT_TRY_VOID(signal_event(loop.signal));
    KAGENT_TRY_VOID(wait_event(loop.go));
    KAGENT_PASS(call());
    KAGENT_TRY_VOID(signal_event(loop.signal));
  }
  return std::nullopt;
}

}  // namespace kagent::plan
