// SPDX-License-Identifier: Apache-2.0
#include "store/read_trajectory.h"

#include "base/text.h"
#include "sys/files.h"
#include "wire/reader.h"
#include "wire/trajectory_json.h"

#include <utility>

namespace kagent::store {
namespace {

using wire::Json;

constexpr std::size_t kMaxTrajectoryBytes = 1u << 30;

Error bad_line(const std::string& why) { return Error{ErrorKind::usage, why}; }

Result<std::string> text_member(const Json& line, const char* name) {
  const auto at = line.find(name);
  if (at == line.end() || !at->is_string()) {
    return bad_line(std::string(name) + ": expected a string");
  }
  return at->get<std::string>();
}

Result<int> integer_member(const Json& line, const char* name) {
  const auto at = line.find(name);
  if (at == line.end() || !at->is_number_integer()) {
    return bad_line(std::string(name) + ": expected an integer");
  }
  return at->get<int>();
}

Result<int> turn_member(const Json& line) { return integer_member(line, "turn"); }

Result<RunStart> parse_start(const Json& line) {
  KAGENT_TRY(const std::string schema, text_member(line, "schema"));
  if (schema != wire::kTrajectorySchema) {
    return bad_line("schema " + base::one_line(schema, 60) + " is not " + wire::kTrajectorySchema);
  }
  RunStart start;
  KAGENT_TRY(start.model, text_member(line, "model"));
  KAGENT_TRY(start.system, text_member(line, "system"));
  KAGENT_TRY(start.opening, text_member(line, "opening"));
  const auto tools = line.find("tools");
  if (tools == line.end() || !tools->is_array()) return bad_line("tools: expected a list");
  for (const Json& tool : *tools) {
    KAGENT_TRY(ToolSpec spec, wire::parse_tool_spec(tool));
    start.tools.push_back(std::move(spec));
  }
  start.settings = line.value("settings", Json::object());
  return start;
}

/// Takes one line after another and keeps the order honest.
class Folder {
 public:
  Result<void> take(const Json& line) {
    if (!line.is_object()) return bad_line("expected a JSON object");
    KAGENT_TRY(const std::string type, text_member(line, "type"));
    if (!started_) {
      if (type != "run") return bad_line("the first line must be of type run");
      KAGENT_TRY(trajectory_.start, parse_start(line));
      started_ = true;
      return {};
    }
    if (type == "reply") return take_reply(line);
    if (type == "turn") return take_turn(line);
    if (type == "candidate") return take_candidate(line);
    if (type == "result") return take_result(line);
    if (type == "context") return take_context(line);
    if (type == "end") return take_end(line);
    if (type == "resume") return take_resume(line);
    return {};  // a later version's; docs/run-folder.md: unknown types are skipped
  }

  bool started() const { return started_; }
  Trajectory& trajectory() { return trajectory_; }

 private:
  int next_turn() const { return static_cast<int>(trajectory_.turns.size()) + 1; }

  Result<void> take_reply(const Json& line) {
    KAGENT_TRY(const int turn, turn_member(line));
    if (turn != next_turn()) return bad_line("turn " + std::to_string(turn) + " out of order");
    const auto reply = line.find("reply");
    if (reply == line.end()) return bad_line("reply: missing");
    KAGENT_TRY(trajectory_.unfinished, wire::parse_reply(*reply));
    trajectory_.unfinished_results.clear();
    trajectory_.end.reset();  // a resumed run goes on
    return {};
  }

  Result<void> take_turn(const Json& line) {
    KAGENT_TRY(Turn turn, parse_turn(line));
    if (turn.number != next_turn() || !trajectory_.unfinished) {
      return bad_line("turn " + std::to_string(turn.number) + " out of order");
    }
    turn.reply = *std::move(trajectory_.unfinished);
    trajectory_.unfinished.reset();
    trajectory_.unfinished_results.clear();
    trajectory_.turns.push_back(std::move(turn));
    return {};
  }

  Result<Turn> parse_turn(const Json& line) {
    Turn turn;
    KAGENT_TRY(turn.number, turn_member(line));
    const auto results = line.find("results");
    if (results == line.end() || !results->is_array()) return bad_line("results: expected a list");
    for (const Json& item : *results) {
      KAGENT_TRY(ToolResult result, wire::parse_tool_result(item));
      turn.results.push_back(std::move(result));
    }
    const auto seconds = line.find("seconds");
    if (seconds != line.end() && seconds->is_number()) turn.seconds = seconds->get<double>();
    if (line.contains("nudge")) {
      KAGENT_TRY(turn.nudge, text_member(line, "nudge"));
    }
    return turn;
  }

  Result<void> take_candidate(const Json& line) {
    CandidateRecord record;
    KAGENT_TRY(record.turn, turn_member(line));
    const auto evaluation = line.find("evaluation");
    if (evaluation == line.end()) return bad_line("evaluation: missing");
    KAGENT_TRY(record.evaluation, wire::parse<Evaluation>(*evaluation));
    trajectory_.candidates.push_back(std::move(record));
    trajectory_.candidate_calls.push_back(trajectory_.unfinished_results.size());
    return {};
  }

  Result<void> take_result(const Json& line) {
    KAGENT_TRY(const int turn, turn_member(line));
    auto& results = trajectory_.unfinished_results;
    const auto result = line.find("result");
    if (result == line.end() || turn != next_turn() || !trajectory_.unfinished ||
        results.size() >= trajectory_.unfinished->calls.size()) {
      return bad_line("result: of no call");
    }
    KAGENT_TRY(ToolResult parsed, wire::parse_tool_result(*result));
    results.push_back(std::move(parsed));
    return {};
  }

  Result<void> take_context(const Json& line) {
    ContextEdit edit;
    KAGENT_TRY(edit.turn, turn_member(line));
    KAGENT_TRY(edit.results_from, integer_member(line, "results_from"));
    KAGENT_TRY(edit.turns_from, integer_member(line, "turns_from"));
    KAGENT_TRY(edit.record, text_member(line, "record"));
    if (edit.turn != next_turn() || edit.turns_from < 1 || edit.turns_from > next_turn()) {
      return bad_line("context: names turns that are not there");
    }
    auto& all = trajectory_.contexts;
    if (!all.empty() && all.back().turn == edit.turn) all.pop_back();
    all.push_back(edit);
    trajectory_.context = std::move(edit);
    return {};
  }

  Result<void> take_resume(const Json& line) {
    Resumption resumption;
    resumption.turn = next_turn();
    KAGENT_TRY(resumption.model, text_member(line, "model"));
    resumption.settings = line.value("settings", Json::object());
    trajectory_.resumptions.push_back(std::move(resumption));
    return {};
  }

  Result<void> take_end(const Json& line) {
    RunEnd end;
    KAGENT_TRY(const std::string reason, text_member(line, "reason"));
    KAGENT_TRY(end.reason, wire::parse_word<StopReason>(reason));
    KAGENT_TRY(end.explanation, text_member(line, "explanation"));
    trajectory_.end = std::move(end);
    return {};
  }

  Trajectory trajectory_;
  bool started_ = false;
};

}  // namespace

Result<Trajectory> read_trajectory(const std::filesystem::path& path) {
  KAGENT_TRY(const std::string text, sys::read_file(path, kMaxTrajectoryBytes));
  Folder folder;
  std::size_t number = 1;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string where = path.string() + ":" + std::to_string(number++);
    const auto line = wire::parse_text(text.substr(begin, end - begin), where);
    if (!line) return bad_line(line.error().message);
    if (auto taken = folder.take(*line); !taken)
      return bad_line(where + ": " + taken.error().message);
  }
  if (!folder.started()) {
    return Error{ErrorKind::usage,
                 path.string() + ": holds no whole line; nothing of it can be used"};
  }
  folder.trajectory().torn = begin != text.size();
  return std::move(folder.trajectory());
}

}  // namespace kagent::store
