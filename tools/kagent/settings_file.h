// SPDX-License-Identifier: Apache-2.0
// kagent.toml as a list of settings; what they mean is not known here. docs/configuration.md.
#pragma once

#include <kagent/result.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::cli {

struct FileSetting {
  std::string command;  // the table that it stands in; "" outside of any
  std::string key;
  std::string value;  // as it would stand on the command line; a list is joined by commas
  int line = 0;
};

/// An Error of kind usage names file and line: not TOML, or a value that is none for a flag.
Result<std::vector<FileSetting>> read_settings_file(const std::filesystem::path& path);

}  // namespace kagent::cli
