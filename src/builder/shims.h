// SPDX-License-Identifier: Apache-2.0
// Headers that NVRTC finds in memory. It has no C or C++ library of its own, and every model writes
// <cstdint>, <cmath> or <limits>. Ours are small: CCCL's forms of the same cost a second a build.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kagent::builder {

inline constexpr const char* kPrelude = "kagent_prelude.h";  // included ahead of every source

/// Name as written in #include -> text. `with_target`: also <nv/target>, where CCCL is missing.
std::vector<std::pair<std::string, std::string>> shim_headers(bool with_target);

}  // namespace kagent::builder
