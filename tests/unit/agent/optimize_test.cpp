// SPDX-License-Identifier: Apache-2.0
#include "agent/optimize.h"

#include "agent_fixture.h"
#include "llm/replay_client.h"
#include "store/journal_file.h"

namespace kagent::agent {
namespace {

using fakes::call;
using fakes::reply;

TEST(Optimize, LeavesTheRunFolderThatIsDocumented) {
  Rig rig;
  rig.run({try_candidate("wrong"), try_candidate("speedup 2")});
  for (const char* name : {"trajectory.jsonl", "result.json", "workspace/task.py",
                           "workspace/SKILL.md", "workspace/skills/operators.md",
                           "workspace/model_new.py", "best/model_new.py", "best/evaluation.json"}) {
    EXPECT_TRUE(std::filesystem::exists(rig.folder.path() / name)) << name;
  }
  int candidates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rig.folder.candidates())) {
    ++candidates;
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "source/model_new.py"));
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "evaluation.json"));
  }
  EXPECT_EQ(candidates, 2);
  for (const auto& entry : std::filesystem::directory_iterator(rig.folder.path())) {
    EXPECT_NE(entry.path().filename().string()[0], '.')
        << "nothing temporary stays: " << entry.path();
  }
  EXPECT_EQ(rig.result_file()["warnings"][0], "CPU backend");
}

TEST(Optimize, PlaysATrajectoryBackToTheSameEnd) {
  Rig first;
  const OptimizeEnd recorded =
      first.run({reply({call("bash", R"({"command": "ls"})")}), try_candidate("broken"),
                 reply({call("nonsense")}), try_candidate("wrong"), try_candidate("speedup 2")});
  auto conversation = llm::read_conversation(first.folder.trajectory());
  ASSERT_TRUE(conversation) << conversation.error().message;
  Rig second;
  std::vector<std::string> differences;
  llm::ReplayClient replay("replay/x", *conversation, [&](const std::string& difference) {
    differences.push_back(difference);
  });
  const OptimizeEnd played = second.run(replay);
  replay.compare(played.last_results);
  EXPECT_EQ(differences, std::vector<std::string>{});
  EXPECT_EQ(played.result.outcome, recorded.result.outcome);
  EXPECT_EQ(played.result.turns, recorded.result.turns);
  EXPECT_EQ(second.trajectory().turns.back().results, first.trajectory().turns.back().results);
}

TEST(Optimize, ResumesWhereAKillCutItOff) {
  Rig rig;
  rig.run({try_candidate("speedup 1"), try_candidate("wrong")});
  // As a kill in the middle of turn 3 would leave it: a reply without results, and a torn line.
  std::string text = *sys::read_file(rig.folder.trajectory(), 1u << 20);
  text.resize(text.rfind("{\"explanation\""));
  {
    store::JournalFile journal = [&] {
      EXPECT_TRUE(sys::write_file_atomically(rig.folder.trajectory(), text));
      return *store::JournalFile::resume(rig.folder.trajectory(), "scripted/test", {});
    }();
    ASSERT_TRUE(journal.begin(
        3, reply({{"a", "bash", R"({"command": "rm x"})"}, {"b", "evaluate", "{}"}})));
  }
  text = *sys::read_file(rig.folder.trajectory(), 1u << 20) + "{\"type\":\"tu";
  ASSERT_TRUE(sys::write_file_atomically(rig.folder.trajectory(), text));
  std::filesystem::remove_all(rig.folder.best());

  fakes::ScriptedChat chat({try_candidate("speedup 1"), try_candidate("speedup 1.5")});
  const OptimizeEnd end = rig.run(chat);
  EXPECT_EQ(end.result.outcome, "success");
  EXPECT_EQ(end.result.turns, 5);
  EXPECT_EQ(end.result.candidates, 3) << "the one that was judged before is not judged again";
  EXPECT_EQ(rig.best_model(), "speedup 1.5");
  ASSERT_EQ(chat.requests[0].messages.size(), 7u);
  const auto& cut_off = std::get<ToolMessage>(chat.requests[0].messages[6]).results;
  EXPECT_EQ(cut_off[0].call_id, "a");
  EXPECT_TRUE(cut_off[0].is_error) << "whether it ran is not known";
  EXPECT_EQ(cut_off[1].call_id, "b");
  EXPECT_FALSE(cut_off[1].is_error) << "judging again is safe";
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_EQ(trajectory.turns.size(), 5u);
  EXPECT_EQ(trajectory.end->reason, StopReason::target_reached);
}

TEST(Optimize, DoesNotAskAgainWhereTheTargetWasReached) {
  Rig rig;
  rig.run({try_candidate("speedup 2")});
  fakes::ScriptedChat chat({try_candidate("wrong")});
  EXPECT_EQ(rig.run(chat).result.outcome, "success");
  EXPECT_TRUE(chat.requests.empty());
}

TEST(Optimize, LeavesTheResultOfARunThatCannotBeResumed) {
  Rig rig;
  rig.run({try_candidate("speedup 2")});
  const wire::Json before = rig.result_file();
  ASSERT_TRUE(sys::write_file_atomically(rig.folder.trajectory(), "damaged\n"));
  fakes::ScriptedChat chat({});
  EXPECT_FALSE(optimize(rig.request, {chat, rig.evaluator, rig.shell, [] { return false; }, {}},
                        rig.folder));
  EXPECT_EQ(rig.result_file(), before);
}

TEST(Optimize, RecordsAFailureBeforeTheFirstTurn) {
  Rig rig;
  const auto result = record_failure(rig.request, "replay/x", rig.folder,
                                     Error{ErrorKind::task_invalid, "task.py:3: no class Model"});
  ASSERT_TRUE(result);
  EXPECT_EQ(rig.result_file()["outcome"], "task_invalid");
  EXPECT_EQ(rig.result_file()["explanation"], "task.py:3: no class Model");
  EXPECT_TRUE(rig.result_file()["best"].is_null());
}

}  // namespace
}  // namespace kagent::agent
