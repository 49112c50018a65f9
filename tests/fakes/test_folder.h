// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kagent::fakes {

/// A folder of one test, gone at its end.
class TestFolder {
 public:
  TestFolder() : folder_(*sys::TemporaryDirectory::create("kagent-test")) {}

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(path() / name); }

 private:
  sys::TemporaryDirectory folder_;
};

}  // namespace kagent::fakes
