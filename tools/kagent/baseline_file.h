// SPDX-License-Identifier: Apache-2.0
// Where a measured baseline is kept: one file per device, driver, torch version, task text and numerics.
#pragma once

#include <filesystem>

#include <kagent/device.h>
#include <kagent/result.h>
#include <kagent/settings.h>
#include <kagent/task.h>

#include <nlohmann/json.hpp>

namespace kagent::cli {

/// Writes the record as one piece and returns its path.
Result<std::filesystem::path> store_baseline(const std::filesystem::path& cache, const Task& task,
                                             const JudgeSettings& settings,
                                             const DeviceRecord& device,
                                             const nlohmann::json& versions,
                                             const nlohmann::json& record);

}  // namespace kagent::cli
