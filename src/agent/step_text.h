// SPDX-License-Identifier: Apache-2.0
// What people are told of one tool call.
#pragma once

#include <kagent/chat.h>
#include <kagent/tool.h>

#include <string>

namespace kagent::agent {

/// At most 160 bytes, printable.
std::string first_line(const std::string& text);

/// "edit_file kernels/a.cu: edited …"; of a file that was read, only its name.
std::string step_text(const ToolCall& call, const ToolOutcome& outcome);

}  // namespace kagent::agent
