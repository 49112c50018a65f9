// SPDX-License-Identifier: Apache-2.0
// What `load` asks for (docs/protocol.md, Runner), with the descriptors sorted to their places.
#pragma once

#include <kagent/build.h>
#include <kagent/plan.h>
#include <kagent/result.h>
#include <kagent/settings.h>
#include <kagent/tensor.h>

#include "sys/fd.h"
#include "wire/channel.h"

#include <vector>

namespace kagent::plan {

struct LoadRequest {
  Plan plan;
  BuildResult build;
  ArenaLayout weights;
  std::vector<ArenaLayout> inputs;  // one per set
  ArenaLayout outputs;
  Numerics numerics = Numerics::strict;
  bool diagnostic = false;
  /// Runs alone on a plan folder: one exact-size allocation per tensor, nothing that could be in
  /// the way of a tool around it (docs/audit-mode.md). There are no arenas then.
  bool audit = false;
  int device_index = 0;

  sys::Fd weights_memory;
  std::vector<sys::Fd> inputs_memory;
  sys::Fd outputs_memory;
  std::vector<sys::Fd> images;  // one per build unit
  sys::Fd instruments;          // CUDA only
};

/// The error says which field is wrong, or how many descriptors should have come.
Result<LoadRequest> parse_load_request(wire::Frame frame);

/// Every entry inside its arena, and large enough for its tensor.
Result<void> check_layout(const ArenaLayout& layout, const std::string& what);

/// Bytes from a tensor's first element to the end of its last one; 0 where it has no element.
/// Negative where a size or stride is negative or the extent beyond 2^40 bytes.
std::int64_t extent_bytes(const TensorSpec& spec);

}  // namespace kagent::plan
