// SPDX-License-Identifier: Apache-2.0
#include "program.h"

int main(int argument_count, char** arguments) {
  return kagent::runner::run_program(argument_count, arguments, kagent::runner::this_device());
}
