// SPDX-License-Identifier: Apache-2.0
// Mounts of our own: the root of tier "namespaces", and the private folders of a server's children.
// All of it acts on the calling process, in a mount namespace of its own and with CAP_SYS_ADMIN there.
#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace kagent::sandbox {

/// Builds the policy's view on a tmpfs and makes it the root folder. The old root is gone afterwards.
Result<void> enter_own_root(const Policy& policy);

/// A /proc that shows this process's PID namespace and nothing else.
Result<void> mount_proc();

/// What is mounted below /tmp and /dev/shm, outer ones first: an installation may lie there.
std::vector<std::string> mounts_in_scratch();

/// /tmp and /dev/shm anew and empty. What `kept` names below them, outer ones first, stays where it is.
Result<void> mount_private_folders(std::uint64_t bytes, const std::vector<std::string>& kept);

}  // namespace kagent::sandbox
