// SPDX-License-Identifier: Apache-2.0
// Answers `hello`, `fork` and `wait` (docs/protocol.md, Runner). Every child serves a socket of its
// own; the server watches that socket too and kills a child whose other side has gone, so that an
// endless kernel never outlives its evaluation.
#pragma once

#include "plan/progress_page.h"
#include "sandbox/fresh_child.h"
#include "sys/fd.h"
#include "wire/channel.h"
#include "wire/json.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kagent::runner {

/// Runs in the child; the process ends when it returns.
using ChildWork = std::function<void(wire::Channel channel, plan::ProgressPage& progress)>;

class ForkServer {
 public:
  /// hello: what the `hello` request is answered with.
  ForkServer(wire::Channel channel, sandbox::Confinement confinement, wire::Json hello, ChildWork work)
      : channel_(std::move(channel)),
        confinement_(std::move(confinement)),
        hello_(std::move(hello)),
        work_(std::move(work)) {}

  /// Returns when the other side has closed.
  void serve();

 private:
  using Clock = std::chrono::steady_clock;

  struct Child {
    int pid = -1;
    sys::Fd process;  // pidfd
    sys::Fd socket;   // the child's end; closed once it is gone
    plan::ProgressPage progress;
    std::optional<Clock::time_point> kill_at;
    std::optional<int> status;  // as waitpid gives it
  };

  void wait_for_events(bool& channel_ready, bool& channel_closed);
  void tend(Child& child, short process_events, short socket_events);
  bool answer_request();  // false: the conversation is over
  wire::Json answer(wire::Frame frame);
  wire::Json fork_child(std::vector<sys::Fd> descriptors);
  [[noreturn]] void run_child(int parent, sys::Fd socket, plan::ProgressPage& progress);
  std::optional<wire::Json> waited_answer();
  int next_timeout() const;
  Child* find(int pid);

  wire::Channel channel_;
  sandbox::Confinement confinement_;
  sandbox::FreshNest nest_ = sandbox::FreshNest::open();
  wire::Json hello_;
  ChildWork work_;
  std::vector<Child> children_;
  std::optional<int> waiting_for_;  // pid of a `wait` that has no answer yet
};

}  // namespace kagent::runner
