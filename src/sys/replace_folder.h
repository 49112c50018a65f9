// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <filesystem>

namespace kagent::sys {

/// `prepared` takes the place of `target` in one step (an exchange where the file system can, else
/// two renames), so that a reader finds the old folder or the new one; the old one is then removed.
/// Both lie in the same folder. Files in `prepared` must be synced already.
Result<void> replace_folder(const std::filesystem::path& prepared,
                            const std::filesystem::path& target);

}  // namespace kagent::sys
