// SPDX-License-Identifier: Apache-2.0
// Turns what stands in a folder now into a Candidate. Each file is read once, through descriptors
// that follow no link; what was read is what is hashed, stored and judged, whatever changes later.
#pragma once

#include <kagent/candidate.h>
#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "sys/confined_folder.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

namespace kagent::workspace {

struct FreezeLimits {
  std::size_t file_bytes = 1u << 20;
  std::size_t total_bytes = 8u << 20;
  std::size_t files = 64;
};

/// A Fault says what stands in the folder and cannot be judged.
using Frozen = std::variant<Candidate, Fault>;

/// Reads model_new.py and everything below kernels/ (but names that begin with a dot) and writes
/// it, read-only and as one piece, to <candidates>/<hash>/source. Files must be regular, UTF-8
/// text, and have one name. Freezing the same text twice gives the same folder.
Result<Frozen> freeze(const sys::ConfinedFolder& folder, const std::filesystem::path& candidates,
                      const FreezeLimits& limits = {});

/// sha256 over names and texts: the same for the same files, whatever their order or times.
std::string candidate_hash(const std::map<std::string, std::string>& files);

}  // namespace kagent::workspace
