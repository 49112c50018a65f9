// SPDX-License-Identifier: Apache-2.0
// As tests/gpu/main.cpp: NVRTC beside libtorch_cuda aborts in an exit handler on Ubuntu 24.04.
#include <cstdio>

#include <unistd.h>

#include <gtest/gtest.h>

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  ::_exit(code);
}
