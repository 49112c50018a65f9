// SPDX-License-Identifier: Apache-2.0
#include "builder/compiler_paths.h"

#include <cstdlib>
#include <system_error>

#include "base/text.h"
#include "sys/files.h"
#include "wire/json.h"
#include "wire/members.h"

namespace kagent::builder {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::vector<std::string> include_folders(const wire::Json& json) {
  if (const char* chosen = std::getenv("KAGENT_CUDA_INCLUDE"); chosen != nullptr && *chosen != '\0') {
    return base::split(chosen, ':');
  }
  std::vector<std::string> folders;
  if (const auto found = json.find("cuda_includes"); found != json.end() && found->is_array()) {
    for (const auto& folder : *found) {
      if (folder.is_string()) folders.push_back(folder.get<std::string>());
    }
  }
  return folders;
}

}  // namespace

Result<CompilerPaths> CompilerPaths::read(const fs::path& file) {
  KAGENT_TRY(const std::string text, sys::read_file(file, 1 << 16));
  KAGENT_TRY(const wire::Json json, wire::parse_text(text, file.string()));
  if (!json.is_object()) {
    return Error{ErrorKind::environment, file.string() + " is no JSON object; install kagent again"};
  }
  CompilerPaths paths;
  for (const std::string& folder : include_folders(json)) {
    if (folder.empty() || !is_there(folder)) continue;
    paths.cuda_includes.push_back(folder);
    if (is_there(fs::path(folder) / "cccl")) paths.cuda_includes.push_back(folder + "/cccl");
  }
  for (const std::string& folder : paths.cuda_includes) {
    paths.has_nv_target = paths.has_nv_target || is_there(fs::path(folder) / "nv/target");
  }
  paths.nvrtc = wire::text_member(json, "nvrtc");
  paths.nvcc = wire::text_member(json, "nvcc");
  paths.host_compiler = wire::text_member(json, "host_compiler");
  if (const char* chosen = std::getenv("KAGENT_CXX"); chosen != nullptr && *chosen != '\0') {
    paths.host_compiler = chosen;
  }
  paths.host_include = (file.parent_path() / "../../share/kagent/include").lexically_normal().string();
  return paths;
}

Result<CompilerPaths> CompilerPaths::of_this_program() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return Error{ErrorKind::environment, "/proc/self/exe: " + code.message()};
  return read(program.parent_path() / "paths.json");
}

}  // namespace kagent::builder
