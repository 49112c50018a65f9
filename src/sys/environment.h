// SPDX-License-Identifier: Apache-2.0
// This process's environment variables. Children get one of their own, built from nothing.
#pragma once

#include <string>

namespace kagent::sys {

/// "" where it is not set.
std::string variable(const std::string& name);

/// Before threads are started: the environment has no lock.
void forget_variable(const std::string& name);

}  // namespace kagent::sys
