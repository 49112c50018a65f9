// SPDX-License-Identifier: Apache-2.0
#include "workspace/freeze.h"

#include "base/hash.h"
#include "base/text.h"
#include "sys/files.h"
#include "sys/replace_folder.h"

#include <optional>
#include <utility>

namespace kagent::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFolderDepth = 4;
constexpr const char* kModelFile = "model_new.py";
constexpr const char* kKernelFolder = "kernels";

Fault refused(const std::string& file, const std::string& message, const std::string& hint) {
  Fault fault;
  fault.kind = FaultKind::unsupported;
  fault.message = message;
  fault.hint = hint;
  fault.at.file = file;
  return fault;
}

/// Collects files until something is wrong with one of them (fault) or with the machine (Error).
class Collector {
 public:
  Collector(const sys::ConfinedFolder& folder, const FreezeLimits& limits)
      : folder_(folder), limits_(limits) {}

  Result<void> take_file(const std::string& path) {
    if (files_.size() == limits_.files) {
      fault_ = refused(path, "more than " + std::to_string(limits_.files) + " files",
                       "keep only what forward() needs under kernels/");
      return {};
    }
    auto text = folder_.read(path, limits_.file_bytes);
    if (!text) return explain(path, std::move(text).error());
    if (!base::is_valid_utf8(*text) || text->find('\0') != std::string::npos) {
      fault_ = refused(path, path + ": is not UTF-8 text",
                       "kernels/ is for source text; keep build outputs elsewhere");
      return {};
    }
    total_bytes_ += text->size();
    if (total_bytes_ > limits_.total_bytes) {
      fault_ = refused(
          path,
          "the candidate is larger than " + std::to_string(limits_.total_bytes) + " bytes in all",
          "keep only what forward() needs under kernels/");
      return {};
    }
    files_.emplace(path, *std::move(text));
    return {};
  }

  Result<void> take_folder(const std::string& path, std::size_t depth) {
    // Entries that do not count (dots) are bounded too: a full folder must not cost us memory.
    auto entries = folder_.list(path, 16 * limits_.files);
    if (!entries) return explain(path, std::move(entries).error());
    for (const auto& entry : *entries) {
      if (fault_) return {};
      if (entry.name.front() == '.') continue;
      const std::string child = path + "/" + entry.name;
      if (base::one_line(child, 1024) != child) {
        fault_ = refused(path, base::one_line(child) + ": the name is not printable UTF-8", "");
      } else if (entry.kind == sys::EntryKind::folder && depth == kMaxFolderDepth) {
        fault_ = refused(child, child + ": folders are nested too deep", "");
      } else if (entry.kind == sys::EntryKind::folder) {
        KAGENT_TRY_VOID(take_folder(child, depth + 1));
      } else {
        KAGENT_TRY_VOID(take_file(child));
      }
    }
    return {};
  }

  const std::optional<Fault>& fault() const { return fault_; }
  std::map<std::string, std::string> files() && { return std::move(files_); }

 private:
  Result<void> explain(const std::string& path, Error error) {
    if (error.kind != ErrorKind::usage) return std::move(error).with_context("freeze");
    fault_ = refused(path, error.message,
                     path == kModelFile ? "model_new.py must define class ModelNew" : "");
    return {};
  }

  const sys::ConfinedFolder& folder_;
  const FreezeLimits& limits_;
  std::map<std::string, std::string> files_;
  std::size_t total_bytes_ = 0;
  std::optional<Fault> fault_;
};

Result<void> store(const Candidate& candidate, const fs::path& candidates) {
  std::error_code code;
  if (fs::is_directory(candidate.folder, code)) return {};
  const fs::path temporary = candidates / (".freeze-" + candidate.hash.substr(0, 16));
  fs::remove_all(temporary, code);  // of a killed run
  for (const auto& [path, text] : candidate.files) {
    const fs::path target = temporary / "source" / path;
    KAGENT_TRY_VOID(sys::make_directories(target.parent_path()));
    KAGENT_TRY_VOID(sys::write_file_atomically(target, text, 0444));
  }
  return sys::replace_folder(temporary, candidates / candidate.hash);
}

}  // namespace

std::string candidate_hash(const std::map<std::string, std::string>& files) {
  base::Sha256 hash;
  for (const auto& [path, text] : files) {
    // Lengths in front keep "a" + "bc" and "ab" + "c" apart.
    hash.update(std::to_string(path.size()) + ":" + path + std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return hash.hex();
}

Result<Frozen> freeze(const sys::ConfinedFolder& folder, const fs::path& candidates,
                      const FreezeLimits& limits) {
  Collector collector(folder, limits);
  KAGENT_TRY_VOID(collector.take_file(kModelFile));
  if (!collector.fault() && folder.contains(kKernelFolder)) {
    KAGENT_TRY_VOID(collector.take_folder(kKernelFolder, 0));
  }
  if (collector.fault()) return Frozen(*collector.fault());
  Candidate candidate;
  candidate.files = std::move(collector).files();
  candidate.hash = candidate_hash(candidate.files);
  candidate.folder = candidates / candidate.hash / "source";
  KAGENT_TRY_VOID(store(candidate, candidates));
  return Frozen(std::move(candidate));
}

}  // namespace kagent::workspace
