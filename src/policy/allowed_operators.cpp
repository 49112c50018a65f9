// SPDX-License-Identifier: Apache-2.0
#include "policy/allowed_operators.h"

#include "base/text.h"

namespace kagent::policy {
namespace {

bool is_optional_group(std::string_view name) { return name == "gemm" || name == "conv"; }

std::string close_overloads(const std::string& name) {
  // "aten::max" stands beside "aten::max.dim": people forget the overload.
  std::vector<std::string> close;
  for (const auto& row : base::operator_table()) {
    const bool same_family = row.overload.substr(0, row.overload.find('.')) ==
                             std::string_view(name).substr(0, name.find('.'));
    if (same_family) close.emplace_back(row.overload);
  }
  return close.empty() ? "; docs/operators.md lists them" : "; there is " + base::join(close, ", ");
}

}  // namespace

Result<void> check_allow_ops(const std::vector<std::string>& allow_ops) {
  if (allow_ops.empty()) {
    return Error{ErrorKind::usage, "--allow-ops: empty; say none, any, gemm, conv or aten:: names"};
  }
  for (const std::string& name : allow_ops) {
    const std::string shown = "--allow-ops: \"" + base::one_line(name, 80) + "\"";
    if (name == "none" || name == "any") {
      if (allow_ops.size() > 1) return Error{ErrorKind::usage, shown + " stands alone"};
    } else if (name.rfind("aten::", 0) == 0) {
      if (base::find_operator(name) == nullptr) {
        return Error{ErrorKind::usage,
                     shown + " is no operator that can be replayed" + close_overloads(name)};
      }
    } else if (!is_optional_group(name)) {
      return Error{
          ErrorKind::usage,
          shown + " is none of gemm, conv, none, any, and no name that begins with aten::"};
    }
  }
  return {};
}

AllowedOperators::AllowedOperators(const std::vector<std::string>& allow_ops)
    : names_(allow_ops.begin(), allow_ops.end()) {}

bool AllowedOperators::in_forward(const base::OperatorRow& row) const {
  if (base::is_always_allowed(row.group) || everything()) return true;
  return names_.count(row.overload) > 0 ||
         (base::is_allowed_by_name(row.group) && names_.count(base::word(row.group)) > 0);
}

bool AllowedOperators::needs_label(const base::OperatorRow& row) const {
  return !base::is_always_allowed(row.group) && !base::is_allowed_by_name(row.group);
}

}  // namespace kagent::policy
