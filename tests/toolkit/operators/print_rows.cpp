// SPDX-License-Identifier: Apache-2.0
// One JSON object a row of the operator table, for operator_table_test.py.
#include "base/operator_table.h"
#include "wire/json.h"

#include <cstdio>

namespace {

const char* rule_name(kagent::base::ArgumentRule rule) {
  using kagent::base::ArgumentRule;
  switch (rule) {
    case ArgumentRule::none: return "none";
    case ArgumentRule::strided_view: return "strided_view";
    case ArgumentRule::factory_bytes: return "factory_bytes";
    case ArgumentRule::no_running_update: return "no_running_update";
    case ArgumentRule::must_be_zero: return "must_be_zero";
  }
  return "";
}

}  // namespace

int main() {
  for (const auto& row : kagent::base::operator_table()) {
    const kagent::wire::Json json{{"overload", row.overload},
                                  {"group", kagent::base::word(row.group)},
                                  {"rule", rule_name(row.rule)},
                                  {"position", row.position},
                                  {"pin_memory", row.pin_memory}};
    std::puts(kagent::wire::dump(json).c_str());
  }
  return 0;
}
