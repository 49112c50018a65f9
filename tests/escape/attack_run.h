// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "targets_on_host.h"

namespace kagent::escape {

inline constexpr const char* kRoles[] = {"tools", "leaf", "compiler"};

struct AttackResult {
  bool tried = false;     // the sandbox started and the attack ran
  bool refused = false;
  std::string how;        // how it got through, or why it was not tried
};

/// One attack in a sandbox of its own; what only the host can see counts too.
AttackResult run_attack(const TargetsOnHost& host, sandbox::Tier tier, const std::string& role, const std::string& name);

}  // namespace kagent::escape
