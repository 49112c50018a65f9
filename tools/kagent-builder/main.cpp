// SPDX-License-Identifier: Apache-2.0
// kagent-builder: compiles the kernels of candidates. Started by kagent inside a sandbox, with a
// conversation on descriptor 3. It never touches a GPU: a process that forks after NVRTC could not.
#include <csignal>
#include <cstdio>
#include <exception>

#include <fcntl.h>

#include "builder/engine.h"
#include "sandbox/fresh_child.h"
#include "server.h"

int main() {
  if (::fcntl(kagent::wire::kChannelDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(stderr, "kagent-builder is started by kagent, with a socket as descriptor 3\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  kagent::sandbox::hide_server();  // children that saw hostile source cannot look into us
  try {
    auto paths = kagent::builder::CompilerPaths::of_this_program();
    auto engine = paths ? kagent::builder::Engine::create(std::move(*paths))
                        : kagent::Result<std::unique_ptr<kagent::builder::Engine>>(paths.error());
    if (!engine) {
      std::fprintf(stderr, "kagent-builder: %s\n", engine.error().message.c_str());
      return 70;
    }
    (*engine)->warm_up();
    kagent::wire::Channel channel{kagent::sys::Fd(kagent::wire::kChannelDescriptor)};
    return kagent::builder::serve(**engine, channel);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "kagent-builder: %s\n", exception.what());
    return 70;
  }
}
