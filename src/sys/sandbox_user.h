// SPDX-License-Identifier: Apache-2.0
// Who sandboxed processes are on the host.
#pragma once

namespace kagent::sys {

inline constexpr unsigned kSandboxUser = 65534;       // "nobody" on Debian; also the group of all below
inline constexpr unsigned kFirstChildUser = 65000;    // children of warm servers, one user each
inline constexpr unsigned kChildUsers = 64;

}  // namespace kagent::sys
