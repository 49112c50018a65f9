// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kagent/chat.h>

namespace kagent {

struct ToolOutcome {
  std::string text;        // what the model is shown, already capped
  bool is_error = false;
  bool finish = false;     // the model says that it is done
  bool malformed = false;  // the arguments do not fit the schema; nothing was run
};

/// What the model may do. Faults of the model are outcomes with is_error, never exceptions.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual ToolSpec spec() const = 0;
  /// arguments: JSON text, not yet checked.
  virtual ToolOutcome run(const std::string& arguments) = 0;
};

}  // namespace kagent
