// SPDX-License-Identifier: Apache-2.0
// What people watch while a batch runs, on stderr: on a terminal a table of the jobs at work, drawn anew below
// the lines that stay; elsewhere those lines alone.
#pragma once

#include <string>
#include <vector>

#include "batch/run_jobs.h"

namespace kagent::cli {

/// The rows of the table, header first, each at most `columns` characters; at most `lines` in all.
std::vector<std::string> batch_table(const std::vector<batch::JobObserver::Running>& running, std::size_t ended, std::size_t all,
                                     double cost_usd, std::size_t columns, std::size_t lines);

class LiveTable {
 public:
  explicit LiveTable(bool on_terminal) : on_terminal_(on_terminal) {}
  ~LiveTable() { erase(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  bool is_live() const { return on_terminal_; }
  void say(const std::string& line);                    // stays
  void draw(const std::vector<std::string>& rows);      // replaces the table before it
  void erase();

 private:
  bool on_terminal_;
  std::size_t drawn_ = 0;
};

}  // namespace kagent::cli
