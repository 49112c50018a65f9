// SPDX-License-Identifier: Apache-2.0
// Turns what happened at a step into a Fault or an Error that names the candidate's line.
#pragma once

#include <kagent/evaluation.h>
#include <kagent/plan.h>

#include "plan/outcome.h"

#include <functional>
#include <optional>
#include <string>

namespace kagent::plan {

/// "model_new.py:14".
std::string place(const SourceLine& at);

/// "kernel softmax_rows<1024>" or "torch.softmax (aten::_softmax)".
std::string step_name(const Step& step, const Plan& plan);

/// Fault "model_new.py:14: aten::cat <message>".
Fault fault_at(const Step& step, const Plan& plan, FaultKind kind, const std::string& message);

/// A backend's fault with the step's line and, in its detail, which tensors the kernel was given.
Fault located(Fault fault, const Step& step, const Plan& plan);

/// Our error: recording and running disagree.
Error difference_at(const Step& step, const Plan& plan, const std::string& message);

/// Calls `body`; what LibTorch throws becomes out_of_memory or crash at `step` (or null: no step).
Outcome catching(const Step* step, const Plan& plan, const std::function<Outcome()>& body);

}  // namespace kagent::plan
