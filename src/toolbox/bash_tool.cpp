// SPDX-License-Identifier: Apache-2.0
#include "toolbox/bash_tool.h"

#include "base/hash.h"
#include "base/text.h"
#include "toolbox/arguments.h"
#include "toolbox/output_text.h"

#include <fmt/format.h>

namespace kagent::toolbox {
namespace {

Parameters parameters(const BashLimits& limits) {
  return {
      {"command", ParameterType::text, Presence::required,
       "The command line, run by bash in the workspace", 0, 0},
      {"timeout", ParameterType::integer, Presence::optional,
       fmt::format("Seconds after which it is killed; {} where left out", limits.timeout.count()),
       1, limits.longest_timeout.count()}};
}

std::string end_line(const ShellOutcome& outcome, std::int64_t seconds) {
  switch (outcome.end) {
    case ShellEnd::exited:
      return fmt::format("[exit code {}]", outcome.code);
    case ShellEnd::killed:
      return fmt::format("[killed by signal {}]", outcome.code);
    case ShellEnd::timed_out:
      return fmt::format("[killed: still running after {} s; give a longer timeout or do less]",
                         seconds);
    case ShellEnd::disk_full:
      return fmt::format("[killed: the workspace grew beyond {} GiB or {} files; delete what is not needed]",
                         kMostWorkspaceBytes >> 30, kMostWorkspaceFiles);
    case ShellEnd::interrupted:
      return "[killed: the run was interrupted]";
  }
  return "";
}

}  // namespace

ToolSpec BashTool::spec() const {
  return {"bash",
          "Runs a command in a shell of its own in the workspace: no network, no GPU, nothing kept "
          "but files. task.py and SKILL.md are read-only. Long output is cut in the middle.",
          schema_of(parameters(limits_))};
}

ToolOutcome BashTool::run(const std::string& arguments) {
  auto checked = check_arguments(parameters(limits_), arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  const auto& given = std::get<Arguments>(checked);
  const std::string command = given.text("command");
  if (base::trim(command).empty()) return failed("the command is empty");
  if (command.find('\0') != std::string::npos) return failed("the command contains a NUL byte");
  const std::int64_t seconds = given.integer("timeout", limits_.timeout.count());
  const auto outcome = shell_.run(command, std::chrono::seconds(seconds));
  if (!outcome) return failed("the shell could not be started: " + outcome.error().message);
  ToolOutcome result;
  result.text = shown(*outcome) + end_line(*outcome, seconds);
  result.is_error = outcome->end != ShellEnd::exited && outcome->end != ShellEnd::killed;
  return result;
}

std::string BashTool::shown(const ShellOutcome& outcome) {
  std::string text = clean_output(outcome.output);
  if (text.size() > limits_.shown_bytes) {
    // Named by what it holds: the same output of the same command reads the same, which is how
    // being stuck is noticed, and a resumed run overwrites no other log.
    std::string log = ".logs/bash-" + base::sha256_hex(text).substr(0, 8) + ".txt";
    // The log is a convenience: where it cannot be written, the marker does not name it.
    if (!workspace_.write(log, text)) log.clear();
    text = cap_output(text, limits_.shown_bytes, log);
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace kagent::toolbox
