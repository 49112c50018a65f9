// SPDX-License-Identifier: Apache-2.0
#include "sys/stop.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <initializer_list>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kagent::sys {
namespace {

std::atomic<int> requested{0};
int event_descriptor = -1;

void on_signal(int signal_number) {
  int expected = 0;
  if (!requested.compare_exchange_strong(expected, signal_number)) {
    // Second time: children die with us (sandbox: die-with-parent), files are whole or absent.
    ::_exit(128 + signal_number);
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_descriptor, &one, sizeof one);
}

}  // namespace

void install_stop_handlers() {
  event_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int stop_requested() { return requested.load(); }
int stop_fd() { return event_descriptor; }

bool sleep_unless_stopped(std::chrono::milliseconds duration) {
  struct pollfd waited {event_descriptor, POLLIN, 0};
  ::poll(&waited, 1, static_cast<int>(duration.count()));
  return stop_requested() != 0;
}

}  // namespace kagent::sys
