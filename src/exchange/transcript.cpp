// SPDX-License-Identifier: Apache-2.0
#include "exchange/transcript.h"

#include "base/text.h"
#include "exchange/grades.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kagent::exchange {
namespace {

using wire::Json;

constexpr std::size_t kMostBytes = 4000;  // of one text
constexpr std::size_t kMostLines = 60;

/// Every character of every line can be printed; lines stay.
std::string printable(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : base::split_lines(text)) {
    std::string kept;
    for (const char byte : line) kept += byte == '\t' ? ' ' : byte;
    lines.push_back(base::one_line(kept, kMostBytes));
  }
  if (lines.size() > kMostLines) {
    const std::size_t tail = kMostLines / 3;
    const std::size_t head = kMostLines - tail;
    lines[head] = fmt::format("… [{} lines left out] …", lines.size() - kMostLines);
    lines.erase(lines.begin() + static_cast<long>(head) + 1, lines.end() - static_cast<long>(tail));
  }
  return base::join(lines, "\n");
}

/// A fence that nothing in the text can close.
std::string fenced(const std::string& text, const std::string& language = "") {
  std::size_t run = 0;
  std::size_t longest = 2;
  for (const char byte : text) {
    run = byte == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + printable(base::cap(text, kMostBytes)) + "\n" + fence + "\n";
}

std::string language_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string suffix = dot == std::string::npos ? "" : path.substr(dot + 1);
  static const std::map<std::string, std::string> kLanguages{
      {"py", "python"}, {"cu", "cuda"}, {"cuh", "cuda"}, {"cpp", "cpp"}, {"h", "cpp"}};
  const auto found = kLanguages.find(suffix);
  return found == kLanguages.end() ? "" : found->second;
}

std::string member(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

std::string call_text(const ToolCall& call) {
  const std::string tool = base::one_line(call.tool, 60);
  const Json arguments = arguments_object(call);
  if (arguments.is_null()) return "**" + tool + "** with\n" + fenced(call.arguments);
  const std::string path = member(arguments, "path");
  std::string text =
      "**" + tool + "**" + (path.empty() ? "" : " `" + base::one_line(path, 120) + "`") + "\n";
  const std::string language = language_of(path);
  if (tool == "write_file") return text + fenced(member(arguments, "text"), language);
  if (tool == "bash") return text + fenced(member(arguments, "command"), "sh");
  if (tool == "edit_file") {
    return text + "instead of\n" + fenced(member(arguments, "old"), language) + "this\n" +
           fenced(member(arguments, "new"), language);
  }
  return path.empty() && !arguments.empty() ? text + fenced(wire::dump(arguments, 1), "json")
                                            : text;
}

std::string heading(const Turn& turn) {
  const Usage& usage = turn.reply.usage;
  std::string text = fmt::format("\n## Turn {}\n{:.1f} s · {} tokens in, {} out", turn.number,
                                 turn.seconds, usage.input_tokens, usage.output_tokens);
  if (usage.cost_usd > 0) text += fmt::format(" · ${:.4f}", usage.cost_usd);
  if (turn.reply.end == ReplyEnd::length) text += " · cut off at its length";
  if (turn.reply.end == ReplyEnd::refusal) text += " · a refusal";
  return text + "\n\n";
}

std::string turn_text(const Turn& turn, const Grades& grades) {
  std::string text = heading(turn);
  if (const std::string reasoning = reasoning_of(turn.reply); !reasoning.empty()) {
    text += "Reasoning:\n" + fenced(reasoning);
  }
  if (!turn.reply.text.empty()) text += printable(base::cap(turn.reply.text, kMostBytes)) + "\n\n";
  for (std::size_t i = 0; i < turn.reply.calls.size(); ++i) {
    text += call_text(turn.reply.calls[i]);
    if (i >= turn.results.size()) continue;
    const Json grade = grades.of(turn.number, i);
    if (grade.is_object()) {
      text += fmt::format("candidate #{}: **{}**, grade {}\n", grade["candidate"].get<int>(),
                          grade["outcome"].get<std::string>(), grade["grade"].get<int>());
    }
    text += (turn.results[i].is_error ? "error:\n" : "") + fenced(turn.results[i].text) + "\n";
  }
  if (!turn.nudge.empty()) text += "the harness: " + printable(turn.nudge) + "\n";
  return text;
}

std::string title(const store::Trajectory& trajectory, const RunFacts& facts) {
  std::string text = "# " + base::one_line(facts.name, 200) + "\n\n";
  text += "Model: " + base::one_line(trajectory.start.model, 200) + "\n";
  text += "kagent " + base::one_line(facts.version, 40) + "\n";
  if (facts.result.is_object()) {
    text += "\n**" + base::one_line(member(facts.result, "outcome"), 60) +
            "**: " + base::one_line(member(facts.result, "explanation"), 600) + "\n";
  } else {
    text += "\nThis run has not ended.\n";
  }
  return text;
}

}  // namespace

std::string transcript(const store::Trajectory& trajectory, const RunFacts& facts) {
  const Grades grades(trajectory);
  std::string text = title(trajectory, facts);
  text += "\n## System prompt\n" + fenced(trajectory.start.system);
  text += "\n## Task\n" + fenced(trajectory.start.opening);
  auto next = trajectory.contexts.begin();
  for (const Turn& turn : trajectory.turns) {
    for (; next != trajectory.contexts.end() && next->turn <= turn.number; ++next) {
      text += next->record.empty()
                  ? fmt::format(
                        "\n*From here on the model is shown only the first line of long results "
                        "before turn {}.*\n",
                        next->results_from)
                  : fmt::format("\n*From here on a record stands for the turns before turn {}:*\n",
                                next->turns_from) +
                        fenced(next->record);
    }
    text += turn_text(turn, grades);
  }
  if (trajectory.unfinished) text += "\nA further turn was cut off by a kill.\n";
  if (trajectory.end) {
    text += fmt::format("\n## End\n{}: {}\n", wire::word(trajectory.end->reason),
                        base::one_line(trajectory.end->explanation, 600));
  }
  return text;
}

}  // namespace kagent::exchange
