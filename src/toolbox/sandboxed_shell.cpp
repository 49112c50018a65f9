// SPDX-License-Identifier: Apache-2.0
#include "toolbox/sandboxed_shell.h"

#include "sys/capture.h"
#include "sys/files.h"
#include "sys/stop.h"

#include <algorithm>
#include <utility>

namespace kagent::toolbox {
namespace {

constexpr std::size_t kKeptHeadBytes = 2u << 20;
constexpr std::size_t kKeptTailBytes = 2u << 20;
constexpr int kDrainMilliseconds = 2000;
constexpr auto kDiskInterval = std::chrono::milliseconds(500);

bool is_too_large(const sys::DiskUse& use) {
  return use.bytes > kMostWorkspaceBytes || use.files > kMostWorkspaceFiles;
}

}  // namespace

Result<sandbox::Child> SandboxedShell::start(const std::string& command, int output) const {
  sandbox::Policy policy;
  const auto place = sandbox::place(workspace_, kShellFolder, tier_);
  policy.directory = place.theirs.string();
  policy.read_write.push_back(place);
  for (const std::string& path : read_only_) {
    if (!std::filesystem::exists(workspace_ / path)) continue;
    policy.read_only.push_back({workspace_ / path, place.theirs / path});
  }
  policy.scratch_bytes = 1ull << 30;
  policy.limits.file_bytes = 1ul << 30;
  policy.limits.data_bytes = sandbox::usual_memory_limit() / 2;
  policy.limits.processes = 512;
  sys::SpawnRequest request;
  request.arguments = {"/bin/bash", "--noprofile", "--norc", "-c", command};
  request.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=/tmp", "TERM=dumb",
                         "HOME=" + policy.directory};
  request.output = output;
  return sandbox::Child::start(std::move(request), std::move(policy), tier_);
}

Result<ShellOutcome> SandboxedShell::run(const std::string& command, std::chrono::seconds timeout) {
  KAGENT_TRY(auto capture, sys::OutputCapture::start(kKeptHeadBytes, kKeptTailBytes));
  KAGENT_TRY(sandbox::Child child, start(command, capture->writer()));
  capture->close_writer();
  const auto deadline = sandbox::Child::Clock::now() + timeout;
  ShellOutcome outcome;
  std::optional<sys::ExitStatus> status;
  for (;;) {
    const auto next = std::min(deadline, sandbox::Child::Clock::now() + kDiskInterval);
    status = child.wait(next, sys::stop_fd());
    if (status) break;
    if (sys::stop_requested() != 0) outcome.end = ShellEnd::interrupted;
    else if (sandbox::Child::Clock::now() >= deadline) outcome.end = ShellEnd::timed_out;
    else if (is_too_large(sys::disk_use(workspace_))) outcome.end = ShellEnd::disk_full;
    else continue;
    break;
  }
  child.kill();  // also what the command left in the background
  capture->finish(kDrainMilliseconds);
  outcome.output = capture->text();
  outcome.total_bytes = capture->total_bytes();
  if (status && status->code) {
    outcome.code = *status->code;
  } else if (status) {
    outcome.end = ShellEnd::killed;
    outcome.code = status->signal.value_or(0);
  }
  return outcome;
}

}  // namespace kagent::toolbox
