// SPDX-License-Identifier: Apache-2.0
#include "plan/faults.h"

#include "base/text.h"
#include "plan/tensors.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <utility>

namespace kagent::plan {
namespace {

constexpr std::size_t kMaxMessageBytes = 600;

/// The line at which the plan computes a value, or where it comes from.
std::string origin_of(ValueId id, const Plan& plan) {
  const PlanValue& value = plan.values[static_cast<std::size_t>(id.index)];
  switch (value.origin) {
    case ValueOrigin::input:
      return "input " + std::to_string(value.input);
    case ValueOrigin::weight:
      return "weight " + value.path;
    case ValueOrigin::constant:
      return "a constant";
    case ValueOrigin::prepared:
      return "prepared " + value.path;
    case ValueOrigin::computed:
      break;
  }
  for (const std::vector<Step>* section : {&plan.prepare, &plan.forward}) {
    for (const Step& step : *section) {
      const auto* op = std::get_if<OperatorStep>(&step.action);
      if (op == nullptr) continue;
      for (const ValueId result : op->results) {
        if (result == id) return "made at " + place(step.at);
      }
    }
  }
  return "computed";
}

Fault fault_of(FaultKind kind, const Step* step, const Plan& plan, const std::string& message) {
  const std::string line = base::one_line(message, kMaxMessageBytes);
  if (step != nullptr) return fault_at(*step, plan, kind, "failed: " + line);
  Fault fault;
  fault.kind = kind;
  fault.message = line;
  return fault;
}

constexpr const char* kMemoryHint =
    "make fewer or smaller temporary tensors, and reuse them where you can";

}  // namespace

std::string place(const SourceLine& at) {
  return at.file.empty() ? "plan" : at.file + ":" + std::to_string(at.line);
}

std::string step_name(const Step& step, const Plan& plan) {
  if (const auto* op = std::get_if<OperatorStep>(&step.action)) {
    return op->torch_name.empty() ? op->overload : op->torch_name + " (" + op->overload + ")";
  }
  const int kernel = std::get<LaunchStep>(step.action).kernel;
  return "kernel " + plan.kernels[static_cast<std::size_t>(kernel)].name;
}

Fault fault_at(const Step& step, const Plan& plan, FaultKind kind, const std::string& message) {
  Fault fault;
  fault.kind = kind;
  fault.at = step.at;
  fault.message = place(step.at) + ": " + step_name(step, plan) + " " + message;
  return fault;
}

Fault located(Fault fault, const Step& step, const Plan& plan) {
  fault.at = step.at;
  fault.message = place(step.at) + ": " + step_name(step, plan) + " " + fault.message;
  const auto* launch = std::get_if<LaunchStep>(&step.action);
  if (launch == nullptr) return fault;
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const auto* id = std::get_if<ValueId>(&launch->arguments[i]);
    if (id == nullptr) continue;
    fault.detail += "argument " + std::to_string(i) + ": " +
                    describe(plan.values[static_cast<std::size_t>(id->index)].spec) + ", " +
                    origin_of(*id, plan) + "\n";
  }
  return fault;
}

Error difference_at(const Step& step, const Plan& plan, const std::string& message) {
  return Error{ErrorKind::internal,
               place(step.at) + ": " + step_name(step, plan) + " " + message +
                   "; kagent's recorder and runner disagree, please report it"};
}

Outcome catching(const Step* step, const Plan& plan, const std::function<Outcome()>& body) {
  Fault fault;
  try {
    return body();
  } catch (const c10::OutOfMemoryError& error) {
    fault = fault_of(FaultKind::out_of_memory, step, plan, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    fault = fault_of(FaultKind::out_of_memory, step, plan, "out of memory");
  } catch (const c10::Error& error) {
    fault = fault_of(FaultKind::crash, step, plan, error.what_without_backtrace());
  } catch (const std::exception& error) {
    fault = fault_of(FaultKind::crash, step, plan, error.what());
  } catch (...) {  // a candidate's C++ kernel may throw what it likes
    fault = fault_of(FaultKind::crash, step, plan, "an exception of unknown type");
  }
  if (fault.kind == FaultKind::out_of_memory) fault.hint = kMemoryHint;
  return fault;
}

}  // namespace kagent::plan
