// SPDX-License-Identifier: Apache-2.0
// A function of ours that runs in a child of its own, so that a compiler which crashes or hangs on
// hostile source takes only that child along. The child shares what is warm in the parent.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kagent/result.h>

#include "sandbox/fresh_child.h"
#include "sys/fd.h"
#include "sys/subprocess.h"

namespace kagent::builder {

class ForkedCall {
 public:
  using Clock = std::chrono::steady_clock;

  /// `work` runs in the child, confined; it may use `outputs` (which the parent keeps) and the standard
  /// descriptors, every other descriptor is closed. The parent must have one thread.
  static Result<ForkedCall> start(const std::function<void()>& work, const std::vector<int>& outputs,
                                  Clock::duration limit, sandbox::FreshNest& nest,
                                  const sandbox::Confinement& confinement);

  ForkedCall(ForkedCall&&) = default;
  ForkedCall& operator=(ForkedCall&&) = delete;
  /// Kills the child and whatever is left of its process group.
  ~ForkedCall();

  /// Readable once the child is gone.
  int pidfd() const { return pidfd_.get(); }
  Clock::time_point deadline() const { return deadline_; }

  /// Reaps the child; kills it first where it still runs.
  sys::ExitStatus finish();

 private:
  ForkedCall(int pid, sys::Fd pidfd, Clock::time_point deadline)
      : pid_(pid), pidfd_(std::move(pidfd)), deadline_(deadline) {}

  int pid_ = -1;
  sys::Fd pidfd_;
  Clock::time_point deadline_;
};

/// A memory file to write into from a child, not yet sealed.
Result<sys::Fd> memory_file(const char* name);

/// No more changes by anybody; false where somebody still could.
bool seal(const sys::Fd& file);

}  // namespace kagent::builder
