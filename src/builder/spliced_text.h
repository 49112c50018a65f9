// SPDX-License-Identifier: Apache-2.0
// A source text as the preprocessor sees it: continued lines joined, comments told apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::builder {

/// Which line ends a backslash continues: gcc forgives white space after it, NVRTC's front end does not.
enum class Splice { exact, forgiving };

struct SplicedText {
  std::string text;                  // without the joined line ends
  std::vector<std::size_t> origin;   // for each character of text (and its end), where it stood
  std::vector<bool> comment;         // for each character of text: inside a comment

  /// Line in the original text, from 1, of a position in `text`.
  int line(std::size_t position, std::string_view original) const;
};

/// `\r\n` must have become `\n` before.
SplicedText splice(std::string_view original, Splice rule);

}  // namespace kagent::builder
