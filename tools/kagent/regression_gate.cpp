// SPDX-License-Identifier: Apache-2.0
#include "regression_gate.h"

#include "exit_codes.h"
#include "report/evaluation_text.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

using scoring::GateVerdict;

/// Microseconds.
Result<double> measure(evaluator::Session& session, const Candidate& candidate, const std::string& name) {
  KAGENT_TRY(Evaluation evaluation, session.evaluate(candidate));
  if (evaluation.verdict.fault) {
    return Error{ErrorKind::usage, name + " is not correct here: " + report::outcome(evaluation) + ": " +
                                       report::fault_line(*evaluation.verdict.fault)};
  }
  return evaluation.measurement->candidate.median_us;
}

const char* word(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed: return "passed";
    case GateVerdict::failed: return "failed";
    case GateVerdict::inconclusive: break;
  }
  return "inconclusive";
}

/// "+3.1 %": more time than then.
std::string percent(double slowdown) { return fmt::format("{:+.1f} %", 100 * slowdown); }

}  // namespace

Result<GateOutcome> run_gate(evaluator::Session& session, const GateFile& file, const Candidate& saved,
                             const Candidate& present, const GateOptions& options) {
  std::vector<scoring::GatePair> pairs;
  for (int i = 0; i < options.pairs; ++i) {
    scoring::GatePair pair;
    for (const bool is_saved : {i % 2 == 0, i % 2 != 0}) {
      KAGENT_TRY((is_saved ? pair.saved_us : pair.present_us),
                 measure(session, is_saved ? saved : present, is_saved ? "the candidate of " + options.against : "the candidate"));
    }
    pairs.push_back(pair);
  }
  const auto slowdown = scoring::slowdown(pairs);
  if (!slowdown) return Error{ErrorKind::environment, "--against: the candidates showed no time at all"};
  GateOutcome result;
  result.slowdown = *slowdown;
  result.verdict = scoring::judge(*slowdown, options.max_slowdown);
  result.exit_code = result.verdict == GateVerdict::passed ? kSuccess : result.verdict == GateVerdict::failed ? kVerdictNegative : kNoisy;
  result.outcome = result.verdict == GateVerdict::passed ? "success" : result.verdict == GateVerdict::failed ? "regression" : "noisy";
  result.json = {{"against", options.against}, {"saved_at", file.saved_at}, {"saved_candidate", saved.hash},
                 {"verdict", word(result.verdict)}, {"max_slowdown", options.max_slowdown},
                 {"slowdown", {{"point", slowdown->point}, {"low", slowdown->low}, {"high", slowdown->high}, {"pairs", slowdown->pairs}}}};
  result.text = fmt::format("  gate {}: time now against time of {} (saved {}): {}  [{}, {}], {} pairs, limit {}\n", word(result.verdict),
                            saved.hash.substr(0, 12), file.saved_at, percent(slowdown->point), percent(slowdown->low),
                            percent(slowdown->high), options.pairs, percent(options.max_slowdown));
  return result;
}

}  // namespace kagent::cli
