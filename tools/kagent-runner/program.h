// SPDX-License-Identifier: Apache-2.0
// Both runner programs: a server without arguments, an audit of one plan folder with them.
#pragma once

#include "plan/device_program.h"

namespace kagent::runner {

/// What this program brings along; kagent-runner and kagent-runner-cuda each define it.
const plan::DeviceProgram& this_device();

/// `kagent-runner` (frames on descriptor 3) or `kagent-runner audit FOLDER`. Returns the exit code.
int run_program(int argument_count, char** arguments, const plan::DeviceProgram& device);

}  // namespace kagent::runner
