// SPDX-License-Identifier: Apache-2.0
// What a sandboxed child may do, in one type, and how far this machine can hold it to that.
// What a policy does not name is not there: no network, no key, no other file (docs/sandbox.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "sys/sandbox_user.h"
#include "sys/subprocess.h"

namespace kagent::sandbox {

/// From the strongest to none at all. Which of them holds is found out by running them (probe.h).
enum class Tier { bubblewrap, namespaces, landlock, none };

const char* word(Tier tier);
Result<Tier> tier_of(const std::string& word);

/// Whether children of this tier have a root folder of their own, so that a mount can show a file elsewhere.
inline bool has_own_root(Tier tier) { return tier == Tier::bubblewrap || tier == Tier::namespaces; }

/// tools: any program, in a tree of processes. server: one of ours that forks a child for each
/// candidate; it may make namespaces for them (fresh_child.h) and runs nothing hostile itself.
enum class Calls { tools, server };

enum class GpuAccess { none, devices };

struct Mount {
  std::filesystem::path ours;     // on the host; must exist
  std::filesystem::path theirs;   // where the child finds it; equal to `ours` without a root of its own
};

struct Policy {
  std::vector<Mount> read_only;
  std::vector<Mount> read_write;
  GpuAccess gpu = GpuAccess::none;
  Calls calls = Calls::tools;
  std::string directory = "/tmp";              // working directory inside; /tmp is private
  std::uint64_t scratch_bytes = 4ull << 30;    // of /tmp and /dev/shm each; both are memory
  sys::ResourceLimits limits;                  // of each process; `processes` of the whole tree
  std::uint64_t tree_bytes = 0;                // memory of the whole tree, where there are control groups; 0: the usual
};

/// Where a folder of ours is seen in a tier: at `inside`, or where it is.
inline Mount place(const std::filesystem::path& ours, const std::filesystem::path& inside, Tier tier) {
  return {ours, has_own_root(tier) ? inside : ours};
}

/// The NVIDIA device nodes of this machine; empty where there is no driver.
std::vector<std::filesystem::path> gpu_device_nodes();

/// Three quarters of the memory of this machine, in bytes: what a worker may allocate at most.
std::uint64_t usual_memory_limit();

}  // namespace kagent::sandbox
