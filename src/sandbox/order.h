// SPDX-License-Identifier: Apache-2.0
// What the launcher (kagent-sandbox) is told in its first argument, as JSON.
#pragma once

#include <string>

#include "sandbox/policy.h"

namespace kagent::sandbox {

/// Written by the launcher's first process: the program's status as waitpid gives it, four bytes.
inline constexpr int kStatusDescriptor = 500;

struct Order {
  Tier tier = Tier::landlock;
  bool was_root = false;        // of the process that started all this; geteuid() lies in a user namespace
  Policy policy;
};

std::string to_text(const Order& order);

/// An Error where the text is not an order.
Result<Order> parse_order(const std::string& text);

}  // namespace kagent::sandbox
