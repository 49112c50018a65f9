// SPDX-License-Identifier: Apache-2.0
#include "llm/model_name.h"

#include "base/text.h"

namespace kagent::llm {

Result<ModelName> parse_model_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return Error{ErrorKind::usage, "--model " + base::one_line(text, 100) +
                                       ": expected PROVIDER/MODEL, for example replay/FILE"};
  }
  return ModelName{text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace kagent::llm
