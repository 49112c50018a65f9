// SPDX-License-Identifier: Apache-2.0
// What an image for the GPU may hold: code, constants, shared memory. Nothing that outlives a call
// (pitfall 11), nothing that calls the device runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/elf.h"
#include "builder/request.h"

namespace kagent::builder {

/// Fault forbidden_op for persistent device data, device malloc, printf, device-side launches.
std::optional<Fault> check_cubin(const ElfFile& cubin, const std::string& source);

/// Size of each parameter of the kernel with symbol `entry` as the image itself states it; empty
/// where the image has no kernel of that name or does not say.
std::optional<std::vector<int>> parameter_sizes(const ElfFile& cubin, const std::string& entry);

}  // namespace kagent::builder
