// SPDX-License-Identifier: Apache-2.0
// The file of the regression gate (docs/gate.md): a candidate with its sources, and what it came to.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <kagent/candidate.h>
#include <kagent/evaluation.h>
#include <kagent/task.h>

#include "evaluator/session.h"
#include "wire/json.h"

namespace kagent::cli {

inline constexpr const char* kGateSchema = "kagent.gate/1";

struct GateFile {
  std::string task_name;
  std::string task_hash;
  std::string candidate;                        // hash of files
  std::map<std::string, std::string> files;     // "model_new.py", "kernels/…"
  std::string saved_at;                         // UTC
  std::string device;                           // its name, for people
};

wire::Json gate_record(const Task& task, const Candidate& candidate, const Evaluation& evaluation,
                       const evaluator::Session& session);

/// An Error of kind usage: not there, not such a file, or saved of another task text.
Result<GateFile> load_gate(const std::filesystem::path& path, const Task& task);

/// Writes its sources into a folder, so that they can be frozen as any candidate. Only model_new.py and
/// what is below kernels/ has a place there.
Result<void> unpack(const GateFile& file, const std::filesystem::path& folder);

}  // namespace kagent::cli
