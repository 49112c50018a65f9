// SPDX-License-Identifier: Apache-2.0
// JSON that keeps the order of its members: what a provider said goes back as it came.
#pragma once

#include <kagent/result.h>

#include "wire/json.h"
#include "wire/members.h"

#include <cstdint>
#include <string>

namespace kagent::llm {

using OrderedJson = nlohmann::ordered_json;

/// With the caps of wire::parse_text.
inline Result<OrderedJson> parse_ordered(const std::string& text, const std::string& what) {
  if (auto checked = wire::parse_text(text, what); !checked) return std::move(checked).error();
  return OrderedJson::parse(text);
}

inline std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// A member that is a number of tokens; 0 for anything else.
inline std::int64_t count_in(const OrderedJson& object, const char* name) {
  const OrderedJson& found = wire::member(object, name);
  if (!found.is_number_integer()) return 0;
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto value = found.get<std::int64_t>();
  return value < 0 ? 0 : value > kMost ? kMost : value;
}

}  // namespace kagent::llm
