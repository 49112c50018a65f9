// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/trajectory.h>

#include "sys/append_file.h"
#include "wire/json.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::store {

/// Line 1 of a trajectory: all that a turn's request consists of besides the turns before it.
struct RunStart {
  std::string model;    // ChatClient::name()
  std::string system;   // exact system prompt
  std::string opening;  // exact first user message
  std::vector<ToolSpec> tools;
  wire::Json settings;  // what the user chose, sampling included; an object
  bool operator==(const RunStart&) const = default;
};

/// trajectory.jsonl: one JSON object a line, one write a line, synced when an append returns; results
/// of single calls are synced with their turn.
class JournalFile : public Journal {
 public:
  /// A new file with its first line.
  static Result<JournalFile> create(const std::filesystem::path& path, const RunStart& start);

  /// Goes on with a file that read_trajectory() could read; a torn last line is cut off. A line
  /// says with which model and settings it goes on.
  static Result<JournalFile> resume(const std::filesystem::path& path, const std::string& model,
                                    const wire::Json& settings);

  Result<void> begin(int turn, const Reply& reply) override;
  Result<void> append(int turn, const ToolResult& result) override;
  Result<void> append(const Turn& turn) override;
  Result<void> append(const CandidateRecord& record) override;
  Result<void> append(const ContextEdit& edit) override;
  Result<void> append(StopReason reason, const std::string& explanation) override;

 private:
  explicit JournalFile(sys::AppendFile file) : file_(std::move(file)) {}
  Result<void> write(const wire::Json& line);

  sys::AppendFile file_;
};

}  // namespace kagent::store
