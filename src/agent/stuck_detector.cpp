// SPDX-License-Identifier: Apache-2.0
#include "agent/stuck_detector.h"

#include "base/hash.h"
#include "wire/json.h"

#include <algorithm>
#include <cctype>

namespace kagent::agent {
namespace {

bool is_digit(char byte) { return std::isdigit(static_cast<unsigned char>(byte)) != 0; }
bool is_hex(char byte) { return std::isxdigit(static_cast<unsigned char>(byte)) != 0; }

/// Arguments in one spelling, where they are JSON at all.
std::string canonical(const std::string& arguments) {
  const auto json = wire::parse_text(arguments, "arguments");
  return json ? wire::dump(*json) : arguments;
}

}  // namespace

std::string without_measurements(const std::string& outcome) {
  std::string text;
  std::size_t i = 0;
  const auto skip_while = [&](auto wanted) {
    while (i < outcome.size() && wanted(outcome[i])) ++i;
  };
  while (i < outcome.size()) {
    const std::size_t start = i;
    if (outcome.compare(i, 2, "0x") == 0) {
      i += 2;
      skip_while(is_hex);
      text += "0x";
    } else if (outcome[i] == '#') {
      ++i;
      skip_while(is_digit);
      text += '#';
    } else if (is_digit(outcome[i])) {
      skip_while(is_digit);
      const bool fraction = i + 1 < outcome.size() && outcome[i] == '.' && is_digit(outcome[i + 1]);
      if (fraction) {
        ++i;
        skip_while(is_digit);
        text += '~';
      } else {
        text.append(outcome, start, i - start);
      }
    } else {
      text += outcome[i++];
    }
  }
  return text;
}

Repetition StuckDetector::observe(const ToolCall& call, const std::string& outcome) {
  base::Sha256 hash;
  hash.update(call.tool + '\n' + canonical(call.arguments) + '\n');
  hash.update(without_measurements(outcome));
  recent_.push_back(hash.hex());
  if (recent_.size() > kWindow) recent_.pop_front();
  const auto times = std::count(recent_.begin(), recent_.end(), recent_.back());
  if (times >= kStuckAt) return Repetition::stuck;
  return times == kNudgeAt ? Repetition::nudge : Repetition::none;
}

}  // namespace kagent::agent
