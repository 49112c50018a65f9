// SPDX-License-Identifier: Apache-2.0
#pragma once

#define offsetof(type, member) \
  (reinterpret_cast<unsigned long>(&reinterpret_cast<const volatile char&>(((type*)0)->member)))

namespace std {
using ::size_t;
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};
struct alignas(16) max_align_t { char bytes[16]; };
}  // namespace std
using ptrdiff_t = std::ptrdiff_t;
