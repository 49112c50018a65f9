// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fakes/test_folder.h"
#include "sys/files.h"

namespace kagent::toolbox {

/// workspace/ with a given task.py, as workspace::create leaves it: it belongs to the sandbox's
/// user.
inline void prepare_for_shell(const fakes::TestFolder& test) {
  std::filesystem::create_directories(test / "workspace");
  (void)sys::give_to_sandbox_user(test / "workspace");
  test.write("workspace/task.py", "task\n");
}

}  // namespace kagent::toolbox
