// SPDX-License-Identifier: Apache-2.0
// kagent check --against FILE: the saved candidate and the present one, measured side by side.
#pragma once

#include <string>

#include "evaluator/session.h"
#include "gate_file.h"
#include "scoring/slowdown.h"

namespace kagent::cli {

struct GateOptions {
  std::string against;            // file; empty: no gate
  double max_slowdown = 0.05;     // fraction of the saved candidate's time
  int pairs = 9;                  // of evaluations; nine bear one hiccup on either side
};

struct GateOutcome {
  scoring::GateVerdict verdict = scoring::GateVerdict::inconclusive;
  scoring::Slowdown slowdown;
  wire::Json json;                // member "gate" of a record
  std::string text;               // lines for people
  int exit_code = 0;
  const char* outcome = "";       // success, regression, noisy
};

/// Judges both candidates options.pairs times, whichever comes first taking turns. An Error of kind usage where
/// the saved one is not correct here (any more): nothing can be compared with it.
Result<GateOutcome> run_gate(evaluator::Session& session, const GateFile& file, const Candidate& saved,
                             const Candidate& present, const GateOptions& options);

}  // namespace kagent::cli
