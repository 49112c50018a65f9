// SPDX-License-Identifier: Apache-2.0
#include "sandbox/child.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sandbox/bubblewrap.h"
#include "sandbox/defence.h"
#include "sandbox/order.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUsualProcesses = 4096;

/// Without a root of its own a child needs a path that its user can walk.
Result<void> check_reach(const Policy& policy, bool was_root) {
  if (!was_root) return {};
  for (const auto* list : {&policy.read_only, &policy.read_write}) {
    for (const auto& mount : *list) {
      for (fs::path folder = mount.ours.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        struct stat status {};
        if (::stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) != 0) continue;
        if (status.st_gid == sys::kSandboxUser && (status.st_mode & S_IXGRP) != 0) continue;
        return Error{ErrorKind::environment,
                     "sandbox: landlock has no root of its own, and " + folder.string() + " is closed to user " +
                         std::to_string(sys::kSandboxUser) + ", who needs " + mount.ours.string() +
                         "; move it, open the folder with chmod o+x, or run where namespaces are allowed"};
      }
    }
  }
  return {};
}

void lead_to(std::vector<std::string>& environment, const std::string& folder) {
  for (auto& entry : environment) {
    for (const std::string name : {"HOME=", "TMPDIR="}) {
      if (entry == name + "/tmp") entry = name + folder;
    }
  }
}

}  // namespace

Result<fs::path> launcher() {
  KAGENT_TRY(const fs::path root, sys::installation_root());
  const char* name = "kagent-sandbox";
#ifdef KAGENT_SANDBOX_HOLES
  name = "kagent-sandbox-with-holes";
#endif
  fs::path program = root / "libexec/kagent" / name;
  std::error_code code;
  if (fs::exists(program, code)) return program;
  return Error{ErrorKind::environment, program.string() + " is missing; build or install kagent again"};
}

Result<Child> Child::start(sys::SpawnRequest request, Policy policy, Tier tier) {
  KAGENT_CHECK(request.directory.empty() && !request.arguments.empty());
  request.limits = policy.limits;
  if (tier == Tier::none) {
    request.directory = policy.directory;
    KAGENT_TRY(auto process, sys::Process::spawn(request));
    return Child(std::move(process), {});
  }
  Order order{tier, ::geteuid() == 0, policy};
  KAGENT_TRY(const fs::path program, launcher());
  std::unique_ptr<sys::TemporaryDirectory> private_folder;
  if (!has_own_root(tier)) {
    KAGENT_TRY_VOID(check_reach(policy, order.was_root));
    KAGENT_TRY(auto folder, sys::TemporaryDirectory::create("kagent-private"));
    private_folder = std::make_unique<sys::TemporaryDirectory>(std::move(folder));
    KAGENT_TRY_VOID(sys::give_to_sandbox_user(private_folder->path()));
    order.policy.read_write.push_back({private_folder->path(), private_folder->path()});
    if (policy.directory == "/tmp") order.policy.directory = private_folder->path();
    lead_to(request.environment, private_folder->path());
  }
  std::vector<std::string> arguments;
  if (has_own_root(tier)) arguments = {program.string(), "--guard", "--"};
  if (tier == Tier::bubblewrap) {
    policy.read_only.push_back({program, program});
    KAGENT_TRY(const auto wall, bubblewrap_arguments(policy));
    arguments.insert(arguments.end(), wall.begin(), wall.end());
  }
  arguments.insert(arguments.end(), {program.string(), to_text(order), "--"});
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  request.arguments = std::move(arguments);
#ifdef KAGENT_SANDBOX_HOLES
  if (const char* hole = std::getenv(kHoleVariable)) request.environment.push_back(std::string(kHoleVariable) + "=" + hole);
#endif

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{ErrorKind::environment, std::string("start a process: ") + std::strerror(errno)};
  }
  sys::Fd reader(ends[0]);
  const sys::Fd writer(ends[1]);
  request.descriptors.emplace_back(writer.get(), kStatusDescriptor);
  auto group = ControlGroup::create(policy.tree_bytes != 0 ? policy.tree_bytes : usual_memory_limit(),
                                    policy.limits.processes.value_or(kUsualProcesses));
  if (group) request.control_group = group->members().string();
  // The launcher sets this one, for the user that it becomes; for root it would not count.
  request.limits.processes.reset();
  request.ends_own_tree = true;
  KAGENT_TRY(auto process, sys::Process::spawn(request));
  Child child(std::move(process), std::move(reader));
  child.private_folder_ = std::move(private_folder);
  child.group_ = std::move(group);
  return child;
}

std::optional<sys::ExitStatus> Child::wait(std::optional<Clock::time_point> deadline, int stop_fd) {
  if (told_) return told_;
  auto status = process_.wait(deadline, stop_fd);
  if (!status || !status_) return status;
  int raw = 0;
  if (::read(status_.get(), &raw, sizeof raw) == static_cast<ssize_t>(sizeof raw)) {
    status = sys::ExitStatus{};
    if (WIFEXITED(raw)) status->code = WEXITSTATUS(raw);
    if (WIFSIGNALED(raw)) status->signal = WTERMSIG(raw);
  }
  told_ = status;
  return status;
}

void Child::kill() { process_.kill(); }

}  // namespace kagent::sandbox
