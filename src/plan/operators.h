// SPDX-License-Identifier: Apache-2.0
// The closed table of operators on LibTorch's side. Nothing is ever looked up by a name that is not
// in base/operator_table.h.
#pragma once

#include <kagent/result.h>

#include "base/operator_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string>

namespace kagent::plan {

struct Operator {
  c10::OperatorHandle handle;
  const base::OperatorRow* row = nullptr;
};

/// Empty where the table does not hold `overload`. An Error where this LibTorch has no such
/// operator.
Result<std::optional<Operator>> resolve_operator(const std::string& overload);

/// Resolves the whole table, so that children forked later need not. Returns the overloads of the
/// table that this LibTorch lacks.
std::vector<std::string> resolve_all_operators();

/// What is wrong with the arguments on the stack by the row's rule, or nothing. Before each call.
std::optional<std::string> check_arguments(const base::OperatorRow& row,
                                           const torch::jit::Stack& stack);

}  // namespace kagent::plan
