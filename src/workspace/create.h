// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kagent::workspace {

/// What the agent finds and may not change: "task.py", "SKILL.md", "skills/…". Relative path to
/// text.
using GivenFiles = std::map<std::string, std::string>;

/// Makes the folder with read-only copies of `given` and an empty kernels/. It belongs to the user
/// that sandboxed children run as. An Error where the folder is there already.
Result<void> create(const std::filesystem::path& folder, const GivenFiles& given);

}  // namespace kagent::workspace
