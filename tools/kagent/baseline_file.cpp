// SPDX-License-Identifier: Apache-2.0
#include "baseline_file.h"

#include "base/hash.h"
#include "sys/files.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {

Result<std::filesystem::path> store_baseline(const std::filesystem::path& cache, const Task& task,
                                             const JudgeSettings& settings,
                                             const DeviceRecord& device,
                                             const nlohmann::json& versions,
                                             const nlohmann::json& record) {
  const std::string key = base::sha256_hex(wire::dump({{"device", wire::to_json(device)},
                                                       {"versions", versions},
                                                       {"task", task.hash},
                                                       {"mode", wire::word(settings.mode)},
                                                       {"numerics", wire::word(settings.numerics)}}));
  const auto folder = cache / "baselines";
  KAGENT_TRY_VOID(sys::make_directories(folder));
  const auto path = folder / fmt::format("{}-{}.json", task.name.substr(0, 80), key.substr(0, 16));
  KAGENT_TRY_VOID(sys::write_file_atomically(path, wire::dump(record, 1) + "\n"));
  return path;
}

}  // namespace kagent::cli
