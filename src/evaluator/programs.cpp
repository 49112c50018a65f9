// SPDX-License-Identifier: Apache-2.0
#include "evaluator/programs.h"

#include <algorithm>
#include <cstdlib>

#include "sys/files.h"
#include "wire/json.h"

namespace kagent::evaluator {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long kMostProcesses = 1024;   // inductor's compilers and torch's threads fit

/// Built from nothing: no key of ours, no override of torch's precision can get in.
std::vector<std::string> clean_environment(const fs::path& compiler) {
  std::vector<std::string> environment{
      "PATH=" + compiler.parent_path().string() +
          ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "CXX=" + compiler.string(),
      "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "USER=kagent", "LOGNAME=kagent",
      "GOMP_SPINCOUNT=0", "OMP_WAIT_POLICY=PASSIVE"};
  for (const char* name : {"LD_LIBRARY_PATH", "OMP_NUM_THREADS", "KAGENT_CUDA_INCLUDE"}) {
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
  return environment;
}

void add_gpu_environment(std::vector<std::string>& environment) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
}

WorkerStart base_start(const Installation& installation, const std::string& name) {
  WorkerStart start;
  start.name = name;
  start.policy.limits.processes = kMostProcesses;
  start.environment = clean_environment(installation.compiler);
  start.policy.read_only.push_back({installation.libexec, installation.libexec});
  start.policy.read_only.push_back({installation.share, installation.share});
  for (const auto& folder : installation.mounts) {
    start.policy.read_only.push_back({folder, folder});
  }
  return start;
}

}  // namespace

Result<Installation> Installation::find() {
  Installation installation;
  KAGENT_TRY(const fs::path root, sys::installation_root());
  installation.libexec = root / "libexec/kagent";
  installation.share = root / "share/kagent";
  const fs::path description = installation.libexec / "python.json";
  auto text = sys::read_file(description, 1 << 16);
  if (!text) {
    return Error{ErrorKind::environment, description.string() +
                                             " is missing: kagent was built without torch; see "
                                             "scripts/quickstart"};
  }
  KAGENT_TRY(const auto json, wire::parse_text(*text, description.string()));
  installation.python = json.value("python", "");
  installation.compiler = json.value("compiler", "/usr/bin/c++");
  for (const auto& folder : json.value("mounts", std::vector<std::string>{})) {
    std::error_code code;
    if (fs::exists(folder, code)) installation.mounts.emplace_back(folder);
  }
  if (const char* chosen = std::getenv("KAGENT_PYTHON"); chosen != nullptr && *chosen != '\0') {
    installation.python = chosen;
  }
  std::error_code code;
  if (!fs::exists(installation.python, code)) {
    return Error{ErrorKind::environment, "no Python at " + installation.python.string() +
                                             "; build again, or set KAGENT_PYTHON"};
  }
  return installation;
}

sandbox::Mount task_mount(const fs::path& folder, sandbox::Tier tier) {
  return sandbox::place(folder, "/task", tier);
}

sandbox::Mount candidates_mount(const fs::path& folder, sandbox::Tier tier) {
  return sandbox::place(folder, "/candidates", tier);
}

sandbox::Mount cache_mount(const fs::path& folder, sandbox::Tier tier) {
  return sandbox::place(folder, "/cache", tier);
}

WorkerStart recorder_start(const Installation& installation, const sandbox::Mount& candidates) {
  WorkerStart start = base_start(installation, "recorder");
  start.arguments = {installation.python.string(), "-I",
                     (installation.libexec / "recorder/main.py").string()};
  start.environment.emplace_back("CUDA_VISIBLE_DEVICES=");
  start.environment.emplace_back("PYTORCH_NVML_BASED_CUDA_CHECK=1");
  start.policy.read_only.push_back(candidates);
  start.policy.calls = sandbox::Calls::server;
  start.policy.limits.data_bytes = std::min<std::uint64_t>(16ul << 30, sandbox::usual_memory_limit());
  start.policy.limits.file_bytes = 64ul << 20;
  return start;
}

WorkerStart builder_start(const Installation& installation) {
  WorkerStart start = base_start(installation, "builder");
  start.arguments = {(installation.libexec / "kagent-builder").string()};
  start.policy.calls = sandbox::Calls::server;
  start.policy.limits.data_bytes = std::min<std::uint64_t>(16ul << 30, sandbox::usual_memory_limit());
  start.policy.limits.file_bytes = 1ul << 30;
  return start;
}

WorkerStart runner_start(const Installation& installation, Backend backend) {
  WorkerStart start = base_start(installation, "runner");
  const bool cuda = backend == Backend::cuda;
  start.arguments = {(installation.libexec / (cuda ? "kagent-runner-cuda" : "kagent-runner")).string()};
  if (cuda) {
    start.policy.gpu = sandbox::GpuAccess::devices;
    add_gpu_environment(start.environment);
  }
  start.policy.calls = sandbox::Calls::server;
  start.policy.limits.data_bytes = sandbox::usual_memory_limit();
  start.policy.limits.file_bytes = 64ul << 30;
  return start;
}

WorkerStart reference_start(const Installation& installation, Backend backend,
                            const sandbox::Mount& task_folder, const sandbox::Mount& cache) {
  WorkerStart start = base_start(installation, "reference");
  start.arguments = {installation.python.string(), "-I",
                     (installation.libexec / "reference/main.py").string()};
  start.policy.read_only.push_back(task_folder);
  start.policy.read_write.push_back(cache);
  start.policy.limits.data_bytes = sandbox::usual_memory_limit();
  start.policy.limits.file_bytes = 64ul << 30;
  start.environment.push_back("TORCHINDUCTOR_CACHE_DIR=" + (cache.theirs / "inductor").string());
  start.environment.push_back("TRITON_CACHE_DIR=" + (cache.theirs / "triton").string());
  if (backend == Backend::cuda) {
    start.policy.gpu = sandbox::GpuAccess::devices;
    add_gpu_environment(start.environment);
  } else {
    start.environment.emplace_back("CUDA_VISIBLE_DEVICES=");
  }
  return start;
}

}  // namespace kagent::evaluator
