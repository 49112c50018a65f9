// SPDX-License-Identifier: Apache-2.0
#include "status_line.h"

#include "base/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace kagent::cli {
namespace {

/// At most that many characters; what is too long ends in "…".
std::string fitted(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && ++characters == columns) return text.substr(0, i) + "…";
  }
  return text;
}

/// "time round 7/20" is of the kind "time round ".
std::string kind_of(const std::string& phase) {
  return phase.substr(0, phase.find_first_of("0123456789"));
}

}  // namespace

TerminalSize terminal_size() {
  winsize size{};
  TerminalSize result;
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col >= 20) result.columns = size.ws_col;
  if (size.ws_row >= 5) result.lines = size.ws_row;
  return result;
}

StatusLine::Style StatusLine::style_for(bool quiet) {
  if (quiet) return Style::silent;
  const char* ci = std::getenv("CI");
  const bool terminal = ::isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
  return terminal ? Style::terminal : Style::lines;
}

StatusLine::StatusLine(Style style) : style_(style) {
  if (style_ == Style::terminal) ticker_ = std::thread([this] { draw_each_second(); });
}

StatusLine::~StatusLine() {
  end();
  if (ticker_.joinable()) ticker_.join();
}

void StatusLine::draw_each_second() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) {
    if (drawn_) draw();
  }
}

void StatusLine::phase(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || style_ == Style::silent) return;
  phase_ = base::one_line(text, 100);
  if (style_ == Style::terminal) return draw();
  // "time round 7/20" twenty times over says nothing in a log.
  std::string kind = kind_of(phase_);
  if (kind == last_kind_) return;
  last_kind_ = std::move(kind);
  fmt::print(stderr, "kagent: {}\n", phase_);
}

void StatusLine::stands(const agent::RunStatus& status, const std::string& next) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || style_ == Style::silent) return;
  // In a log, once a turn.
  if (style_ == Style::lines && status.between_turns && status.turns > 0) {
    fmt::print(stderr, "kagent: so far {}\n", agent::status_text(status));
  }
  started_ = true;
  status_ = status;
  phase_ = next;
  as_of_ = std::chrono::steady_clock::now();
  if (style_ == Style::terminal) draw();
}

void StatusLine::say(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (style_ == Style::silent) return;
  erase();
  fmt::print(stderr, "kagent: {}\n", line);
  if (style_ == Style::terminal && !ended_) draw();
}

void StatusLine::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  erase();
  ended_ = true;
  changed_.notify_all();
}

void StatusLine::draw() {
  std::string text = phase_;  // first: what is long is cut at the terminal's edge
  if (started_) {
    agent::RunStatus now = status_;
    now.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - as_of_).count();
    text += (text.empty() ? "" : " · ") + agent::status_text(now);
  }
  fmt::print(stderr, "\r\x1b[K{}", fitted(text, terminal_size().columns));
  std::fflush(stderr);
  drawn_ = true;
}

void StatusLine::erase() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace kagent::cli
