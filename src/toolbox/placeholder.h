// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace kagent::toolbox {

/// A comment that stands for code left out ("// ... rest of the kernel unchanged ..."): written to
/// a file, the code would be gone.
struct Placeholder {
  std::size_t line = 0;  // from 1; 0: there is none
  std::string text;
};

/// The first one in `text` that is not in `before` too.
Placeholder find_placeholder(const std::string& text, const std::string& before);

}  // namespace kagent::toolbox
