// SPDX-License-Identifier: Apache-2.0
#include "evaluator/cpu_clock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "sys/stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kagent::evaluator {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// True once the worker signalled; false when it answered or ended instead, at the deadline, or on stop.
bool wait_signal(int event, int channel, SteadyClock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd waits[3] = {{event, POLLIN, 0}, {channel, POLLIN, 0}, {sys::stop_fd(), POLLIN, 0}};
    const int ready = ::poll(waits, sys::stop_fd() >= 0 ? 3 : 2, left < 0 ? 0 : static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || (waits[0].revents & POLLIN) == 0) return false;
    std::uint64_t count = 0;
    return ::read(event, &count, sizeof count) == sizeof count;
  }
}

void signal_event(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
}

}  // namespace

std::variant<std::vector<Sample>, Fault, Error, Breakdown> time_calls(
    wire::Channel& channel, const std::string& who, nlohmann::json request, int calls,
    std::chrono::milliseconds timeout) {
  const sys::Fd go(::eventfd(0, EFD_CLOEXEC));
  const sys::Fd done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
  if (!go || !done) return Error{ErrorKind::environment, std::string("eventfd: ") + std::strerror(errno)};
  request["calls"] = calls;
  if (auto sent = channel.send(request, {go.get(), done.get()}); !sent) {
    return Breakdown{BreakdownKind::died, who + ": " + sent.error().message};
  }
  const auto deadline = SteadyClock::now() + timeout;
  std::vector<Sample> samples;
  for (int call = 0; call < calls; ++call) {
    if (!wait_signal(done.get(), channel.fd(), deadline)) break;  // "ready"
    const auto start = SteadyClock::now();
    signal_event(go.get());
    if (!wait_signal(done.get(), channel.fd(), deadline)) break;
    Sample sample;
    sample.span_us =
        std::chrono::duration<double, std::micro>(SteadyClock::now() - start).count();
    samples.push_back(sample);
  }
  auto received = channel.receive(deadline, sys::stop_fd());
  if (auto* frame = std::get_if<wire::Frame>(&received)) {
    auto outcome = read_outcome(who, std::move(*frame));
    if (auto* fault = std::get_if<Fault>(&outcome)) return std::move(*fault);
    if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
    if (auto* breakdown = std::get_if<Breakdown>(&outcome)) return std::move(*breakdown);
    if (static_cast<int>(samples.size()) == calls) return samples;
    return Breakdown{BreakdownKind::malformed, who + ": answered before its calls were made"};
  }
  switch (std::get<wire::ReceiveFailure>(received)) {
    case wire::ReceiveFailure::stopped: return Error{ErrorKind::interrupted, "stopped"};
    case wire::ReceiveFailure::timeout:
      return Breakdown{BreakdownKind::timeout, who + ": a timed call did not come back"};
    case wire::ReceiveFailure::closed:
      return Breakdown{BreakdownKind::died, who + ": ended during a timed call"};
    case wire::ReceiveFailure::malformed: break;
  }
  return Breakdown{BreakdownKind::malformed, who + ": sent a malformed frame"};
}

}  // namespace kagent::evaluator
