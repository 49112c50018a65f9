// SPDX-License-Identifier: Apache-2.0
// Where the workers are and how each one is started: program, environment, what it may see.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>
#include <kagent/settings.h>

#include "evaluator/worker.h"

namespace kagent::evaluator {

/// The installed tree and the Python that it was built for (libexec/kagent/python.json;
/// KAGENT_PYTHON chooses another interpreter).
struct Installation {
  std::filesystem::path libexec;                    // …/libexec/kagent
  std::filesystem::path share;                      // …/share/kagent
  std::filesystem::path python;
  std::filesystem::path compiler;                   // C++; inductor calls it
  std::vector<std::filesystem::path> mounts;        // of both, outside /usr

  static Result<Installation> find();
};

/// Where a folder is found from inside a worker: mounted at a fixed place, or, without a sandbox,
/// where it is.
sandbox::Mount task_mount(const std::filesystem::path& folder, sandbox::Tier tier);
sandbox::Mount candidates_mount(const std::filesystem::path& folder, sandbox::Tier tier);
sandbox::Mount cache_mount(const std::filesystem::path& folder, sandbox::Tier tier);

WorkerStart recorder_start(const Installation& installation, const sandbox::Mount& candidates);
WorkerStart builder_start(const Installation& installation);
WorkerStart runner_start(const Installation& installation, Backend backend);
WorkerStart reference_start(const Installation& installation, Backend backend,
                            const sandbox::Mount& task_folder, const sandbox::Mount& cache);

}  // namespace kagent::evaluator
