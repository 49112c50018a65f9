// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "skills/skill.h"
#include "sys/environment.h"

#include <filesystem>
#include <vector>

namespace kagent::cli {

/// Where this user and this project keep skills; see skills::user_folders.
inline std::vector<std::filesystem::path> skill_folders() {
  const std::string home = sys::variable("HOME");
  const std::string config = sys::variable("XDG_CONFIG_HOME");
  return skills::user_folders(home, !config.empty() ? config : home.empty() ? "" : home + "/.config");
}

}  // namespace kagent::cli
