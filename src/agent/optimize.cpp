// SPDX-License-Identifier: Apache-2.0
#include "agent/optimize.h"

#include "agent/prompt.h"
#include "agent/run_result.h"
#include "base/text.h"
#include "store/journal_file.h"
#include "store/read_trajectory.h"
#include "toolbox/bash_tool.h"
#include "toolbox/edit_file_tool.h"
#include "toolbox/evaluate_tool.h"
#include "toolbox/finish_tool.h"
#include "toolbox/read_file_tool.h"
#include "toolbox/write_file_tool.h"
#include "wire/json.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace kagent::agent {
namespace {

/// All tools of a run. Holds references into itself: stays where it was made.
class Tools {
 public:
  Tools(const sys::ConfinedFolder& workspace, toolbox::ShellRunner& shell,
        toolbox::CandidateJudge& judge, double min_gain)
      : files_(workspace, read_only_paths()),
        bash_(shell, workspace),
        read_(files_),
        edit_(files_),
        write_(files_),
        evaluate_(judge, min_gain) {}
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;

  std::vector<Tool*> all() { return {&bash_, &read_, &edit_, &write_, &evaluate_, &finish_}; }

 private:
  toolbox::WorkspaceFiles files_;
  toolbox::BashTool bash_;
  toolbox::ReadFileTool read_;
  toolbox::EditFileTool edit_;
  toolbox::WriteFileTool write_;
  toolbox::EvaluateTool evaluate_;
  toolbox::FinishTool finish_;
};

/// A journal whose file is made once the tools are known, since line 1 holds them.
class LateJournal : public Journal {
 public:
  void use(store::JournalFile file) {
    file_ = std::make_unique<store::JournalFile>(std::move(file));
  }
  Result<void> begin(int turn, const Reply& reply) override { return file_->begin(turn, reply); }
  Result<void> append(int turn, const ToolResult& result) override {
    return file_->append(turn, result);
  }
  Result<void> append(const Turn& turn) override { return file_->append(turn); }
  Result<void> append(const CandidateRecord& record) override { return file_->append(record); }
  Result<void> append(const ContextEdit& edit) override { return file_->append(edit); }
  Result<void> append(StopReason reason, const std::string& explanation) override {
    return file_->append(reason, explanation);
  }

 private:
  std::unique_ptr<store::JournalFile> file_;
};

std::vector<ToolSpec> specs(const std::vector<Tool*>& tools) {
  std::vector<ToolSpec> all;
  for (const Tool* tool : tools) all.push_back(tool->spec());
  return all;
}

template <typename Number>
wire::Json optional_number(const std::optional<Number>& number) {
  return number ? wire::Json(*number) : wire::Json();
}

wire::Json settings_of(const OptimizeRequest& request) {
  return {{"judge", wire::to_json(request.judge)},
          {"max_turns", request.loop.max_turns},
          {"max_tokens", optional_number(request.loop.max_tokens)},
          {"max_usd", optional_number(request.loop.max_usd)},
          {"max_gpu_seconds", optional_number(request.loop.max_gpu_seconds)},
          {"context_tokens", request.loop.context_tokens},
          {"sampling", request.sampling},
          {"keep_going", request.loop.after_success == AfterSuccess::keep_going}};
}

struct Opened {
  store::RunStart start;
  std::vector<Turn> turns;
  ContextEdit context;
  std::optional<Turn> cut_off;         // its calls are not all through
  std::optional<store::RunEnd> ended;  // it had ended; a kill kept its result from being written
};

Result<Opened> start_new(const OptimizeRequest& request, const OptimizeParts& parts,
                         const store::RunFolder& folder, std::vector<ToolSpec> tools,
                         LateJournal& journal) {
  Opened opened;
  opened.start = {parts.chat.name(), system_prompt(request.skill),
                  opening_message(request.task, request.judge, request.device), std::move(tools),
                  settings_of(request)};
  KAGENT_TRY(auto file, store::JournalFile::create(folder.trajectory(), opened.start));
  journal.use(std::move(file));
  return opened;
}

Result<Opened> start_again(const OptimizeRequest& request, const OptimizeParts& parts,
                           const store::RunFolder& folder, CandidateBook& book,
                           LateJournal& journal) {
  KAGENT_TRY(store::Trajectory trajectory, store::read_trajectory(folder.trajectory()));
  KAGENT_TRY(auto file, store::JournalFile::resume(folder.trajectory(), parts.chat.name(),
                                                   settings_of(request)));
  journal.use(std::move(file));
  std::error_code ignored;
  const bool had_result = std::filesystem::exists(folder.result_file(), ignored);
  std::filesystem::remove(folder.result_file(), ignored);  // of the part that ended; no longer true
  KAGENT_TRY_VOID(book.restore(trajectory.candidates));
  std::optional<Turn> cut_off;
  if (trajectory.unfinished) {
    cut_off.emplace();
    cut_off->number = static_cast<int>(trajectory.turns.size()) + 1;
    cut_off->reply = *std::move(trajectory.unfinished);
    cut_off->results = std::move(trajectory.unfinished_results);
  }
  Opened opened{std::move(trajectory.start),
                std::move(trajectory.turns),
                std::move(trajectory.context),
                std::move(cut_off),
                {}};
  if (trajectory.end && !had_result && !may_go_on(trajectory.end->reason)) {
    opened.ended = std::move(trajectory.end);
  }
  return opened;
}

store::RunResult blank_result(const OptimizeRequest& request, const std::string& model,
                              const store::RunFolder& folder) {
  store::RunResult result;
  result.task = request.task.name;
  result.model = model;
  result.backend = wire::word(request.judge.backend);
  result.folder = folder.path().string();
  result.warnings = request.warnings;
  return result;
}

/// False also where a kill left less than the first line: nothing was said yet, and what there is
/// goes.
bool has_begun(const std::filesystem::path& trajectory) {
  std::ifstream file(trajectory, std::ios::binary);
  if (!file) return false;
  for (char byte = 0; file.get(byte);) {
    if (byte == '\n') return true;
  }
  std::error_code ignored;
  std::filesystem::remove(trajectory, ignored);
  return false;
}

Result<OptimizeEnd> play(const OptimizeRequest& request, const OptimizeParts& parts,
                         const store::RunFolder& folder) {
  KAGENT_TRY(const auto workspace, sys::ConfinedFolder::open(folder.workspace()));
  LateJournal journal;
  CandidateBook book(workspace, folder, parts.evaluator, journal, request.judge.over);
  Tools tools(workspace, parts.shell, book, request.judge.min_gain);
  const bool resuming = has_begun(folder.trajectory());
  KAGENT_TRY(Opened opened, resuming
                                ? start_again(request, parts, folder, book, journal)
                                : start_new(request, parts, folder, specs(tools.all()), journal));
  Loop loop({parts.chat, tools.all(), book, journal, parts.stop_requested,
             [] { return std::chrono::steady_clock::now(); }, parts.on_step, parts.on_status},
            request.loop, opened.start.system, opened.start.opening);
  loop.take_over(opened.turns, opened.context, std::move(opened.cut_off));
  LoopEnd end =
      opened.ended ? loop.ended(opened.ended->reason, opened.ended->explanation) : loop.run();
  OptimizeEnd done;
  done.result = blank_result(request, parts.chat.name(), folder);
  done.result.outcome = outcome_word(end, book.best());
  done.result.stop = end.reason;
  done.result.explanation = end.explanation;
  done.result.turns = end.turns;
  done.result.candidates = book.count();
  done.result.usage = end.usage;
  done.result.seconds = end.seconds;
  done.result.best = book.best();
  done.last_results = std::move(end.last_results);
  done.error = std::move(end.error);
  KAGENT_TRY_VOID(store::write_result(folder, done.result));
  return done;
}

Result<void> prepare_workspace(const OptimizeRequest& request, const store::RunFolder& folder) {
  std::error_code code;
  if (std::filesystem::exists(folder.workspace(), code)) return {};
  workspace::GivenFiles given = request.notes;
  given["task.py"] = request.task.source;
  given["SKILL.md"] = request.skill;
  return workspace::create(folder.workspace(), given);
}

}  // namespace

std::vector<std::string> read_only_paths() { return {"task.py", "SKILL.md", "skills"}; }

Result<store::RunResult> record_failure(const OptimizeRequest& request, const std::string& model,
                                        const store::RunFolder& folder, const Error& error) {
  store::RunResult result = blank_result(request, model, folder);
  result.outcome = outcome_word(error);
  result.stop =
      error.kind == ErrorKind::interrupted ? StopReason::interrupted : StopReason::environment;
  result.explanation = base::one_line(error.message, 2000);
  KAGENT_TRY_VOID(store::write_result(folder, result));
  return result;
}

Result<OptimizeEnd> optimize(const OptimizeRequest& request, const OptimizeParts& parts,
                             const store::RunFolder& folder) {
  Result<OptimizeEnd> end = Error{};
  if (auto prepared = prepare_workspace(request, folder); !prepared) {
    end = std::move(prepared).error();
  } else {
    end = play(request, parts, folder);
  }
  if (end) return end;
  std::error_code code;
  // A run that could not be resumed keeps the result that it has.
  if (std::filesystem::exists(folder.result_file(), code)) return end;
  OptimizeEnd failed;
  KAGENT_TRY(failed.result, record_failure(request, parts.chat.name(), folder, end.error()));
  failed.error = end.error();
  return failed;
}

}  // namespace kagent::agent
