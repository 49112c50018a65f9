// SPDX-License-Identifier: Apache-2.0
#include <kagent/plan.h>

namespace kagent {
namespace {

void collect(const OutputTree& tree, std::vector<ValueId>& tensors) {
  if (tree.kind == OutputTree::Kind::tensor) tensors.push_back(tree.tensor);
  for (const OutputTree& item : tree.items) collect(item, tensors);
}

}  // namespace

std::vector<ValueId> output_tensors(const OutputTree& tree) {
  std::vector<ValueId> tensors;
  collect(tree, tensors);
  return tensors;
}

}  // namespace kagent
