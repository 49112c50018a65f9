// SPDX-License-Identifier: Apache-2.0
// Launches against the kernels' real C++ parameters and the card's limits, before anything runs.
#pragma once

#include <kagent/build.h>
#include <kagent/device.h>
#include <kagent/evaluation.h>
#include <kagent/plan.h>

#include <optional>

namespace kagent::policy {

/// The first launch, in prepare or forward, that cannot work (bad_launch): wrong number or type of
/// arguments, values out of range, more than the device has.
std::optional<Fault> check_launches(const Plan& plan, const BuildResult& build,
                                    const DeviceRecord& device);

}  // namespace kagent::policy
