// SPDX-License-Identifier: Apache-2.0
// Reading what another program or a server said, where a member that is missing or of another kind
// counts as nothing. Formats of our own are read with wire/reader.h, which names what is wrong.
#pragma once

#include <string>

namespace kagent::wire {

/// A member of any kind, or null. Json: nlohmann's, ordered or not; here and below.
template <typename Json>
const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

/// A member that is a text, or "".
template <typename Json>
std::string text_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

/// A member that is true; anything else is false.
template <typename Json>
bool flag_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_boolean() && value.template get<bool>();
}

}  // namespace kagent::wire
