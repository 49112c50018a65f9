// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include <optional>
#include <utility>

namespace kagent::plan {

/// Fine (empty), what the candidate did wrong, or what we could not do.
class [[nodiscard]] Outcome : public Result<std::optional<Fault>> {
 public:
  using Result::Result;
  Outcome(std::nullopt_t) : Result(std::optional<Fault>()) {}  // NOLINT: implicit on purpose
  Outcome(Fault fault) : Result(std::optional<Fault>(std::move(fault))) {}  // NOLINT
  Outcome(Error error) : Result(std::move(error)) {}                        // NOLINT
  Outcome(Result result) : Result(std::move(result)) {}                     // NOLINT
};

}  // namespace kagent::plan

/// KAGENT_PASS(expression): go on where the Outcome is fine, else return it.
#define KAGENT_PASS(expression) \
  KAGENT_PASS_INNER(expression, KAGENT_CONCAT(kagent_outcome_, __LINE__))
#define KAGENT_PASS_INNER(expression, outcome) \
  if (kagent::plan::Outcome outcome = (expression); !outcome || outcome->has_value()) return outcome

/// KAGENT_PASS_FAULT(expression): return the Fault of a std::optional<Fault>, if there is one.
#define KAGENT_PASS_FAULT(expression) \
  KAGENT_PASS_FAULT_INNER(expression, KAGENT_CONCAT(kagent_fault_, __LINE__))
#define KAGENT_PASS_FAULT_INNER(expression, fault)                          \
  if (std::optional<kagent::Fault> fault = (expression); fault.has_value()) \
  return kagent::plan::Outcome(*std::move(fault))
