// SPDX-License-Identifier: Apache-2.0
// The closed table of ATen overloads that a plan may use: one source for the policy, the runner,
// docs/operators.md and the skill. An overload that is not here cannot be replayed at all. None of
// them takes a file, a storage or another device, draws random numbers, or resizes a tensor.
#pragma once

#include <span>
#include <string_view>

namespace kagent::base {

enum class OperatorGroup {
  view, factory, fill, copy, cast,   // always allowed
  gemm, conv,                        // allowed by default; --allow-ops names them
  // In prepare; in forward only by name or `any`.
  elementwise, reduction, softmax, scan, shape, index,
  // Only by name or `any`.
  normalization, pooling, resample, loss, attention, recurrent,
};

/// What holds for one argument beyond its type. Sizes and views need the storage at hand, so the
/// runner checks them; the policy checks the rest on the plan.
enum class ArgumentRule {
  none,
  strided_view,       // runner: sizes, strides and offset stay inside the storage of argument 0
  factory_bytes,      // runner: the sizes at `position` make at most 2^40 bytes
  no_running_update,  // policy: training at `position` is false, or arguments 3 and 4 are none
  must_be_zero,       // policy: the argument at `position` is 0 (dropout)
};

struct OperatorRow {
  std::string_view overload;          // "aten::addmm", "aten::add.Tensor": as the dispatcher has it
  OperatorGroup group = OperatorGroup::view;
  bool in_prepare = false;            // whatever --allow-ops says
  bool device_work = false;           // false: no kernel runs (views, uninitialised memory)
  ArgumentRule rule = ArgumentRule::none;
  int position = -1;                  // of the argument that the rule is about
  int pin_memory = -1;                // where that argument stands; policy: false or none
};

/// All rows, ordered by overload.
std::span<const OperatorRow> operator_table();

/// The row of `overload`, or null: it cannot be replayed.
const OperatorRow* find_operator(std::string_view overload);

/// Allowed in forward whatever --allow-ops says.
bool is_always_allowed(OperatorGroup group);

/// May be named by --allow-ops as a group.
bool is_allowed_by_name(OperatorGroup group);

const char* word(OperatorGroup group);

}  // namespace kagent::base
