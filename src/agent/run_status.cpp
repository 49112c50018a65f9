// SPDX-License-Identifier: Apache-2.0
#include "agent/run_status.h"

#include "toolbox/feedback.h"

#include <fmt/format.h>

namespace kagent::agent {
namespace {

std::string tokens_text(std::int64_t tokens) {
  if (tokens < 10'000) return std::to_string(tokens);
  if (tokens < 10'000'000) return fmt::format("{}k", tokens / 1000);
  return fmt::format("{:.1f}M", static_cast<double>(tokens) / 1e6);
}

std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string minutes_text(double seconds, const std::optional<double>& most) {
  if (!most)
    return seconds < 60 ? seconds_text(seconds) + " s" : fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} of {:.0f} min", seconds / 60, *most / 60);
}

}  // namespace

std::string status_text(const RunStatus& status) {
  std::string text = fmt::format("turn {}/{}", status.turns, status.max_turns);
  if (status.tokens > 0 || status.max_tokens) {
    text += " · " + tokens_text(status.tokens);
    if (status.max_tokens) text += " of " + tokens_text(*status.max_tokens);
    text += " tokens";
  }
  if (status.max_usd) {
    text += fmt::format(" · ${:.2f} of ${:.2f}", status.usd, *status.max_usd);
  } else if (status.usd > 0) {
    text += fmt::format(" · ${:.2f}", status.usd);
  }
  text += " · " + minutes_text(status.seconds, status.max_seconds);
  if (status.max_device_seconds) {
    text += fmt::format(" · device {} of {:.0f} s", seconds_text(status.device_seconds),
                        *status.max_device_seconds);
  } else if (status.device_seconds > 0) {
    text += " · device " + seconds_text(status.device_seconds) + " s";
  }
  if (status.candidates > 0) {
    text += fmt::format(" · {} candidate{}", status.candidates, status.candidates == 1 ? "" : "s");
    text += status.best
                ? fmt::format(", best #{}: {}", status.best->number, toolbox::figures(*status.best))
                : ", none correct";
  }
  return text;
}

}  // namespace kagent::agent
