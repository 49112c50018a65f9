// SPDX-License-Identifier: Apache-2.0
// What the model is shown of a long conversation: everything while it fits, then without old
// outputs, then a record that the harness made in place of the older turns. Pure.
#pragma once

#include <kagent/chat.h>
#include <kagent/trajectory.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kagent::agent {

enum class Fit {
  fits,       // nothing was changed
  edited,     // edit() says how; it goes into the journal
  exhausted,  // nothing more can be left out
};

class Context {
 public:
  /// fixed_bytes: of the system prompt and the tools. limit: tokens that a request and its reply
  /// may have.
  Context(std::string opening, std::size_t fixed_bytes, std::int64_t limit);

  /// Turns and the last edit of an earlier part of the run.
  void take_over(std::vector<Turn> turns, ContextEdit edit);

  void add(const Turn& turn);

  /// How many tokens the request really had; the estimate goes by it from then on.
  void learn(std::int64_t input_tokens);

  std::vector<Message> messages() const;
  std::int64_t tokens() const;  // of the next request, estimated

  /// Leaves out what must be left out. record: what stands for the turns that are not shown.
  Fit fit(const std::function<std::string()>& record);

  /// As fit(), where the server said that the request is too long whatever we thought.
  Fit shrink(const std::function<std::string()>& record);

  const ContextEdit& edit() const { return edit_; }

 private:
  std::size_t bytes(const ContextEdit& edit) const;
  std::int64_t tokens(const ContextEdit& edit) const;
  bool prune(std::int64_t room);
  Fit rebuild(std::int64_t room, const std::string& record);
  int next_turn() const { return static_cast<int>(turns_.size()) + 1; }

  std::string opening_;
  std::size_t fixed_bytes_;
  std::int64_t limit_;
  double bytes_per_token_ = 3.5;  // of code; learned from each usage report
  std::vector<Turn> turns_;       // numbered from 1 without gaps
  ContextEdit edit_;
  int rebuilds_in_a_row_ = 0;  // each within five turns of the one before
};

/// What of the turns, and of the first user message, is shown as the edit leaves it.
std::vector<Turn> shown_turns(const std::vector<Turn>& turns, const ContextEdit& edit);
std::string shown_opening(const std::string& opening, const ContextEdit& edit);

/// The history as the edit leaves it.
std::vector<Message> history(const std::string& opening, const std::vector<Turn>& turns,
                             const ContextEdit& edit);

}  // namespace kagent::agent
