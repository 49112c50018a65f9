// SPDX-License-Identifier: Apache-2.0
// What a child sees of the host's files: one list from which every tier is built.
#pragma once

#include <vector>

#include "sandbox/policy.h"

namespace kagent::sandbox {

enum class EntryKind { folder, link, read_only, read_write, device };

struct Entry {
  EntryKind kind = EntryKind::folder;
  std::filesystem::path ours;     // link: what it points to; folder: unused
  std::filesystem::path theirs;
};

/// The system's own files first, then the policy's; parents before what lies inside. /proc, /dev, /tmp
/// and /dev/shm are each tier's own business. An Error names a mount that is missing.
Result<std::vector<Entry>> view_of(const Policy& policy);

/// Device nodes that every child has.
inline constexpr const char* kPlainDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};

}  // namespace kagent::sandbox
