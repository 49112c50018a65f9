// SPDX-License-Identifier: Apache-2.0
#include "toolbox/sandboxed_shell.h"

#include "sys/capture.h"
#include "sys/stop.h"

#include <utility>

namespace kagent::toolbox {
namespace {

constexpr std::size_t kKeptHeadBytes = 2u << 20;
constexpr std::size_t kKeptTailBytes = 2u << 20;
constexpr int kDrainMilliseconds = 2000;

}  // namespace

Result<sys::SpawnRequest> SandboxedShell::request(const std::string& command) const {
  sys::SpawnRequest request;
  request.arguments = {"/bin/bash", "--noprofile", "--norc", "-c", command};
  request.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=/tmp",
                         "TERM=dumb"};
  request.limits.file_bytes = 1ul << 30;
  request.limits.processes = 4096;
  sys::SandboxPolicy policy;
  const bool isolated = tier_ != sys::SandboxTier::none;
  const std::filesystem::path inside = isolated ? std::filesystem::path(kShellFolder) : workspace_;
  request.environment.push_back("HOME=" + inside.string());
  policy.directory = inside.string();
  policy.read_write.push_back({workspace_, inside});
  for (const std::string& path : read_only_) {
    if (!std::filesystem::exists(workspace_ / path)) continue;
    policy.read_only.push_back({workspace_ / path, inside / path});
  }
  return sys::sandboxed(std::move(request), policy, tier_);
}

Result<ShellOutcome> SandboxedShell::run(const std::string& command, std::chrono::seconds timeout) {
  KAGENT_TRY(sys::SpawnRequest spawn, request(command));
  KAGENT_TRY(auto capture, sys::OutputCapture::start(kKeptHeadBytes, kKeptTailBytes));
  spawn.output = capture->writer();
  KAGENT_TRY(sys::Process process, sys::Process::spawn(spawn));
  capture->close_writer();
  const auto status = process.wait(sys::Process::Clock::now() + timeout, sys::stop_fd());
  process.kill();  // also what the command left in the background
  capture->finish(kDrainMilliseconds);
  ShellOutcome outcome;
  outcome.output = capture->text();
  outcome.total_bytes = capture->total_bytes();
  if (!status) {
    outcome.end = sys::stop_requested() != 0 ? ShellEnd::interrupted : ShellEnd::timed_out;
  } else if (status->code) {
    outcome.code = *status->code;
  } else {
    outcome.end = ShellEnd::killed;
    outcome.code = status->signal.value_or(0);
  }
  return outcome;
}

}  // namespace kagent::toolbox
