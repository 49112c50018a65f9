// SPDX-License-Identifier: Apache-2.0
#include "store/run_folder.h"

#include "base/text.h"
#include "sys/files.h"
#include "sys/replace_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <random>

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

/// Letters, digits, "-", "_" and "." stay; a task's name comes from a user's file.
std::string file_name_part(const std::string& text) {
  std::string part;
  for (const char byte : text.substr(0, 60)) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' ||
                       (byte == '.' && !part.empty());
    part += plain ? byte : '_';
  }
  return part.empty() ? "task" : part;
}

wire::Json with_schema(wire::Json object, const char* schema) {
  object["schema"] = schema;
  return object;
}

std::string evaluation_text(const Evaluation& evaluation) {
  return wire::dump(with_schema(wire::to_json(evaluation), kEvaluationSchema), 1) + "\n";
}

}  // namespace

std::string utc_name(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H-%M-%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

Result<RunFolder> RunFolder::create(const fs::path& parent, const std::string& task,
                                    std::chrono::system_clock::time_point now) {
  std::error_code code;
  const fs::path root = fs::absolute(parent, code);
  if (code) return Error{ErrorKind::usage, parent.string() + ": " + code.message()};
  KAGENT_TRY_VOID(sys::make_directories(root));
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const fs::path path = root / fmt::format("{}-{}-{:06x}", utc_name(now), file_name_part(task),
                                             random() & 0xffffffu);
    if (fs::create_directory(path, code)) {
      KAGENT_TRY_VOID(sys::make_directories(path / "candidates"));
      return RunFolder(path);
    }
    if (code) return Error{ErrorKind::usage, path.string() + ": " + code.message()};
  }
  return Error{ErrorKind::environment, root.string() + ": no free name for a run folder"};
}

Result<RunFolder> RunFolder::open(const fs::path& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  RunFolder folder(absolute);
  if (code || !fs::is_regular_file(folder.run_file(), code)) {
    return Error{ErrorKind::usage, path.string() + ": is not a run folder (run.json is missing)"};
  }
  return folder;
}

Result<void> RunFolder::write_run(wire::Json facts) const {
  return sys::write_file_atomically(
      run_file(), wire::dump(with_schema(std::move(facts), kRunSchema), 1) + "\n");
}

Result<void> RunFolder::check_task(const std::string& hash) const {
  KAGENT_TRY(const std::string text, sys::read_file(run_file(), 1u << 20));
  KAGENT_TRY(const wire::Json facts, wire::parse_text(text, run_file().string()));
  const auto task = facts.find("task");
  if (task == facts.end() || !task->is_object() || task->value("hash", wire::Json()) != hash) {
    return Error{ErrorKind::usage,
                 path_.string() + ": is a run of another task, or of another text of it"};
  }
  return {};
}

Result<void> RunFolder::keep_evaluation(const Evaluation& evaluation) const {
  const fs::path folder = candidates() / evaluation.candidate;
  KAGENT_TRY_VOID(sys::make_directories(folder));
  return sys::write_file_atomically(folder / "evaluation.json", evaluation_text(evaluation));
}

Result<void> RunFolder::keep_best(const Candidate& candidate, const Evaluation& evaluation) const {
  const fs::path temporary = path_ / ".best";
  std::error_code ignored;
  fs::remove_all(temporary, ignored);  // of a killed run
  for (const auto& [path, text] : candidate.files) {
    const fs::path target = temporary / path;
    KAGENT_TRY_VOID(sys::make_directories(target.parent_path()));
    KAGENT_TRY_VOID(sys::write_file_atomically(target, text));
  }
  KAGENT_TRY_VOID(
      sys::write_file_atomically(temporary / "evaluation.json", evaluation_text(evaluation)));
  return sys::replace_folder(temporary, best());
}

}  // namespace kagent::store
