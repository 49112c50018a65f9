// SPDX-License-Identifier: Apache-2.0
#include "batch/job_watch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sys/files.h"

namespace kagent::batch {
namespace {

void append(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

TEST(JobWatch, FollowsLogAndTrajectory) {
  auto folder = sys::TemporaryDirectory::create("watch-test");
  ASSERT_TRUE(folder);
  const auto log = folder->path() / "a.log";
  const auto run = folder->path() / "runs/2026-run";
  JobWatch watch(log, folder->path() / "runs");
  EXPECT_EQ(watch.look().phase, "");
  append(log, "kagent: trial 1/5\nkagent: wait for the dev");
  EXPECT_EQ(watch.look().phase, "trial 1/5");
  append(log, "ice\nsomething else\n");
  EXPECT_TRUE(watch.look().queued);
  ASSERT_TRUE(sys::make_directories(run));
  append(run / "trajectory.jsonl",
         "{\"type\": \"reply\", \"turn\": 1, \"reply\": {\"usage\": {\"cost_usd\": 0.25}}}\n"
         "{\"type\": \"candidate\", \"evaluation\": {\"verdict\": {\"correct\": true}, \"score\": {\"speedup_over_eager\": 1.5}}}\n"
         "{\"type\": \"candidate\", \"evaluation\": {\"verdict\": {\"correct\": false}, \"score\": {\"speedup_over_eager\": 9}}}\nnot JSON\n{\"ty");
  EXPECT_EQ(watch.look().turns, 1);
  append(run / "trajectory.jsonl", "pe\": \"reply\", \"turn\": 2, \"reply\": {\"usage\": {\"cost_usd\": 0.5}}}\n");
  append(log, "kagent: \x1b[2Jrecord\n");
  const JobStatus& status = watch.look();
  EXPECT_EQ(status.turns, 2);
  EXPECT_DOUBLE_EQ(status.best_gain, 1.5);
  EXPECT_DOUBLE_EQ(status.cost_usd, 0.75);
  EXPECT_FALSE(status.queued);
  EXPECT_EQ(status.phase.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace kagent::batch
