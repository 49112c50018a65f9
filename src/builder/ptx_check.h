// SPDX-License-Identifier: Apache-2.0
// Which device data a kernel's code can reach. The compiler leaves the whole PTX in the image
// (-lineinfo), inline assembly included. The image's own sections do not tell: every constexpr of
// a source becomes data there, used or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kagent::builder {

/// Name of the first module-level .global variable that some function's body names, other than the
/// tables of libdevice's own sine and cosine; empty where there is none. Such data outlasts a call.
std::string reachable_global(std::string_view ptx);

/// Some body takes a generic address of constant memory, through which it could be written.
bool takes_address_of_constants(std::string_view ptx);

}  // namespace kagent::builder
