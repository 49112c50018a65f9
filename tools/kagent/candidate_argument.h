// SPDX-License-Identifier: Apache-2.0
// CANDIDATE on a command line: a folder with model_new.py, or that file itself.
#pragma once

#include <string>
#include <vector>

#include <kagent/result.h>

#include "sys/files.h"
#include "workspace/freeze.h"

namespace kagent::cli {

struct FrozenArgument {
  sys::TemporaryDirectory folder;      // holds <hash>/source; gone at the end
  workspace::Frozen content;
};

Result<FrozenArgument> freeze_argument(const std::string& candidate);

/// Several candidates of one task, all in one folder, in the order given.
struct FrozenArguments {
  sys::TemporaryDirectory folder;
  std::vector<workspace::Frozen> contents;
};

Result<FrozenArguments> freeze_arguments(const std::vector<std::string>& candidates);

}  // namespace kagent::cli
