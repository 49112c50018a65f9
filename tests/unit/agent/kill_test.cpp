// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any time leaves a readable trajectory, and in best/ a whole candidate that is no worse
// than what the trajectory had seen when the last turn was recorded.
#include "agent_fixture.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace kagent::agent {
namespace {

constexpr int kTurns = 200;

std::vector<Reply> ever_better() {
  std::vector<Reply> replies;
  for (int i = 1; i <= kTurns; ++i) {
    Reply reply = try_candidate("speedup 0." + std::to_string(100 + i));
    reply.calls.push_back(fakes::call(
        "write_file", wire::dump({{"path", "kernels/a.cu"}, {"text", std::string(5000, 'a')}})));
    replies.push_back(std::move(reply));
  }
  return replies;
}

[[noreturn]] void run_in_child(Rig& rig) {
  fakes::ScriptedChat chat(ever_better());
  (void)optimize(rig.request, {chat, rig.evaluator, rig.shell, [] { return false; }, {}},
                 rig.folder);
  ::_exit(0);
}

void check_what_is_left(const Rig& rig) {
  const auto trajectory = store::read_trajectory(rig.folder.trajectory());
  if (!trajectory) {
    // Killed before line 1 was whole: nothing had begun.
    EXPECT_NE(trajectory.error().message.find(std::filesystem::exists(rig.folder.trajectory())
                                                  ? "no whole line"
                                                  : "No such file"),
              std::string::npos)
        << trajectory.error().message;
    return;
  }
  EXPECT_GE(trajectory->candidates.size(), trajectory->turns.size());
  for (const CandidateRecord& record : trajectory->candidates) {
    const auto source =
        rig.folder.candidates() / record.evaluation.candidate / "source/model_new.py";
    EXPECT_TRUE(std::filesystem::exists(source));
  }
  const std::string best = rig.best_model();
  if (trajectory->turns.empty()) return;
  ASSERT_EQ(best.rfind("speedup 0.", 0), 0u) << best;
  EXPECT_GE(std::stoi(best.substr(10)), 100 + static_cast<int>(trajectory->turns.size()));
  EXPECT_TRUE(
      wire::parse_text(*sys::read_file(rig.folder.best() / "evaluation.json", 1u << 20), "best"));
}

TEST(Kill, AtAnyTimeLeavesAReadableRunAndTheBest) {
  std::mt19937 random(11);
  int killed_in_the_middle = 0;
  for (int round = 0; round < 50; ++round) {
    Rig rig;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_in_child(rig);
    ::usleep(1000 + random() % 120000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    killed_in_the_middle += WIFSIGNALED(status) ? 1 : 0;
    check_what_is_left(rig);
    if (HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(killed_in_the_middle, 25) << "most rounds must hit a run at work";
}

TEST(Kill, ARunThatWasKilledGoesOn) {
  Rig rig;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) run_in_child(rig);
  ::usleep(60000);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(rig.run({try_candidate("speedup 2")}).result.outcome, "success");
  EXPECT_EQ(rig.best_model(), "speedup 2");
}

/// Says what belongs to the turn that is asked for, however often it is asked.
class TurnChat : public ChatClient {
 public:
  std::string name() const override { return "scripted/turns"; }
  Result<Reply> complete(const ChatRequest& request) override {
    static const std::vector<Reply> kReplies = ever_better();
    Reply reply =
        request.turn <= 60 ? kReplies[static_cast<std::size_t>(request.turn) - 1] : Reply{};
    if (request.turn > 60) reply.end = ReplyEnd::replay_ended;
    return reply;
  }
};

TEST(Kill, KilledAtFiftyMomentsItEndsAsTheUndisturbedRun) {
  std::mt19937 random(7);
  TurnChat chat;
  Rig rig;
  int kills = 0;
  while (kills < 50) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)optimize(rig.request, {chat, rig.evaluator, rig.shell, [] { return false; }, {}},
                     rig.folder);
      ::_exit(0);
    }
    ::usleep(500 + random() % 6000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ++kills;
  }
  const OptimizeEnd end = rig.run(chat);
  Rig undisturbed;
  const OptimizeEnd expected = undisturbed.run(chat);
  EXPECT_EQ(end.result.turns, expected.result.turns);
  EXPECT_EQ(end.result.candidates, expected.result.candidates);
  EXPECT_EQ(end.result.stop, expected.result.stop);
  EXPECT_EQ(end.result.usage, expected.result.usage);
  EXPECT_EQ(rig.best_model(), undisturbed.best_model());
  const auto left = rig.trajectory();
  EXPECT_EQ(left.candidates.size(), 60u) << "none lost, none counted twice";
  for (const Turn& turn : left.turns) {
    ASSERT_EQ(turn.results.size(), 3u);
    for (const ToolResult& result : turn.results) EXPECT_FALSE(result.is_error) << result.text;
  }
}

}  // namespace
}  // namespace kagent::agent
