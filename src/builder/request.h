// SPDX-License-Identifier: Apache-2.0
// What the builder is asked for and what comes of it (docs/protocol.md, "Builder").
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include <kagent/build.h>
#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/result.h>
#include <kagent/settings.h>

#include "sys/fd.h"

namespace kagent::builder {

/// "kernels/softmax.cu" -> its text: every file under kernels/.
using Sources = std::map<std::string, std::string>;

struct KernelToBuild {
  int kernel = -1;        // index into Plan::kernels
  KernelRequest request;  // at names the line of model_new.py; its file may be empty
};

struct BuildRequest {
  Backend backend = Backend::cuda;
  std::string architecture;  // "sm_90a"; "native" on the CPU backend
  Compiler compiler = Compiler::automatic;
  Sources sources;
  std::vector<KernelToBuild> kernels;
};

/// One image for each unit of `result`, in its order: sealed memory files.
struct Built {
  BuildResult result;
  std::vector<sys::Fd> images;
};

using BuildOutcome = std::variant<Built, Fault>;

/// What the candidate did wrong, or a value. Unlike Result<T>, whose error is ours.
template <typename T>
using Checked = std::variant<T, Fault>;

}  // namespace kagent::builder
