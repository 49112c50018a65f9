// SPDX-License-Identifier: Apache-2.0
#include "batch/run_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace kagent::batch {
namespace {

Job job(const std::string& id) {
  Job made;
  made.id = id;
  return made;
}

std::vector<Job> jobs(int count) {
  std::vector<Job> all;
  for (int i = 0; i < count; ++i) all.push_back(job(std::to_string(i)));
  return all;
}

/// A job ends after as many questions as its length says; an interrupted one ends at the next.
class FakeStarter : public JobStarter {
 public:
  Result<std::unique_ptr<RunningJob>> start(const Job& started, int slot) override {
    if (started.id == refused) return Error{ErrorKind::environment, "no more processes"};
    EXPECT_TRUE(held.insert(slot).second) << "slot " << slot << " is held by another job";
    most = std::max(most, held.size());
    return std::unique_ptr<RunningJob>(new Fake(*this, slot, 1 + std::stoi(started.id) % 3));
  }

  class Fake : public RunningJob {
   public:
    Fake(FakeStarter& starter, int slot, int length) : starter_(starter), slot_(slot), left_(length) {}
    ~Fake() override { starter_.held.erase(slot_); }
    std::optional<JobEnd> ended() override {
      JobEnd end;
      end.outcome = interrupted_ ? "interrupted" : "success";
      if (interrupted_ || --left_ == 0) return end;
      return std::nullopt;
    }
    void interrupt() override { interrupted_ = true; }

   private:
    FakeStarter& starter_;
    int slot_;
    int left_;
    bool interrupted_ = false;
  };

  std::set<int> held;
  std::size_t most = 0;
  std::string refused = "none";
};

class Recorder : public JobObserver {
 public:
  Result<void> started(const Job& begun) override {
    ++starts[begun.id];
    return {};
  }
  Result<void> ended(const Job& done, const JobEnd&) override {
    if (static_cast<int>(ends.size()) == fail_after) return Error{ErrorKind::environment, "disk full"};
    ++ends[done.id];
    return {};
  }
  std::map<std::string, int> starts, ends;
  int fail_after = -1;
};

TEST(RunJobs, EachEndsOnceAndSlotsAreNeverShared) {
  FakeStarter starter;
  Recorder recorder;
  const auto end = run_jobs(jobs(25), {4, {}, {}}, starter, recorder);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, BatchEnd::all_ran);
  EXPECT_EQ(starter.most, 4u);
  EXPECT_EQ(recorder.ends.size(), 25u);
  for (const auto& [id, count] : recorder.ends) EXPECT_EQ(count, 1) << id;
}

TEST(RunJobs, AfterAStopNothingStartsAndInterruptedJobsStayToDo) {
  FakeStarter starter;
  Recorder recorder;
  int asked = 0;
  const auto end = run_jobs(jobs(25), {2, {}, [&] { return ++asked > 2; }}, starter, recorder);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, BatchEnd::stopped);
  EXPECT_LT(recorder.starts.size(), 25u);
  EXPECT_LT(recorder.ends.size(), recorder.starts.size());
  EXPECT_TRUE(starter.held.empty());
}

TEST(RunJobs, AfterItsTimeNothingStarts) {
  FakeStarter starter;
  Recorder recorder;
  const auto end = run_jobs(jobs(3), {2, std::chrono::steady_clock::now(), {}}, starter, recorder);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, BatchEnd::out_of_time);
  EXPECT_TRUE(recorder.starts.empty());
}

TEST(RunJobs, AFullDiskOrNoProcessEndsTheBatch) {
  FakeStarter starter;
  Recorder recorder;
  recorder.fail_after = 3;
  EXPECT_FALSE(run_jobs(jobs(9), {2, {}, {}}, starter, recorder));
  EXPECT_EQ(recorder.ends.size(), 3u);
  EXPECT_TRUE(starter.held.empty());
  starter.refused = "1";
  EXPECT_FALSE(run_jobs(jobs(9), {2, {}, {}}, starter, recorder));
}

}  // namespace
}  // namespace kagent::batch
