// SPDX-License-Identifier: Apache-2.0
#include "gate_file.h"

#include <chrono>

#include "store/run_folder.h"
#include "sys/files.h"
#include "wire/members.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;
using wire::Json;

constexpr std::size_t kMaxBytes = 64u << 20;

Json without_samples(Json measurement) {
  for (auto& [name, member] : measurement.items()) {
    if (member.is_object() && member.contains("samples")) member["samples"] = Json::array();
  }
  return measurement;
}

bool has_a_place(const std::string& name) {
  const fs::path path(name);
  if (name == "model_new.py") return true;
  if (path.is_absolute() || name.rfind("kernels/", 0) != 0) return false;
  for (const auto& part : path) {
    if (part == ".." || part == "." || part.empty()) return false;
  }
  return true;
}

}  // namespace

Json gate_record(const Task& task, const Candidate& candidate, const Evaluation& evaluation, const evaluator::Session& session) {
  return {{"schema", kGateSchema},
          {"saved_at", store::utc_name(std::chrono::system_clock::now())},
          {"task", {{"name", task.name}, {"hash", task.hash}}},
          {"candidate", {{"hash", candidate.hash}, {"files", candidate.files}}},
          {"settings", wire::to_json(session.options().settings)},
          {"device", wire::to_json(session.facts().device)},
          {"versions", session.facts().versions},
          {"numerics", session.facts().numerics},
          {"measurement", evaluation.measurement ? without_samples(wire::to_json(*evaluation.measurement)) : Json()}};
}

Result<GateFile> load_gate(const fs::path& path, const Task& task) {
  const auto refuse = [&](const std::string& why) { return Error{ErrorKind::usage, "--against " + path.string() + ": " + why}; };
  const auto text = sys::read_file(path, kMaxBytes);
  if (!text) return refuse(text.error().message);
  const auto json = wire::parse_text(*text, path.string());
  if (!json) return refuse(json.error().message);
  if (wire::text_member(*json, "schema") != kGateSchema) {
    return refuse(std::string("not a file of kagent baseline --candidate … --save (schema ") + kGateSchema + ")");
  }
  GateFile file;
  file.task_name = wire::text_member(wire::member(*json, "task"), "name");
  file.task_hash = wire::text_member(wire::member(*json, "task"), "hash");
  file.saved_at = wire::text_member(*json, "saved_at");
  file.device = wire::text_member(wire::member(*json, "device"), "name");
  const Json& candidate = wire::member(*json, "candidate");
  file.candidate = wire::text_member(candidate, "hash");
  const Json& files = wire::member(candidate, "files");
  if (!files.is_object()) return refuse("holds no candidate");
  for (const auto& [name, source] : files.items()) {
    if (!source.is_string() || !has_a_place(name)) return refuse("holds a file that no candidate has: " + name);
    file.files[name] = source.get<std::string>();
  }
  if (!file.files.contains("model_new.py")) return refuse("holds no model_new.py");
  if (file.task_hash != task.hash) {
    return refuse("was saved of another task text (" + file.task_name + "); save again: kagent baseline --candidate … --save");
  }
  return file;
}

Result<void> unpack(const GateFile& file, const fs::path& folder) {
  for (const auto& [name, source] : file.files) {
    KAGENT_TRY_VOID(sys::make_directories((folder / name).parent_path()));
    KAGENT_TRY_VOID(sys::write_file_atomically(folder / name, source));
  }
  return {};
}

}  // namespace kagent::cli
