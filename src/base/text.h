// SPDX-License-Identifier: Apache-2.0
// Small operations on text. Everything that a child wrote is hostile: one_line and cap make it fit
// for a terminal, a record or a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::base {

/// Parts between separators; "" gives one empty part, "a," gives "a" and "".
std::vector<std::string> split(std::string_view text, char separator);

/// Lines without their "\n" or "\r\n"; a newline at the end starts no further line.
std::vector<std::string> split_lines(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Without white space at both ends; a view into `text`.
std::string_view trim(std::string_view text);

std::string to_lower(std::string_view ascii);

/// At most about `max_bytes`: head and tail are kept, and the middle is replaced by a line that
/// says how much is missing. Never cuts inside a UTF-8 character.
std::string cap(std::string_view text, std::size_t max_bytes);

/// One printable line of at most about `max_bytes`: control characters become \n, \t or \x1b,
/// invalid UTF-8 becomes U+FFFD, and what is too long ends in "…".
std::string one_line(std::string_view text, std::size_t max_bytes = 400);

bool is_valid_utf8(std::string_view text);

/// Each invalid byte becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace kagent::base
