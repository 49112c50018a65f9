// SPDX-License-Identifier: Apache-2.0
#include "report/operators_markdown.h"

#include "base/operator_table.h"
#include "base/text.h"

#include <map>
#include <vector>

namespace kagent::report {
namespace {

constexpr const char* kIntroduction = R"(# Operators that a candidate may use

Generated from `src/base/operator_table.cpp` by `scripts/update-operators-doc`; a test compares. Names are ATen overloads as
PyTorch 2.11 records them: `torch.softmax` becomes `aten::_softmax`, `F.linear` becomes `aten::addmm`, `x[:, 1:]` becomes `aten::slice.Tensor`.

| where | what is allowed |
| --- | --- |
| `forward`, always | launches of your own kernels; `view`, `factory`, `fill`, `copy`, `cast` |
| `forward`, by default (`--allow-ops gemm,conv`) | besides: library calls for matrix products and convolutions, fused forms included |
| `forward`, `--allow-ops none` | nothing besides |
| `forward`, `--allow-ops gemm,aten::_softmax` | besides: the groups and overloads that are named; each overload is a label of the result |
| `forward`, `--allow-ops any` | everything on this page; without a launch of your own the result is labelled `torch_only` |
| `prepare` | the groups that say so below, whatever `--allow-ops` says |

An operator that is not on this page cannot be replayed. None that takes a file, a storage or another device, draws random
numbers, resizes a tensor, or returns a tensor whose size depends on data is here. Views stay inside their tensor's memory,
factories make at most 2^40 bytes, `pin_memory` must be false, attention has no dropout, and normalization
does not update running statistics. Only views and uninitialised memory cost no device time; everything else is measured.
)";

std::string when_allowed(base::OperatorGroup group) {
  if (base::is_always_allowed(group)) return "always";
  if (base::is_allowed_by_name(group)) {
    return std::string("by default, or `--allow-ops ") + base::word(group) + "`";
  }
  return "only by name or `--allow-ops any`";
}

}  // namespace

std::string operators_markdown() {
  struct Section {
    bool in_prepare = false;
    std::vector<std::string> overloads;
  };
  std::map<base::OperatorGroup, Section> sections;
  for (const base::OperatorRow& row : base::operator_table()) {
    Section& section = sections[row.group];
    section.in_prepare = row.in_prepare;
    section.overloads.push_back("`" + std::string(row.overload) + "`");
  }
  std::string text = kIntroduction;
  for (const auto& [group, section] : sections) {
    text += std::string("\n## ") + base::word(group) + "\nIn `forward`: " + when_allowed(group) +
            ". In `prepare`: " + (section.in_prepare ? "always" : when_allowed(group)) + ".\n\n" +
            base::join(section.overloads, " ") + "\n";
  }
  return text;
}

}  // namespace kagent::report
