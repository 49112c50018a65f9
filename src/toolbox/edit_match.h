// SPDX-License-Identifier: Apache-2.0
// Where a text to be replaced stands in a file. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kagent::toolbox {

/// One place, in bytes, and what to put there instead.
struct Replacement {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

enum class MatchRule { exact, ignoring_white_space };

struct EditFound {
  MatchRule rule = MatchRule::exact;
  std::vector<Replacement> places;  // in order, not overlapping; at least one
};

struct EditAmbiguous {
  std::vector<std::size_t> lines;  // where each match begins, from 1
};

/// Lines of the file that come nearest to what was looked for; count is 0 for an empty file.
struct EditMissing {
  std::size_t first_line = 0;  // from 1
  std::size_t count = 0;
};

enum class Occurrences { only_one, all };

/// Exact text first. Where there is none, whole lines that differ only in white space, if they
/// stand in exactly one place; the new text is then indented as the old one really is. `wanted` is
/// not empty.
std::variant<EditFound, EditAmbiguous, EditMissing> find_edit(const std::string& file,
                                                              const std::string& wanted,
                                                              const std::string& replacement,
                                                              Occurrences occurrences);

std::string apply_edit(const std::string& file, const EditFound& found);

/// Line (from 1) that holds the byte at `offset`.
std::size_t line_at(std::string_view file, std::size_t offset);

}  // namespace kagent::toolbox
