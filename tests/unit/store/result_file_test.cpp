// SPDX-License-Identifier: Apache-2.0
#include "store/result_file.h"

#include "fakes/fake_evaluator.h"
#include "fakes/test_folder.h"

#include <gtest/gtest.h>

namespace kagent::store {
namespace {

TEST(ResultFile, HoldsFiguresWithoutSamples) {
  RunResult result;
  result.outcome = "success";
  result.stop = StopReason::target_reached;
  result.warnings = {"CPU"};
  result.best = BestResult{4, fakes::correct_evaluation(2)};
  result.best->evaluation.candidate = "abc";
  result.best->evaluation.measurement->candidate.samples.resize(100);
  const auto json = to_json(result);
  EXPECT_EQ(json["schema"], "kagent.result/1");
  EXPECT_EQ(json["stop_reason"], "target_reached");
  EXPECT_EQ(json["best"]["number"], 4);
  const auto& times = json["best"]["evaluation"]["measurement"];
  EXPECT_EQ(times["candidate"]["median_us"], 100.0);
  EXPECT_EQ(times["eager"]["median_us"], 200.0);
  EXPECT_FALSE(times["candidate"].contains("samples"));
}

TEST(ResultFile, SaysThatThereIsNoBest) { EXPECT_TRUE(to_json(RunResult{})["best"].is_null()); }

TEST(ResultFile, IsWrittenWhole) {
  const fakes::TestFolder test;
  const auto folder = *RunFolder::create(test.path(), "t", std::chrono::system_clock::now());
  RunResult result;
  result.outcome = "not_met";
  ASSERT_TRUE(write_result(folder, result));
  const auto stored = *wire::parse_text(*sys::read_file(folder.result_file(), 1u << 20), "result");
  EXPECT_EQ(stored, to_json(result));
}

}  // namespace
}  // namespace kagent::store
