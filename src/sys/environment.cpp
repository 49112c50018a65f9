// SPDX-License-Identifier: Apache-2.0
#include "sys/environment.h"

#include <cstdlib>

#include <unistd.h>

namespace kagent::sys {

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

void forget_variable(const std::string& name) { ::unsetenv(name.c_str()); }

std::vector<std::string> inherited_environment() {
  std::vector<std::string> all;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

}  // namespace kagent::sys
