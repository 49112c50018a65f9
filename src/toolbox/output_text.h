// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kagent::toolbox {

/// What a terminal would show in the end: no escape sequences, only the last state of a line that
/// was overwritten with \r, no other control characters, valid UTF-8.
std::string clean_output(std::string_view raw);

/// At most about `max_bytes`: two fifths from the head, the rest from the tail, cut at line borders
/// where there are any. The marker between says how much is missing and, unless `log` is empty, in
/// which file all of it is.
std::string cap_output(const std::string& text, std::size_t max_bytes, const std::string& log);

}  // namespace kagent::toolbox
