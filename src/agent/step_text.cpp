// SPDX-License-Identifier: Apache-2.0
#include "agent/step_text.h"

#include "base/text.h"
#include "wire/json.h"

namespace kagent::agent {

std::string first_line(const std::string& text) {
  return base::one_line(text.substr(0, text.find('\n')), 160);
}

std::string step_text(const ToolCall& call, const ToolOutcome& outcome) {
  std::string text = base::one_line(call.tool, 40);
  const auto arguments = wire::parse_text(call.arguments, "arguments");
  if (arguments && arguments->is_object()) {
    for (const char* subject : {"path", "command"}) {
      const auto at = arguments->find(subject);
      if (at == arguments->end() || !at->is_string()) continue;
      text += " " + base::one_line(at->get<std::string>(), 80);
    }
  }
  const bool content = call.tool == "read_file" && !outcome.is_error;
  return content ? text : text + ": " + first_line(outcome.text);
}

}  // namespace kagent::agent
