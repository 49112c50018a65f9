// SPDX-License-Identifier: Apache-2.0
// Runs jobs, several at once, and tells of each start and end. Knows nothing of processes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "batch/job.h"
#include "batch/job_watch.h"

namespace kagent::batch {

/// A job that runs. Destroying it kills what it stands for.
class RunningJob {
 public:
  virtual ~RunningJob() = default;
  virtual std::optional<JobEnd> ended() = 0;   // does not wait
  virtual void interrupt() = 0;                // asks it to finish its present step and end
  virtual JobStatus status() { return {}; }    // where it stands
};

class JobStarter {
 public:
  virtual ~JobStarter() = default;
  /// slot: 0..slots-1, held by one job at a time. An Error ends the batch.
  virtual Result<std::unique_ptr<RunningJob>> start(const Job& job, int slot) = 0;
};

/// Told in the order things happen. An Error (a full disk) interrupts the batch and is its end.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual Result<void> started(const Job& job) = 0;
  virtual Result<void> ended(const Job& job, const JobEnd& end) = 0;

  struct Running {
    const Job* job;
    double seconds;      // since it was started here
    JobStatus status;
  };
  /// Several times a second, of the jobs that run just now; only where watches() says that someone looks.
  virtual bool watches() const { return false; }
  virtual void running(const std::vector<Running>&) {}
};

struct RunLimits {
  int slots = 1;
  std::optional<std::chrono::steady_clock::time_point> until;   // no job starts after it
  std::function<bool()> stop;                                   // a signal came: start nothing, interrupt all
};

enum class BatchEnd { all_ran, out_of_time, stopped };

/// Every job runs at most once. One that was interrupted is not reported as ended: it is still to do.
Result<BatchEnd> run_jobs(const std::vector<Job>& jobs, const RunLimits& limits, JobStarter& starter,
                          JobObserver& observer);

}  // namespace kagent::batch
