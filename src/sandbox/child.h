// SPDX-License-Identifier: Apache-2.0
// A process and its tree, held to a policy.
#pragma once

#include <memory>
#include <optional>

#include "sandbox/control_group.h"
#include "sandbox/policy.h"
#include "sys/files.h"

namespace kagent::sandbox {

class Child {
 public:
  using Clock = sys::Process::Clock;

  /// Runs request.arguments under the policy. The environment stays as given, but that HOME and TMPDIR
  /// lead to a private folder instead of /tmp where there is no root of its own. request.directory and
  /// request.limits must be as constructed: the policy has them. An Error names what keeps it from starting;
  /// what goes wrong in the launcher itself ends the child with exit code 71 and a line on its output.
  static Result<Child> start(sys::SpawnRequest request, Policy policy, Tier tier);

  /// As Process::wait; the status is the program's own.
  std::optional<sys::ExitStatus> wait(std::optional<Clock::time_point> deadline = {}, int stop_fd = -1);

  /// Ends the whole tree.
  void kill();

  /// Of the process that we started: the tree's first.
  int id() const { return process_.id(); }

 private:
  Child(sys::Process process, sys::Fd status) : status_(std::move(status)), process_(std::move(process)) {}

  std::unique_ptr<sys::TemporaryDirectory> private_folder_;
  std::optional<ControlGroup> group_;
  sys::Fd status_;               // what the launcher writes
  sys::Process process_;
  std::optional<sys::ExitStatus> told_;
};

/// Exit code of the launcher where it cannot do what it was told.
inline constexpr int kLauncherFailed = 71;

/// libexec/kagent/kagent-sandbox of this program's own tree.
Result<std::filesystem::path> launcher();

}  // namespace kagent::sandbox
