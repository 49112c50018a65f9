// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kagent::base {

/// Standard alphabet with padding (RFC 4648 §4).
std::string base64_encode(std::string_view bytes);

/// Strict: no white space, padding needed, unused bits zero. Empty where `text` is not base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace kagent::base
