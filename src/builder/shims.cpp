// SPDX-License-Identifier: Apache-2.0
#include "builder/shims.h"

#include "builder/shim_texts.h"

namespace kagent::builder {

std::vector<std::pair<std::string, std::string>> shim_headers(bool with_target) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {kPrelude, shims::prelude},
      {"algorithm", shims::algorithm},
      {"array", shims::array},
      {"bit", shims::bit},
      {"cmath", shims::cmath},
      {"cstddef", shims::cstddef},
      {"stddef.h", "#pragma once\n#include <cstddef>\n"},
      {"cstdint", shims::cstdint},
      {"cuda.h", shims::cuda},
      {"cudaTypedefs.h", "#pragma once\n#include <cuda.h>\n"},
      {"functional", shims::functional},
      {"limits", shims::limits},
      {"type_traits", shims::type_traits},
      {"utility", shims::utility},
  };
  if (with_target) headers.emplace_back("nv/target", shims::nv_target);
  // What they would bring is in the prelude or built into NVRTC (printf, assert, memcpy).
  for (const char* name :
       {"stdint.h", "inttypes.h", "cinttypes", "math.h", "float.h", "cfloat", "limits.h", "climits",
        "assert.h", "cassert", "string.h", "cstring", "stdlib.h", "cstdlib", "stdio.h", "cstdio",
        "time.h", "ctime", "initializer_list"}) {
    headers.emplace_back(name, "#pragma once\n");
  }
  return headers;
}

}  // namespace kagent::builder
