// SPDX-License-Identifier: Apache-2.0
// A frozen, hashed copy of model_new.py and kernels/*; evaluated, never changed.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kagent {

struct Candidate {
  std::string hash;                          // sha256 over names and texts, hex
  std::filesystem::path folder;              // read-only copy on disk
  std::map<std::string, std::string> files;  // relative path -> text
  bool operator==(const Candidate&) const = default;
};

}  // namespace kagent
