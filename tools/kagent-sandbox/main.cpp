// SPDX-License-Identifier: Apache-2.0
// kagent-sandbox ORDER -- PROGRAM ARGUMENT...: holds a program to the order (src/sandbox/order.h) and
// becomes its keeper. kagent-sandbox --guard -- COMMAND...: ends the command's whole tree when its own parent
// dies. kagent-sandbox --self-test: run inside, says whether it is held.
#include <cstdio>
#include <string>

#include "launch.h"
#include "process_tree.h"
#include "sandbox/child.h"
#include "self_test.h"

namespace {

kagent::Result<int> run(const std::string& order, char** arguments) {
  if (order == "--guard") return kagent::sandbox::guard_command(arguments);
  auto parsed = kagent::sandbox::parse_order(order);
  if (!parsed) return std::move(parsed).error().with_context("sandbox");
  return kagent::sandbox::launch(*parsed, arguments);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::string(arguments[1]) == "--self-test") return kagent::sandbox::self_test();
  if (argument_count < 4 || std::string(arguments[2]) != "--") {
    std::fprintf(stderr, "kagent-sandbox is started by kagent: kagent-sandbox ORDER -- PROGRAM ARGUMENT...\n");
    return 2;
  }
  const auto ended = run(arguments[1], arguments + 3);
  if (ended) return *ended;
  std::fprintf(stderr, "%s\n", ended.error().message.c_str());
  return kagent::sandbox::kLauncherFailed;
}
