// SPDX-License-Identifier: Apache-2.0
#include "optimize_output.h"

#include "agent/run_result.h"
#include "base/text.h"
#include "report/evaluation_text.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

/// Fit to be pasted into a shell.
std::string quoted(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "@%+=:,./_-") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char byte : word) text += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return text + "'";
}

std::string command(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const auto& word : words) all.push_back(quoted(word));
  return base::join(all, " ");
}

std::string best_lines(const store::RunResult& result, const NextSteps& next) {
  const Evaluation& best = result.best->evaluation;
  std::string text = fmt::format("best: candidate #{} ({}), {}\n", result.best->number,
                                 best.candidate.substr(0, 12), report::outcome(best));
  if (best.measurement) text += report::score_table(*best.measurement, next.settings);
  const std::string folder = result.folder + "/best";
  text += "kept in " + folder + "\n";
  std::vector<std::string> check{"kagent", "check", next.task, folder};
  check.insert(check.end(), next.judge_arguments.begin(), next.judge_arguments.end());
  text += "judge it again:  " + command(check) + "\n";
  text += "use it:          " +
          fmt::format(
              "PYTHONPATH={}:{} python3   # from model_new import ModelNew, in place of Model\n",
              quoted(next.python.string()), quoted(folder));
  return text;
}

const char* more_of(StopReason reason) {
  switch (reason) {
    case StopReason::turns:
      return " --max-turns MORE";
    case StopReason::tokens:
      return " --max-tokens MORE";
    case StopReason::wall_clock:
      return " --max-minutes MORE";
    case StopReason::money:
      return " --budget-usd MORE";
    case StopReason::gpu_seconds:
      return " --max-gpu-seconds MORE";
    case StopReason::target_reached:
      return " --keep-going";
    default:
      return "";
  }
}

}  // namespace

std::string closing_lines(const store::RunResult& result, const NextSteps& next) {
  std::string text =
      fmt::format("{}: {} ({} turns, {} candidates, {:.1f} s", result.outcome, result.explanation,
                  result.turns, result.candidates, result.seconds);
  if (result.usage.cost_usd > 0) text += fmt::format(", ${:.2f}", result.usage.cost_usd);
  text += ")\n";
  text += result.best ? best_lines(result, next) : "no correct candidate\n";
  if (!next.replay.empty()) text += next.replay + "\n";
  if (agent::may_go_on(result.stop) || result.stop == StopReason::target_reached) {
    std::vector<std::string> resume{"kagent", "optimize", next.task, "--model", next.model};
    resume.insert(resume.end(), next.judge_arguments.begin(), next.judge_arguments.end());
    if (!next.base_url.empty()) resume.insert(resume.end(), {"--base-url", next.base_url});
    resume.insert(resume.end(), {"--resume", result.folder});
    text += "go on:           " + command(resume) + more_of(result.stop) + "\n";
  }
  if (!result.warnings.empty()) text += base::join(result.warnings, ". ") + "\n";
  return text;
}

}  // namespace kagent::cli
