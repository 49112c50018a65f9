// SPDX-License-Identifier: Apache-2.0
#include "sys/environment.h"

#include <cstdlib>

namespace kagent::sys {

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

void forget_variable(const std::string& name) { ::unsetenv(name.c_str()); }

}  // namespace kagent::sys
