// SPDX-License-Identifier: Apache-2.0
// One sandbox for everything that runs what a model or a stranger wrote. A policy says what a child
// may see; the tier says how it is held to that. What is not named is not there.
//
// Tier "bubblewrap": new mount, PID, IPC, UTS, network and cgroup namespaces, a root built from
// nothing, uid 65534 without capabilities, no_new_privs; the tree dies with us. As root, bubblewrap
// mounts and setpriv then drops the uid for real (with --uid alone the child would stay root of the
// host). Otherwise a user namespace is used.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <kagent/result.h>

#include "sys/subprocess.h"

namespace kagent::sys {

inline constexpr unsigned kSandboxUser = 65534;  // "nobody" on Debian

enum class SandboxTier { bubblewrap, none };
enum class GpuAccess { none, devices };

struct Mount {
  std::filesystem::path ours;     // on the host; must exist
  std::filesystem::path theirs;   // where the child finds it
};

struct SandboxPolicy {
  std::vector<Mount> read_only;
  std::vector<Mount> read_write;
  GpuAccess gpu = GpuAccess::none;
  std::string directory = "/tmp";   // working directory inside
};

/// Which tier this machine can do, found out by running it once.
Result<SandboxTier> probe_sandbox();

/// The request that runs `request.arguments` under the policy. The environment stays as given;
/// request.directory must be empty (the policy has it). An Error where a mount does not exist.
Result<SpawnRequest> sandboxed(SpawnRequest request, const SandboxPolicy& policy, SandboxTier tier);

/// The NVIDIA device nodes of this machine; empty where there is no driver.
std::vector<std::filesystem::path> gpu_device_nodes();

}  // namespace kagent::sys
