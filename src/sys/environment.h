// SPDX-License-Identifier: Apache-2.0
// This process's environment variables. Workers get ones of their own, built from nothing.
#pragma once

#include <string>
#include <vector>

namespace kagent::sys {

/// "" where it is not set.
std::string variable(const std::string& name);

/// Before threads are started: the environment has no lock.
void forget_variable(const std::string& name);

/// All of it as SpawnRequest takes it ("NAME=value"), keys included: only for children that are
/// kagent itself.
std::vector<std::string> inherited_environment();

}  // namespace kagent::sys
