// SPDX-License-Identifier: Apache-2.0
#include "builder/compile_unit.h"

#include <fmt/format.h>

namespace kagent::builder {

std::string probe_text(const CompileUnit& unit, CompilerKind compiler) {
  const char* kernel = compiler == CompilerKind::host ? "" : "__global__ ";
  std::string text = fmt::format(
      "\n#line 1001 \"{0}\"\n"
      "namespace kagent_probe {{ template <int N, class F> {1}void signature() {{}} "
      "template <int N, auto* K> {1}void entry() {{}} }}\n"
      "#line 1 \"{0}\"\n",
      kProbeFile, kernel);
  for (std::size_t i = 0; i < unit.kernels.size(); ++i) {
    text += fmt::format(
        "template {2}void kagent_probe::signature<{0}, decltype(&{1})>(); "
        "template {2}void kagent_probe::entry<{0}, &{1}>();\n",
        i, unit.kernels[i].request.name, kernel);
  }
  return text;
}

}  // namespace kagent::builder
