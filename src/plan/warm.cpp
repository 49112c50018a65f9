// SPDX-License-Identifier: Apache-2.0
#include "plan/warm.h"

#include "base/text.h"
#include "plan/operators.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <torch/headeronly/version.h>

namespace kagent::plan {

Result<void> warm_up() {
  at::set_num_threads(1);
  try {
    const at::Tensor small = at::ones({8, 8});
    const at::Tensor product = at::mm(small, small);
    KAGENT_CHECK(product.sum().item<double>() == 512.0);
  } catch (const std::exception& error) {
    return Error{ErrorKind::environment,
                 std::string("LibTorch cannot multiply two matrices: ") + error.what()};
  }
  const std::vector<std::string> missing = resolve_all_operators();
  if (!missing.empty()) {
    std::fprintf(stderr, "kagent-runner: LibTorch %s lacks %s; a plan that uses them cannot run\n",
                 torch_version().c_str(), base::join(missing, ", ").c_str());
  }
  return {};
}

std::string torch_version() { return TORCH_VERSION; }

}  // namespace kagent::plan
