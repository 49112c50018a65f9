// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "audit.h"
#include "fork_server.h"
#include "plan/session.h"
#include "plan/warm.h"
#include "sandbox/fresh_child.h"

#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <string_view>

namespace kagent::runner {
namespace {

constexpr int kSuccess = 0;
constexpr int kUsage = 2;
constexpr int kEnvironment = 6;

int serve(const plan::DeviceProgram& device) {
  if (::fcntl(wire::kChannelDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(stderr,
                 "kagent-runner: no socket on descriptor 3; this program is started by "
                 "kagent, or by hand as: kagent-runner audit FOLDER\n");
    return kUsage;
  }
  std::signal(SIGPIPE, SIG_IGN);
  sandbox::hide_server();
  if (const auto warm = plan::warm_up(); !warm) {
    std::fprintf(stderr, "kagent-runner: %s\n", warm.error().message.c_str());
    return kEnvironment;
  }
  sandbox::Confinement confinement;
  confinement.gpu = device.backend == kagent::Backend::cuda;
  ForkServer server(wire::Channel(sys::Fd(wire::kChannelDescriptor)), confinement,
                    {{"torch", plan::torch_version()}},
                    [&device](wire::Channel channel, plan::ProgressPage& progress) {
                      plan::Session(std::move(channel), device, progress).serve();
                    });
  server.serve();
  return kSuccess;
}

}  // namespace

int run_program(int argument_count, char** arguments, const plan::DeviceProgram& device) {
  if (argument_count == 1) return serve(device);
  if (argument_count == 3 && std::string_view(arguments[1]) == "audit") {
    return audit(arguments[2], device);
  }
  std::fprintf(stderr, "usage: %s audit FOLDER   (see docs/audit-mode.md)\n", arguments[0]);
  return kUsage;
}

}  // namespace kagent::runner
