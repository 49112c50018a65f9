// SPDX-License-Identifier: Apache-2.0
// Every defence has a name. A test build (KAGENT_SANDBOX_HOLES) leaves out the one that the environment's
// KAGENT_SANDBOX_HOLE names, so that the escape suite can show what lets it through. Any other build
// knows no switch.
#pragma once

#ifdef KAGENT_SANDBOX_HOLES
#include <cstdlib>
#include <string_view>
#endif

namespace kagent::sandbox {

inline constexpr const char* kHoleVariable = "KAGENT_SANDBOX_HOLE";

#ifdef KAGENT_SANDBOX_HOLES
inline bool defends(std::string_view name) {
  const char* hole = std::getenv(kHoleVariable);
  return hole == nullptr || name != hole;
}
#else
constexpr bool defends(const char*) { return true; }
#endif

}  // namespace kagent::sandbox
