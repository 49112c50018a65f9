// SPDX-License-Identifier: Apache-2.0
// journal.jsonl: what a batch began and what it finished, one synced line each (docs/batch.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include <kagent/result.h>

#include "batch/job.h"
#include "sys/append_file.h"

namespace kagent::batch {

class Journal {
 public:
  static Result<Journal> create(const std::filesystem::path& path);
  static Result<Journal> resume(const std::filesystem::path& path);

  Result<void> started(const Job& job);
  /// A job that ended; written once for each id.
  Result<void> ended(const wire::Json& result);

 private:
  explicit Journal(sys::AppendFile file) : file_(std::move(file)) {}
  Result<void> write(const wire::Json& line);
  sys::AppendFile file_;
};

/// The results of all jobs that ended, by id; a torn last line is left out, other damage is an Error
/// that names the line.
Result<std::map<std::string, wire::Json>> read_journal(const std::filesystem::path& path);

}  // namespace kagent::batch
