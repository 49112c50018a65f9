// SPDX-License-Identifier: Apache-2.0
// Which shape a set of wrong places has, in words that point at a kernel's bug. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kagent::reference {

/// hit[i]: something is wrong at index i of this dimension. "in the last 37 of dimension 1", "at
/// every 32nd index of dimension 0, from 31", "at index 5 of dimension 2"; empty where the whole
/// dimension is hit or no pattern shows.
std::string pattern_along(const std::vector<bool>& hit, int dimension);

/// True where `pattern` says that a tail is wrong ("in the last …").
bool is_tail(const std::string& pattern);

/// "1st", "2nd", "3rd", "4th", "11th", "32nd".
std::string ordinal(std::int64_t number);

/// "[3, 0, 17]".
std::string index_text(const std::vector<std::int64_t>& index);

/// The multi-dimensional form of a row-major position.
std::vector<std::int64_t> unravel(std::int64_t position, const std::vector<std::int64_t>& shape);

}  // namespace kagent::reference
