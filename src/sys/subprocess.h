// SPDX-License-Identifier: Apache-2.0
// Child processes: started with exactly the descriptors and environment that are named, waited for
// with a deadline, killed and reaped at the end of their owner's life.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::sys {

struct ResourceLimits {
  std::optional<unsigned long> file_bytes;     // largest file
  std::optional<unsigned long> data_bytes;     // RLIMIT_DATA; RLIMIT_AS would break CUDA
  std::optional<unsigned long> processes;
  std::optional<unsigned long> cpu_seconds;
  unsigned long open_files = 4096;
};

struct SpawnRequest {
  std::vector<std::string> arguments;                    // [0] is a path
  std::vector<std::string> environment;                  // "NAME=value"; nothing is inherited
  std::vector<std::pair<int, int>> descriptors;          // ours -> the child's (>= 3)
  int output = -1;                                       // fd for stdout and stderr; -1: /dev/null
  int standard_output = -1;                              // fd for stdout alone, where it differs
  std::string directory;                                 // working directory; empty: ours
  ResourceLimits limits;
  std::string control_group;                             // cgroup.procs of the group to start in; empty: ours
  bool ends_own_tree = false;                            // on SIGTERM, which kill() then sends first
};

struct ExitStatus {
  std::optional<int> code;     // ended by itself
  std::optional<int> signal;   // ended by a signal
  std::string describe() const;  // "exit code 3", "killed by signal 9 (Killed)"
};

class Process {
 public:
  using Clock = std::chrono::steady_clock;

  /// The child gets SIGKILL when we die. It leads a process group of its own.
  static Result<Process> spawn(const SpawnRequest& request);

  Process(Process&&) = default;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  int id() const { return pid_; }

  /// Empty where it still runs at the deadline, or when stop_fd became readable first.
  std::optional<ExitStatus> wait(std::optional<Clock::time_point> deadline = {}, int stop_fd = -1);

  /// SIGINT to the process itself, once: what Ctrl-C would have told it.
  void interrupt();

  /// SIGKILL to its process group, then reaps it. One that ends its own tree is first asked to, and has 10 s.
  void kill();

 private:
  Process(int pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  int pid_ = -1;
  Fd pidfd_;
  std::optional<ExitStatus> status_;
  bool ends_own_tree_ = false;
};

}  // namespace kagent::sys
