// SPDX-License-Identifier: Apache-2.0
#include "agent/run_status.h"

#include "agent_fixture.h"

namespace kagent::agent {
namespace {

TEST(RunStatus, LeavesOutWhatIsNothingAndHasNoBudget) {
  RunStatus status;
  status.max_turns = 200;
  EXPECT_EQ(status_text(status), "turn 0/200 · 0.0 s");
}

TEST(RunStatus, NamesEveryBudget) {
  RunStatus status;
  status.turns = 12;
  status.max_turns = 200;
  status.tokens = 61'234;
  status.max_tokens = 20'000'000;
  status.usd = 0.344;
  status.max_usd = 5;
  status.seconds = 250;
  status.max_seconds = 3600;
  status.device_seconds = 12.4;
  status.max_device_seconds = 600;
  status.candidates = 7;
  status.best = toolbox::BestFigures{5, 1.834, 1.2, true};
  EXPECT_EQ(
      status_text(status),
      "turn 12/200 · 61k of 20.0M tokens · $0.34 of $5.00 · 4.2 of 60 min · device 12 of 600 s · "
      "7 candidates, best #5: 1.83x eager, 1.20x torch.compile");
}

TEST(Loop, SaysWhereTheRunStandsBeforeEachRequestAndCall) {
  Rig rig;
  std::vector<std::string> next;
  std::vector<int> turns;
  fakes::ScriptedChat chat({try_candidate("speedup 0.9"), fakes::reply({fakes::call("finish")})});
  const auto end = optimize(rig.request,
                            {chat,
                             rig.evaluator,
                             rig.shell,
                             [] { return false; },
                             {},
                             [&](const RunStatus& status, const std::string& what) {
                               next.push_back(what);
                               turns.push_back(status.turns);
                               EXPECT_EQ(status.between_turns, what == "ask the model");
                             }},
                            rig.folder);
  ASSERT_TRUE(end);
  EXPECT_EQ(next, (std::vector<std::string>{"ask the model", "write_file", "evaluate",
                                            "ask the model", "finish"}));
  EXPECT_EQ(turns, (std::vector<int>{0, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace kagent::agent
