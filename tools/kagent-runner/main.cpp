// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "program.h"

#include <unistd.h>

int main(int argument_count, char** arguments) {
  const int code =
      kagent::runner::run_program(argument_count, arguments, kagent::runner::this_device());
  std::fflush(nullptr);
  // Exit handlers of the libraries behind libtorch_cuda abort on Ubuntu 24.04 ("free(): invalid
  // pointer") after all is done, and would turn every exit code into 134.
  ::_exit(code);
}
