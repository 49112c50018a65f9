// SPDX-License-Identifier: Apache-2.0
#include "plan_folder.h"

#include "sys/files.h"
#include "wire/json.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kagent::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTextBytes = 128u << 20;
constexpr std::size_t kMaxArenaBytes = std::size_t{64} << 30;

template <typename T>
Result<T> read_json(const fs::path& path) {
  auto text = sys::read_file(path, kMaxTextBytes);
  if (!text) return Error{ErrorKind::usage, text.error().message};
  KAGENT_TRY(const wire::Json json, wire::parse_text(*text, path.string()));
  auto parsed = wire::parse<T>(json);
  if (!parsed) return Error{ErrorKind::usage, path.string() + ": " + parsed.error().message};
  return parsed;
}

Result<sys::Fd> open_file(const fs::path& path) {
  sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error{ErrorKind::usage, path.string() + ": " + std::strerror(errno)};
  return file;
}

Result<std::optional<ArenaFile>> read_arena(const fs::path& folder, const std::string& name) {
  const fs::path layout = folder / (name + ".json");
  if (!fs::exists(layout)) return std::optional<ArenaFile>();
  ArenaFile arena;
  KAGENT_TRY(arena.layout, read_json<ArenaLayout>(layout));
  KAGENT_TRY_VOID(plan::check_layout(arena.layout, name));
  const fs::path bytes = folder / (name + ".bin");
  if (!fs::exists(bytes)) return std::optional<ArenaFile>();
  KAGENT_TRY(arena.bytes, sys::read_file(bytes, kMaxArenaBytes));
  if (static_cast<std::int64_t>(arena.bytes.size()) < arena.layout.bytes) {
    return Error{ErrorKind::usage, bytes.string() + ": shorter than " + layout.string() + " says"};
  }
  return std::optional<ArenaFile>(std::move(arena));
}

}  // namespace

Result<PlanFolder> read_plan_folder(const fs::path& folder) {
  PlanFolder content;
  plan::LoadRequest& request = content.request;
  request.audit = true;
  KAGENT_TRY(request.plan, read_json<Plan>(folder / "plan.json"));
  KAGENT_TRY(request.build, read_json<BuildResult>(folder / "build.json"));
  const char* ending = request.plan.backend == Backend::cpu ? ".so" : ".cubin";
  for (std::size_t i = 0; i < request.build.units.size(); ++i) {
    KAGENT_TRY(sys::Fd image, open_file(folder / ("unit-" + std::to_string(i) + ending)));
    request.images.push_back(std::move(image));
  }
  KAGENT_TRY(content.weights, read_arena(folder, "weights"));
  KAGENT_TRY(content.inputs, read_arena(folder, "inputs"));
  if (fs::exists(folder / "instruments.cubin")) {
    KAGENT_TRY(request.instruments, open_file(folder / "instruments.cubin"));
  }
  return content;
}

}  // namespace kagent::runner
