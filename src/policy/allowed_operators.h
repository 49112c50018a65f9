// SPDX-License-Identifier: Apache-2.0
// --allow-ops as a question: may this operator stand in forward?
#pragma once

#include <kagent/result.h>

#include "base/operator_table.h"

#include <set>
#include <string>
#include <vector>

namespace kagent::policy {

/// Usage errors for names that mean nothing, and for "none" or "any" beside others. The list is
/// settings.allow_ops: groups ("gemm", "conv"), overloads ("aten::_softmax"), "none", "any".
Result<void> check_allow_ops(const std::vector<std::string>& allow_ops);

enum class Section { prepare, forward };

class AllowedOperators {
 public:
  /// Of a list that passed check_allow_ops; unknown names allow nothing.
  explicit AllowedOperators(const std::vector<std::string>& allow_ops);

  bool in_forward(const base::OperatorRow& row) const;
  bool in_prepare(const base::OperatorRow& row) const { return row.in_prepare || in_forward(row); }
  bool in(Section section, const base::OperatorRow& row) const {
    return section == Section::prepare ? in_prepare(row) : in_forward(row);
  }
  bool everything() const { return names_.count("any") > 0; }
  /// Allowed only because it was asked for beyond the default, so that records should say so.
  bool needs_label(const base::OperatorRow& row) const;

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace kagent::policy
