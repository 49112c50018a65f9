// SPDX-License-Identifier: Apache-2.0
#include "policy/operators.h"

#include "base/text.h"

#include <algorithm>
#include <set>

namespace kagent::policy {
namespace {

constexpr std::size_t kMaxSuggestedOverloads = 6;

bool launches_anything(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return std::holds_alternative<LaunchStep>(step.action);
  });
}

/// "torch.softmax", or the overload where the recorder knew no better name.
std::string shown_name(const OperatorStep& step) {
  const std::string& name = step.torch_name.empty() ? step.overload : step.torch_name;
  return base::one_line(name, 120);
}

Fault forbidden(const Step& step, std::string message, std::string hint) {
  Fault fault;
  fault.kind = FaultKind::forbidden_op;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  fault.at = step.at;
  return fault;
}

Fault not_in_table(const Step& step, const OperatorStep& op) {
  const std::string overload = base::one_line(op.overload, 120);
  const std::string name = shown_name(op);
  return forbidden(step,
                   name + (name == overload ? "" : " (" + overload + ")") +
                       " cannot be replayed under any policy: it is not in the operator table",
                   "write it in a kernel, or judge the file as it is with --runtime python");
}

/// Overloads of a section that the policy does not allow, each once, in the order of their use.
std::vector<std::string> overloads_to_allow(const std::vector<Step>& steps, Section section,
                                            const AllowedOperators& allowed) {
  std::vector<std::string> missing;
  for (const Step& step : steps) {
    const auto* op = std::get_if<OperatorStep>(&step.action);
    const auto* row = op != nullptr ? base::find_operator(op->overload) : nullptr;
    if (row == nullptr || allowed.in(section, *row)) continue;
    if (std::find(missing.begin(), missing.end(), op->overload) == missing.end()) {
      missing.push_back(op->overload);
    }
  }
  return missing;
}

/// A value for --allow-ops that would do: what is allowed now and what is missing, since the option
/// replaces its default.
std::string allow_ops_that_would_do(const JudgeSettings& settings,
                                    std::vector<std::string> missing) {
  if (missing.size() > kMaxSuggestedOverloads) return "any";
  std::vector<std::string> names = settings.allow_ops;
  if (names == std::vector<std::string>{"none"}) names.clear();
  names.insert(names.end(), missing.begin(), missing.end());
  return base::join(names, ",");
}

Fault not_allowed(const Step& step, const OperatorStep& op, Section section,
                  const std::string& allow_ops) {
  const bool prepare = section == Section::prepare;
  return forbidden(step,
                   shown_name(op) + " cannot be replayed " + (prepare ? "in prepare " : "") +
                       "under this policy",
                   "write it in a kernel, allow it with --allow-ops " + allow_ops +
                       " (labelled), or judge the file as it is with --runtime python");
}

const Argument* argument_at(const OperatorStep& step, int position) {
  const auto index = static_cast<std::size_t>(position);
  return index < step.arguments.size() ? &step.arguments[index] : nullptr;
}

bool is_none(const Argument* argument) {
  return argument != nullptr && std::holds_alternative<Argument::None>(argument->value);
}

bool is_false(const Argument* argument) {
  const bool* flag = argument != nullptr ? std::get_if<bool>(&argument->value) : nullptr;
  return flag != nullptr && !*flag;
}

bool is_zero(const Argument* argument) {
  if (argument == nullptr) return false;
  if (const auto* number = std::get_if<double>(&argument->value)) return *number == 0;
  const auto* integer = std::get_if<std::int64_t>(&argument->value);
  return integer != nullptr && *integer == 0;
}

/// What is wrong with the arguments, or "". Bounds of views and sizes are the runner's to check.
std::string broken_rule(const OperatorStep& step, const base::OperatorRow& row) {
  const Argument* subject = argument_at(step, row.position);
  if (row.rule == base::ArgumentRule::no_running_update && !is_false(subject) &&
      !(is_none(argument_at(step, 3)) && is_none(argument_at(step, 4)))) {
    return "updates running statistics";
  }
  if (row.rule == base::ArgumentRule::must_be_zero && !is_zero(subject)) {
    return "draws random numbers (dropout)";
  }
  if (row.pin_memory >= 0) {
    const Argument* pinned = argument_at(step, row.pin_memory);
    if (!is_none(pinned) && !is_false(pinned)) return "asks for pinned memory";
  }
  return {};
}

std::optional<Fault> check_section(const std::vector<Step>& steps, Section section,
                                   const AllowedOperators& allowed, const JudgeSettings& settings) {
  for (const Step& step : steps) {
    const auto* op = std::get_if<OperatorStep>(&step.action);
    if (op == nullptr) continue;
    const base::OperatorRow* row = base::find_operator(op->overload);
    if (row == nullptr) return not_in_table(step, *op);
    if (!allowed.in(section, *row)) {
      return not_allowed(
          step, *op, section,
          allow_ops_that_would_do(settings, overloads_to_allow(steps, section, allowed)));
    }
    if (const std::string problem = broken_rule(*op, *row); !problem.empty()) {
      return forbidden(step, shown_name(*op) + " " + problem + ", which cannot be replayed",
                       "leave that out, or judge the file as it is with --runtime python");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> check_operators(const Plan& plan, const JudgeSettings& settings) {
  const AllowedOperators allowed(settings.allow_ops);
  if (auto fault = check_section(plan.prepare, Section::prepare, allowed, settings)) return fault;
  if (auto fault = check_section(plan.forward, Section::forward, allowed, settings)) return fault;
  if (allowed.everything() || launches_anything(plan.forward)) return std::nullopt;
  Fault fault;
  fault.kind = FaultKind::no_custom_kernel;
  fault.message = "forward launches no kernel of the candidate's own";
  fault.hint =
      "write at least one kernel in kernels/ and launch it in forward; rewriting the operator with "
      "library calls alone counts only under --allow-ops any (labelled torch_only)";
  fault.at = {"model_new.py", 0};
  return fault;
}

std::vector<std::string> labels(const Plan& plan, const JudgeSettings& settings) {
  const AllowedOperators allowed(settings.allow_ops);
  std::vector<std::string> found;
  if (!launches_anything(plan.forward)) found.emplace_back("torch_only");
  if (plan.backend == Backend::cpu) found.emplace_back("trust:native");
  std::set<std::string> asked_for;
  for (const Step& step : plan.forward) {
    const auto* op = std::get_if<OperatorStep>(&step.action);
    const auto* row = op != nullptr ? base::find_operator(op->overload) : nullptr;
    if (row != nullptr && allowed.needs_label(*row)) asked_for.insert("allowed:" + op->overload);
  }
  found.insert(found.end(), asked_for.begin(), asked_for.end());
  return found;
}

}  // namespace kagent::policy
