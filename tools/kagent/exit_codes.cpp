// SPDX-License-Identifier: Apache-2.0
#include "exit_codes.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "sys/stop.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {

int exit_code(const Error& error) {
  if (sys::stop_requested() != 0) return 128 + sys::stop_requested();
  switch (error.kind) {
    case ErrorKind::usage: return kUsage;
    case ErrorKind::task_invalid: return kTaskInvalid;
    case ErrorKind::environment: return kEnvironment;
    case ErrorKind::network: return kNetwork;
    case ErrorKind::interrupted: return 130;
    case ErrorKind::internal: break;
  }
  return kInternal;
}

int exit_code(const Evaluation& evaluation) {
  if (evaluation.verdict.fault) {
    const FaultKind kind = evaluation.verdict.fault->kind;
    const bool cheat = kind == FaultKind::tampering || kind == FaultKind::input_specific;
    return cheat ? kCheat : kVerdictNegative;
  }
  if (!evaluation.score) return kVerdictNegative;
  if (evaluation.score->success) return kSuccess;
  return evaluation.score->noisy ? kNoisy : kVerdictNegative;
}

int higher_exit_code(int left, int right) {
  // Lowest rank first; a signal's 128 + n stands above all.
  constexpr int kOrder[] = {kSuccess, kVerdictNegative, kNoisy,   kBudgetSpent, kCheat,
                            kNetwork, kTaskInvalid,     kEnvironment, kUsage,   kInternal};
  const auto rank = [&](int code) {
    return std::find(std::begin(kOrder), std::end(kOrder), code) - std::begin(kOrder);
  };
  return rank(left) >= rank(right) ? left : right;
}

const char* outcome_word(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::task_invalid: return "task_invalid";
    case ErrorKind::environment: return "environment";
    case ErrorKind::network: return "network";
    case ErrorKind::interrupted: return "interrupted";
    case ErrorKind::internal: break;
  }
  return "internal";
}

void print_error(const Error& error) {
  fmt::print(stderr, "kagent: error: {}\n", base::one_line(error.message, 2000));
}

int report_failure(const Error& error, bool json) {
  print_error(error);
  if (json) {
    fmt::print("{}\n", wire::dump({{"schema", "kagent.failure/1"},
                                   {"outcome", outcome_word(error)},
                                   {"message", base::one_line(error.message, 2000)}}));
  }
  return exit_code(error);
}

}  // namespace kagent::cli
