// SPDX-License-Identifier: Apache-2.0
// System calls that a sandboxed process can not make. They fail with EPERM; nothing is killed for trying.
#pragma once

#include <kagent/result.h>

namespace kagent::sandbox {

enum class Filter {
  server,   // tracing, sockets of the network, keys, the kernel's own business
  tools,    // also mounts and namespaces
  leaf,     // also new processes and programs, signals to others, sockets of any kind
};

struct FilterOptions {
  bool local = true;           // AF_UNIX and AF_NETLINK sockets, System V memory; false without namespaces around
  bool gpu = false;            // leaf: what a driver's library needs
};

/// For the calling process and all that it starts, for good. Sets no_new_privs, without which a process
/// that has no capability cannot do it. An Error on a kernel or a processor without it.
Result<void> install_filter(Filter filter, FilterOptions options);

}  // namespace kagent::sandbox
