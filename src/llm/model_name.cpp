// SPDX-License-Identifier: Apache-2.0
#include "llm/model_name.h"

#include "base/text.h"

namespace kagent::llm {

Result<ModelName> parse_model_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string shown = base::one_line(text, 100);
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return Error{ErrorKind::usage,
                 "--model " + shown + ": expected PROVIDER/MODEL, for example replay/FILE"};
  }
  ModelName name{text.substr(0, slash), text.substr(slash + 1)};
  if (name.provider != "replay") {
    return Error{ErrorKind::usage, "--model " + shown + ": unknown provider \"" +
                                       base::one_line(name.provider, 40) +
                                       "\"; this version knows replay"};
  }
  return name;
}

}  // namespace kagent::llm
