// SPDX-License-Identifier: Apache-2.0
// Workers that answer badly, lie, hang or die, on the other end of a real channel.
#include <cmath>
#include <csignal>
#include <thread>

#include "evaluator/worker.h"

#include <gtest/gtest.h>

namespace kagent::evaluator {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// What converse() makes of one answer.
Outcome answer_with(const json& body) {
  auto ends = std::move(*wire::Channel::pair());
  std::thread peer([&] {
    ends.second.receive();
    EXPECT_TRUE(ends.second.send(body));
  });
  Outcome outcome = converse(ends.first, "builder", {{"type", "build"}}, {}, milliseconds(5000));
  peer.join();
  return outcome;
}

TEST(Conversation, TellsAnswersFaultsAndErrorsApart) {
  EXPECT_EQ(std::get<Answer>(answer_with({{"ok", {{"n", 7}}}})).ok.at("n"), 7);
  const auto fault = std::get<Fault>(answer_with({{"fault", {{"kind", "build_failed"}, {"message", "no"}}}}));
  EXPECT_EQ(fault.kind, FaultKind::build_failed);
  EXPECT_EQ(fault.message, "no");
  const auto error = std::get<Error>(answer_with({{"error", {{"message", "no\ncompiler"}}}}));
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  const auto invalid = std::get<Error>(answer_with({{"task_invalid", {{"message", "no Model"}, {"line", 12}}}}));
  EXPECT_EQ(invalid.kind, ErrorKind::task_invalid);
  EXPECT_EQ(invalid.message, ":12: no Model");
}

TEST(Conversation, AnswersThatMakeNoSenseEndIt) {
  for (const json& body : {json::object(), json{{"ok", 3}}, json{{"fault", "x"}},
                           json{{"fault", {{"kind", "brilliant"}, {"message", ""}}}},
                           json{{"error", "text"}}, json{{"task_invalid", nullptr}}}) {
    const Outcome outcome = answer_with(body);
    ASSERT_TRUE(std::holds_alternative<Breakdown>(outcome)) << body;
    EXPECT_EQ(std::get<Breakdown>(outcome).kind, BreakdownKind::malformed) << body;
  }
}

TEST(Conversation, SilenceEndsAtTheTimeoutAndAHangUpAtOnce) {
  auto ends = std::move(*wire::Channel::pair());
  const Outcome silent = converse(ends.first, "runner", {{"type", "run"}}, {}, milliseconds(50));
  EXPECT_EQ(std::get<Breakdown>(silent).kind, BreakdownKind::timeout);
  EXPECT_NE(std::get<Breakdown>(silent).message.find("no answer to run"), std::string::npos);
  ends.second = wire::Channel(sys::Fd());
  const Outcome gone = converse(ends.first, "runner", {{"type", "run"}}, {}, milliseconds(5000));
  EXPECT_EQ(std::get<Breakdown>(gone).kind, BreakdownKind::died);
}

TEST(Conversation, NumbersBeyondJsonComeAsText) {
  EXPECT_EQ(number_field({{"x", 2.5}}, "x"), 2.5);
  EXPECT_EQ(number_field({{"x", 2.5}}, "y"), 0);
  EXPECT_TRUE(std::isinf(number_field({{"x", "inf"}}, "x")));
  EXPECT_TRUE(std::isnan(number_field({{"x", "nan"}}, "x")));
}

TEST(Conversation, NotesAreKeptOnceAndOnOneLine) {
  std::vector<std::string> notes{"judged by an fp32 run"};
  collect_notes({{"notes", {"judged by an fp32 run", "two\nlines", 7}}}, "notes", notes);
  collect_notes({{"notes", "not a list"}}, "notes", notes);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[1].find('\n'), std::string::npos);
}

WorkerStart shell(const std::string& command) {
  WorkerStart start;
  start.name = "worker";
  start.arguments = {"/bin/sh", "-c", command};
  start.environment = {"PATH=/usr/bin:/bin"};
  start.tier = sandbox::Tier::none;
  return start;
}

TEST(Worker, ADeadOneIsDescribedByHowItEndedAndItsLastWords) {
  auto worker = Worker::start(shell("echo first; echo no libtorch here >&2; exit 3"));
  ASSERT_TRUE(worker) << worker.error().message;
  const Outcome outcome = (*worker)->ask({{"type", "hello"}}, {}, milliseconds(5000));
  const auto& breakdown = std::get<Breakdown>(outcome);
  EXPECT_EQ(breakdown.kind, BreakdownKind::died);
  EXPECT_NE(breakdown.message.find("exit code 3; it last said: no libtorch here"), std::string::npos)
      << breakdown.message;
}

TEST(Worker, OneThatFloodsTheChannelIsKilled) {
  auto worker = Worker::start(shell("head -c 100000 /dev/zero >&3; sleep 60"));
  ASSERT_TRUE(worker) << worker.error().message;
  const Outcome outcome = (*worker)->ask({{"type", "hello"}}, {}, milliseconds(5000));
  EXPECT_EQ(std::get<Breakdown>(outcome).kind, BreakdownKind::malformed);
  EXPECT_NE(::kill((*worker)->id(), 0), 0) << "it still runs";
}

}  // namespace
}  // namespace kagent::evaluator
