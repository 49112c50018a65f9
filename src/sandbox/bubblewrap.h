// SPDX-License-Identifier: Apache-2.0
// The outer wall of tier "bubblewrap": bwrap's command line. The launcher inside finishes the work.
#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace kagent::sandbox {

/// Full path of a program in PATH or the usual folders; empty where there is none.
std::filesystem::path find_program(const std::string& name);

/// bwrap and its arguments up to and with "--": own mount, PID, IPC, UTS, network and cgroup
/// namespaces and the policy's view. As root it keeps what the launcher needs to become another user.
Result<std::vector<std::string>> bubblewrap_arguments(const Policy& policy);

}  // namespace kagent::sandbox
