// SPDX-License-Identifier: Apache-2.0
// What a running job says of itself: the last line of its log, and the trajectory of its run folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "wire/json.h"

namespace kagent::batch {

struct JobStatus {
  std::string phase;           // "trial 3/5", "wait for the device"; empty at first
  bool queued = false;         // waits for a device
  int turns = 0;               // of an optimize job
  double best_gain = 0;        // largest speed-up over eager of a correct candidate; 0: none yet
  double cost_usd = 0;
};

/// Reads on where it stopped the last time; what is not there yet or cannot be read changes nothing.
class JobWatch {
 public:
  /// runs: the folder in which an optimize job has its run folder; empty for others.
  JobWatch(std::filesystem::path log, std::filesystem::path runs) : log_(std::move(log)), runs_(std::move(runs)) {}

  const JobStatus& look();

 private:
  void read_log();
  void read_trajectory();
  void take(const wire::Json& line);

  std::filesystem::path log_;
  std::filesystem::path runs_;
  std::filesystem::path trajectory_;
  std::uint64_t log_at_ = 0;
  std::uint64_t trajectory_at_ = 0;
  JobStatus status_;
};

}  // namespace kagent::batch
