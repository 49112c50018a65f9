// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <kagent/result.h>
#include <kagent/task.h>

namespace kagent::tasks {

/// Reads one task file, at most 4 MiB of UTF-8 text. Nothing is run: what is wrong inside comes
/// from the reference. Errors are of kind usage (no such file) or task_invalid.
Result<Task> load(const std::filesystem::path& path);

}  // namespace kagent::tasks
