// SPDX-License-Identifier: Apache-2.0
#include "batch_table.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

/// At most that many characters; what is too long ends in "…".
std::string fitted(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && ++characters == columns) return text.substr(0, i) + "…";
  }
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  const std::string cut = fitted(text, width + 1);
  const auto characters = static_cast<std::size_t>(
      std::count_if(cut.begin(), cut.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  return cut + std::string(width - std::min(width, characters), ' ');
}

std::string clock(double seconds) {
  const int whole = static_cast<int>(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60) : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::vector<std::string> batch_table(const std::vector<batch::JobObserver::Running>& running, std::size_t ended, std::size_t all,
                                     double cost_usd, std::size_t columns, std::size_t lines) {
  std::size_t queued = 0;
  for (const auto& each : running) {
    queued += each.status.queued ? 1 : 0;
    cost_usd += each.status.cost_usd;
  }
  std::string head = fmt::format("{} of {} ended · {} at work, {} in the device's queue", ended, all, running.size(), queued);
  if (cost_usd > 0) head += fmt::format(" · ${:.2f}", cost_usd);
  std::vector<std::string> rows{fitted(head, columns)};
  constexpr std::size_t kName = 36;
  rows.push_back(fitted(padded("  task", kName + 2) + fmt::format("{:>8}{:>6}{:>9}{:>8}  state", "time", "turn", "best", "USD"), columns));
  for (const auto& each : running) {
    if (rows.size() + 1 >= lines) {   // a table higher than the screen could not be drawn anew
      rows.push_back(fmt::format("  … and {} more", running.size() - (rows.size() - 2)));
      break;
    }
    const auto& status = each.status;
    rows.push_back(fitted(
        "  " + padded(base::one_line(each.job->id, 200), kName) +
            fmt::format("{:>8}{:>6}{:>9}{:>8}  {}", clock(each.seconds), status.turns > 0 ? std::to_string(status.turns) : "-",
                        status.best_gain > 0 ? fmt::format("{:.2f}x", status.best_gain) : "-",
                        status.cost_usd > 0 ? fmt::format("{:.2f}", status.cost_usd) : "-",
                        status.queued ? "queued for the device" : status.phase.empty() ? "starts" : base::one_line(status.phase, 100)),
        columns));
  }
  return rows;
}

void LiveTable::say(const std::string& line) {
  erase();
  fmt::print(stderr, "kagent: {}\n", line);
  std::fflush(stderr);
}

void LiveTable::draw(const std::vector<std::string>& rows) {
  if (!on_terminal_) return;
  erase();
  for (const auto& row : rows) fmt::print(stderr, "{}\n", row);
  std::fflush(stderr);
  drawn_ = rows.size();
}

void LiveTable::erase() {
  if (drawn_ == 0) return;
  fmt::print(stderr, "\x1b[{}A\r\x1b[J", drawn_);   // up to its first line, and clear to the end
  std::fflush(stderr);
  drawn_ = 0;
}

}  // namespace kagent::cli
