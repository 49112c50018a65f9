// SPDX-License-Identifier: Apache-2.0
// From an order to a running, held program.
#pragma once

#include "sandbox/order.h"

namespace kagent::sandbox {

/// Returns once the program and its whole tree are gone: the exit code for this process. The program's own
/// status went to kStatusDescriptor. arguments: null-terminated.
Result<int> launch(const Order& order, char** arguments);

}  // namespace kagent::sandbox
