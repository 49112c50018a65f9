// SPDX-License-Identifier: Apache-2.0
// What people watch while optimize runs, on stderr: on a terminal one line that is drawn anew as
// things happen and each second; elsewhere plain lines.
#pragma once

#include "agent/run_status.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace kagent::cli {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// Of the terminal behind stderr; the usual one where it does not say.
TerminalSize terminal_size();

class StatusLine {
 public:
  enum class Style { silent, lines, terminal };

  explicit StatusLine(Style style);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// By --quiet, by what stderr is, and by CI.
  static Style style_for(bool quiet);

  /// What is being done just now: "trial 3/5".
  void phase(const std::string& text);

  /// Where the run stands, and what is done next; its wall clock goes on from here.
  void stands(const agent::RunStatus& status, const std::string& next);

  /// A line that stays.
  void say(const std::string& line);

  /// Takes the live line away; nothing is drawn after it.
  void end();

 private:
  void draw_each_second();
  void draw();   // the mutex is held
  void erase();  // the mutex is held

  Style style_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  bool drawn_ = false;
  std::string phase_;
  std::string last_kind_;
  bool started_ = false;  // stands() was called
  agent::RunStatus status_;
  std::chrono::steady_clock::time_point as_of_;
  std::thread ticker_;  // last: it uses all of the above
};

}  // namespace kagent::cli
