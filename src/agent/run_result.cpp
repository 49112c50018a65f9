// SPDX-License-Identifier: Apache-2.0
#include "agent/run_result.h"

namespace kagent::agent {

std::string outcome_word(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::task_invalid:
      return "task_invalid";
    case ErrorKind::environment:
      return "environment";
    case ErrorKind::network:
      return "network";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      break;
  }
  return "internal";
}

bool may_go_on(StopReason reason) {
  switch (reason) {
    case StopReason::turns:
    case StopReason::tokens:
    case StopReason::money:
    case StopReason::wall_clock:
    case StopReason::gpu_seconds:
    case StopReason::network:
    case StopReason::interrupted:
    case StopReason::environment:
      return true;
    default:
      return false;
  }
}

std::string outcome_word(const LoopEnd& end, const std::optional<store::BestResult>& best) {
  if (end.reason == StopReason::interrupted) return "interrupted";
  if (end.error) return outcome_word(*end.error);
  if (end.reason == StopReason::refusal) return "refusal";
  const bool scored = best && best->evaluation.score;
  if (scored && best->evaluation.score->success) return "success";
  switch (end.reason) {
    case StopReason::turns:
    case StopReason::tokens:
    case StopReason::money:
    case StopReason::wall_clock:
    case StopReason::gpu_seconds:
      return "budget_spent";
    default:
      break;
  }
  if (scored && best->evaluation.score->noisy) return "noisy";
  return "not_met";
}

}  // namespace kagent::agent
