// SPDX-License-Identifier: Apache-2.0
// kagent-sandbox ORDER -- PROGRAM ARGUMENT...: holds a program to the order (src/sandbox/order.h) and
// becomes its keeper. kagent-sandbox --self-test: run inside, says whether it is held.
#include <cstdio>
#include <string>

#include "launch.h"
#include "sandbox/child.h"
#include "self_test.h"

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::string(arguments[1]) == "--self-test") return kagent::sandbox::self_test();
  if (argument_count < 4 || std::string(arguments[2]) != "--") {
    std::fprintf(stderr, "kagent-sandbox is started by kagent: kagent-sandbox ORDER -- PROGRAM ARGUMENT...\n");
    return 2;
  }
  auto order = kagent::sandbox::parse_order(arguments[1]);
  if (order) {
    auto ended = kagent::sandbox::launch(*order, arguments + 3);
    if (ended) return *ended;
    std::fprintf(stderr, "%s\n", ended.error().message.c_str());
  } else {
    std::fprintf(stderr, "sandbox: %s\n", order.error().message.c_str());
  }
  return kagent::sandbox::kLauncherFailed;
}
