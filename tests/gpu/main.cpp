// SPDX-License-Identifier: Apache-2.0
// Peers are forked first, while this process has one thread and knows nothing of CUDA.
#include <cstdio>
#include <cstring>

#include "card.h"
#include "gpu/timeline.h"
#include "gpu/timeline_library.h"
#include "peers.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace {

constexpr int kPeers = 8;

/// Run by TimelineTest.WorksInjected: the driver has brought the library in, nobody called start.
int be_injected() {
  const auto context = kagent::gpu::PrimaryContext::retain(0);
  if (!context) {
    std::printf("%s\n", context.error().message.c_str());
    return 1;
  }
  if (kagent_timeline_started() != 1) {
    std::printf("not started: %s\n", kagent_timeline_error());
    return 2;
  }
  const kagent::gpu::Driver& driver = context->driver();
  CUdeviceptr memory = 0;
  driver.cuMemAlloc(&memory, 4096);
  driver.cuMemsetD8Async(memory, 1, 4096, nullptr);
  driver.cuCtxSynchronize();
  const auto activities = kagent::gpu::collect_timeline();
  if (!activities) {
    std::printf("%s\n", activities.error().message.c_str());
    return 3;
  }
  return activities->size() == 1 ? 0 : 4;
}

}  // namespace

int main(int argument_count, char** arguments) {
  int code = 0;
  if (argument_count == 2 && std::strcmp(arguments[1], "--injected") == 0) {
    code = be_injected();
  } else {
    kagent::test::start_peers(kPeers);
    testing::InitGoogleTest(&argument_count, arguments);
    code = RUN_ALL_TESTS();
  }
  std::fflush(nullptr);
  // NVRTC linked beside libtorch_cuda aborts in an exit handler on Ubuntu 24.04 ("free(): invalid
  // pointer"), after all is done. The products load NVRTC in a process without torch.
  ::_exit(code);
}
