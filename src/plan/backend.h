// SPDX-License-Identifier: Apache-2.0
// Where a plan runs. The interpreter executes operators through ATen on device(); everything that
// differs between a CPU and a card stands behind this interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kagent/build.h>
#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/result.h>

#include "sys/fd.h"

#include <ATen/core/Tensor.h>

namespace kagent::plan {

enum class Access { read_only, read_write };

/// One kernel argument as bytes in the form that its C++ parameter wants.
struct PackedArgument {
  alignas(64) unsigned char bytes[128];   // 128: a tensor map
  int size = 0;
};

/// Owned by the runner for one evaluation. Not thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual at::Device device() const = 0;

  /// Maps a shared arena; the mapping lives as long as the backend. private_copy: the memory is a
  /// writable copy of its own (diagnostic runs), so that writes do not fault.
  virtual Result<void*> map_arena(sys::Fd memory, std::int64_t bytes, Access access,
                                  bool private_copy) = 0;

  /// Loads every unit's image and finds every kernel's entry. A Fault is the candidate's.
  virtual Result<std::optional<Fault>> load(const BuildResult& build,
                                            std::vector<sys::Fd> images) = 0;

  /// Encodes a TMA descriptor over `tensor`. A box or stride that the card cannot take is the
  /// candidate's Fault (bad_launch); so is a tensor map on a backend that has none.
  virtual std::variant<PackedArgument, Fault> encode(const TensorMap& map,
                                                     const at::Tensor& tensor) = 0;

  /// Starts one kernel; asynchronous on a card. kernel indexes Plan::kernels.
  virtual std::optional<Fault> launch(const LaunchStep& step,
                                      const std::vector<PackedArgument>& arguments) = 0;

  /// Waits for the device; what the device complains of becomes a Fault of kind crash
  /// (kagent tells input_modified and out_of_bounds apart by a diagnostic run).
  virtual std::optional<Fault> synchronize() = 0;

  /// From now on every allocation on device() is filled with `pattern` and surrounded by canaries.
  /// Called at the start of each run: private copies of arenas are also made anew here.
  virtual void poison_allocations(std::uint8_t pattern) = 0;
  /// From now on allocations reuse freed blocks and are left as they are (timing).
  virtual void reuse_allocations() = 0;

  /// Canaries of every block handed out since poison_allocations(); Fault out_of_bounds where one
  /// was overwritten. Synchronises.
  virtual std::optional<Fault> check_guards() = 0;

  /// Weights, constants and what prepare made are read-only from now on, where that is cheap
  /// (pitfall 11): whole blocks that were handed out since poison_allocations().
  virtual void protect(const std::vector<at::Tensor>& tensors) { static_cast<void>(tensors); }
};

}  // namespace kagent::plan
