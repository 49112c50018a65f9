// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/build.h>
#include <kagent/device.h>
#include <kagent/plan.h>

#include <string>

namespace kagent::policy {

/// Why this card, or a CPU, cannot be asked for such a launch; "" where it can. Figures that the
/// device record does not know (0) limit nothing.
std::string broken_limit(const LaunchStep& step, const KernelBuild& kernel, Backend backend,
                         const DeviceRecord& device);

/// The same of a TMA descriptor over a tensor with this spec.
std::string broken_limit(const TensorMap& map, const TensorSpec& tensor, Backend backend,
                         const DeviceRecord& device);

}  // namespace kagent::policy
