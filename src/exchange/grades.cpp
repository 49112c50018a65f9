// SPDX-License-Identifier: Apache-2.0
#include "exchange/grades.h"

#include "report/evaluation_text.h"

#include <charconv>
#include <string>
#include <string_view>

namespace kagent::exchange {
namespace {

/// The number in the harness's own second line "candidate #7 (…)", 0 where there is none.
int candidate_number(std::string_view text) {
  constexpr std::string_view kMark = "\ncandidate #";
  const std::size_t at = text.find(kMark);
  if (at == std::string_view::npos || at != text.find('\n')) return 0;
  int number = 0;
  const char* begin = text.data() + at + kMark.size();
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

}  // namespace

Grades::Grades(const store::Trajectory& trajectory) {
  std::map<std::string, int> numbers;       // by hash
  std::map<int, const Evaluation*> latest;  // by number, as of the turn that is looked at
  std::size_t next = 0;
  for (const Turn& turn : trajectory.turns) {
    for (std::size_t call = 0; call < turn.reply.calls.size(); ++call) {
      bool fresh = false;
      for (;
           next < trajectory.candidates.size() && trajectory.candidates[next].turn == turn.number &&
           trajectory.candidate_calls[next] == call;
           ++next) {
        const Evaluation& evaluation = trajectory.candidates[next].evaluation;
        const int number =
            numbers.emplace(evaluation.candidate, static_cast<int>(numbers.size()) + 1)
                .first->second;
        latest[number] = &evaluation;
        graded_[{turn.number, call}] = {number, &evaluation, false};
        fresh = true;
      }
      if (fresh || turn.reply.calls[call].tool != "evaluate" || call >= turn.results.size())
        continue;
      const auto known = latest.find(candidate_number(turn.results[call].text));
      if (known == latest.end()) continue;
      graded_[{turn.number, call}] = {known->first, known->second, true};
    }
  }
}

wire::Json Grades::of(int turn, std::size_t call) const {
  const auto found = graded_.find({turn, call});
  if (found == graded_.end()) return nullptr;
  const Evaluation& evaluation = *found->second.evaluation;
  wire::Json json{{"candidate", found->second.number},
                  {"hash", evaluation.candidate},
                  {"outcome", report::outcome(evaluation)},
                  {"grade", static_cast<int>(Grade::wrong)},
                  {"success", false},
                  {"repeated", found->second.repeated},
                  {"labels", evaluation.verdict.labels}};
  if (evaluation.verdict.correct) json["grade"] = static_cast<int>(Grade::correct);
  if (const auto& score = evaluation.score) {
    json["grade"] = static_cast<int>(score->grade);
    json["success"] = score->success;
    json["speedup_over_eager"] = score->speedup_over_eager;
    json["speedup_over_compiled"] = score->speedup_over_compiled;
  }
  if (evaluation.measurement) json["candidate_us"] = evaluation.measurement->candidate.median_us;
  return json;
}

}  // namespace kagent::exchange
