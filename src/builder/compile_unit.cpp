// SPDX-License-Identifier: Apache-2.0
#include "builder/compile_unit.h"

#include <fmt/format.h>

namespace kagent::builder {

std::string probe_text(const CompileUnit& unit, CompilerKind compiler) {
  // On the host an unused variable over a static function would be dropped.
  const char* kind = compiler == CompilerKind::host ? "__attribute__((used)) " : "__device__ ";
  std::string text = fmt::format(
      "\n#line 1001 \"{0}\"\n"
      "namespace kagent_probe {{ template <int N, auto* K, class F> {1}int kernel; }}\n"
      "#line 1 \"{0}\"\n",
      kProbeFile, kind);
  for (std::size_t i = 0; i < unit.kernels.size(); ++i) {
    text += fmt::format("template {2}int kagent_probe::kernel<{0}, &{1}, decltype(&{1})>;\n", i,
                        unit.kernels[i].request.name, kind);
  }
  return text;
}

}  // namespace kagent::builder
