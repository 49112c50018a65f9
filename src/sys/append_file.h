// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include "sys/fd.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace kagent::sys {

/// A file that only grows. Each line goes out in one write; sync() makes what was written durable.
class AppendFile {
 public:
  /// An Error where the file exists already.
  static Result<AppendFile> create(const std::filesystem::path& path);

  /// Continues a file; a last line without newline, which a killed process left behind, is cut off.
  static Result<AppendFile> resume(const std::filesystem::path& path);

  /// `line` holds no newline.
  Result<void> append_line(std::string_view line);
  Result<void> sync();

 private:
  AppendFile(Fd file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Fd file_;
  std::filesystem::path path_;
};

}  // namespace kagent::sys
