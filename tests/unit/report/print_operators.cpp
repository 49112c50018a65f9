// SPDX-License-Identifier: Apache-2.0
// Prints docs/operators.md; scripts/update-operators-doc runs it.
#include "report/operators_markdown.h"

#include <cstdio>

int main() {
  const std::string page = kagent::report::operators_markdown();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
