// SPDX-License-Identifier: Apache-2.0
#include "batch/run_jobs.h"

#include <thread>
#include <utility>

namespace kagent::batch {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kWatch = std::chrono::milliseconds(250);

class Runner {
 public:
  Runner(const std::vector<Job>& jobs, const RunLimits& limits, JobStarter& starter, JobObserver& observer)
      : jobs_(jobs), limits_(limits), starter_(starter), observer_(observer),
        slots_(static_cast<std::size_t>(limits.slots)) {}

  Result<BatchEnd> run() {
    while (true) {
      if (!stopped_ && limits_.stop && limits_.stop()) interrupt_all();
      if (!stopped_) KAGENT_TRY_VOID(fill());
      KAGENT_TRY_VOID(collect());
      watch();
      if (running() == 0 && (stopped_ || next_ == jobs_.size() || out_of_time())) break;
      std::this_thread::sleep_for(kPoll);
    }
    if (stopped_) return BatchEnd::stopped;
    return next_ == jobs_.size() ? BatchEnd::all_ran : BatchEnd::out_of_time;
  }

 private:
  struct Slot {
    std::size_t job = 0;
    std::unique_ptr<RunningJob> process;
    std::chrono::steady_clock::time_point start;
  };

  bool out_of_time() const { return limits_.until && std::chrono::steady_clock::now() >= *limits_.until; }

  std::size_t running() const {
    std::size_t count = 0;
    for (const auto& slot : slots_) count += slot.process ? 1 : 0;
    return count;
  }

  void interrupt_all() {
    stopped_ = true;
    for (auto& slot : slots_) {
      if (slot.process) slot.process->interrupt();
    }
  }

  Result<void> fill() {
    for (std::size_t i = 0; i < slots_.size() && next_ < jobs_.size() && !out_of_time(); ++i) {
      if (slots_[i].process) continue;
      KAGENT_TRY_VOID(observer_.started(jobs_[next_]));
      KAGENT_TRY(slots_[i].process, starter_.start(jobs_[next_], static_cast<int>(i)));
      slots_[i].job = next_++;
      slots_[i].start = std::chrono::steady_clock::now();
    }
    return {};
  }

  Result<void> collect() {
    for (auto& slot : slots_) {
      if (!slot.process) continue;
      const auto end = slot.process->ended();
      if (!end) continue;
      slot.process.reset();
      if (stopped_ && end->outcome == "interrupted") continue;
      KAGENT_TRY_VOID(observer_.ended(jobs_[slot.job], *end));
    }
    return {};
  }

  void watch() {
    const auto now = std::chrono::steady_clock::now();
    if (!observer_.watches() || now < next_watch_) return;
    next_watch_ = now + kWatch;
    std::vector<JobObserver::Running> all;
    for (auto& slot : slots_) {
      if (!slot.process) continue;
      all.push_back({&jobs_[slot.job], std::chrono::duration<double>(now - slot.start).count(), slot.process->status()});
    }
    observer_.running(all);
  }

  const std::vector<Job>& jobs_;
  const RunLimits& limits_;
  JobStarter& starter_;
  JobObserver& observer_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point next_watch_;
};

}  // namespace

Result<BatchEnd> run_jobs(const std::vector<Job>& jobs, const RunLimits& limits, JobStarter& starter,
                          JobObserver& observer) {
  return Runner(jobs, limits, starter, observer).run();
}

}  // namespace kagent::batch
