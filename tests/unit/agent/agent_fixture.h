// SPDX-License-Identifier: Apache-2.0
// A whole run with a scripted model, a fake judge and a fake shell; files are real.
#pragma once

#include "agent/optimize.h"
#include "fakes/fake_evaluator.h"
#include "fakes/fake_shell.h"
#include "fakes/scripted_chat.h"
#include "fakes/test_folder.h"
#include "store/read_trajectory.h"
#include "wire/json.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kagent::agent {

inline ToolCall write_model(const std::string& text) {
  return fakes::call("write_file", wire::dump({{"path", "model_new.py"}, {"text", text}}));
}

/// One turn: this candidate is written and judged.
inline Reply try_candidate(const std::string& text) {
  return fakes::reply({write_model(text), fakes::call("evaluate")});
}

struct Rig {
  Rig() : folder(*store::RunFolder::create(test.path(), "task", std::chrono::system_clock::now())) {
    request.task.name = "task";
    request.task.source = "class Model: ...\n";
    request.judge.backend = Backend::cpu;
    request.skill = "the skill";
    request.notes = {{"skills/operators.md", "operators"}};
    request.warnings = {"CPU backend"};
  }

  OptimizeEnd run(ChatClient& chat) {
    auto end = optimize(request,
                        {chat, evaluator, shell, [this] { return stop; },
                         [this](const std::string& step) { steps.push_back(step); }},
                        folder);
    EXPECT_TRUE(end) << (end ? "" : end.error().message);
    return end ? *std::move(end) : OptimizeEnd{};
  }
  OptimizeEnd run(std::vector<Reply> replies) {
    fakes::ScriptedChat chat(std::move(replies));
    return run(chat);
  }
  store::Trajectory trajectory() const {
    auto read = store::read_trajectory(folder.trajectory());
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *std::move(read) : store::Trajectory{};
  }
  std::string best_model() const {
    auto text = sys::read_file(folder.best() / "model_new.py", 1u << 20);
    return text ? *text : "(none)";
  }
  wire::Json result_file() const {
    return *wire::parse_text(*sys::read_file(folder.result_file(), 1u << 20), "result");
  }

  fakes::TestFolder test;
  store::RunFolder folder;
  OptimizeRequest request;
  fakes::FakeEvaluator evaluator;
  fakes::FakeShell shell;
  bool stop = false;
  std::vector<std::string> steps;
};

}  // namespace kagent::agent
