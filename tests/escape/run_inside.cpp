// SPDX-License-Identifier: Apache-2.0
// kagent-run-inside TIER FOLDER PROGRAM ARGUMENT...: a program in the sandbox with the GPU's nodes, FOLDER
// read-write and read-only whatever libraries KAGENT_SHOW (folders, colon-separated) names. For trying tools by hand.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "sandbox/child.h"

#include <unistd.h>

int main(int argument_count, char** arguments) {
  using namespace kagent;
  if (argument_count < 4) {
    std::fprintf(stderr, "usage: kagent-run-inside TIER FOLDER PROGRAM ARGUMENT...\n");
    return 2;
  }
  auto tier = sandbox::tier_of(arguments[1]);
  if (!tier) {
    std::fprintf(stderr, "%s\n", tier.error().message.c_str());
    return 2;
  }
  sandbox::Policy policy;
  policy.gpu = sandbox::GpuAccess::devices;
  policy.directory = arguments[2];
  policy.read_write.push_back({arguments[2], arguments[2]});
  const char* shown = std::getenv("KAGENT_SHOW");
  std::istringstream folders(shown != nullptr ? shown : "");
  for (std::string folder; std::getline(folders, folder, ':');) policy.read_only.push_back({folder, folder});
  policy.limits.processes = 1024;
  sys::SpawnRequest request;
  request.arguments.assign(arguments + 3, arguments + argument_count);
  request.environment = {"PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp"};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(name)) request.environment.push_back(std::string(name) + "=" + value);
  }
  request.output = STDOUT_FILENO;
  auto child = sandbox::Child::start(std::move(request), std::move(policy), *tier);
  if (!child) {
    std::fprintf(stderr, "%s\n", child.error().message.c_str());
    return 1;
  }
  const auto status = child->wait();
  return status->code.value_or(128 + status->signal.value_or(0));
}
