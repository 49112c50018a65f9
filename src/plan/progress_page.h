// SPDX-License-Identifier: Apache-2.0
// A page that a runner's child shares with its server: which step it is at. When the child dies of
// a signal, the server reads from it which launch was running. Entering a step is one store, cheap
// enough for timed calls. Code in the child can scribble over it: the reader believes nothing.
#pragma once

#include <kagent/plan.h>
#include <kagent/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kagent::plan {

enum class Section { prepare, forward };

struct LastStep {
  SourceLine at;
  std::string kernel;  // the kernel's name, or the operator's overload
};

class ProgressPage {
 public:
  /// Shared with every process forked later.
  static Result<ProgressPage> create();
  ProgressPage(ProgressPage&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
  ProgressPage& operator=(ProgressPage&& other) noexcept {
    std::swap(table_, other.table_);
    return *this;
  }
  ~ProgressPage();

  /// Writes down what the steps of `plan` are called; no step is running then.
  void describe(const Plan& plan);

  void enter(Section section, int step);
  void leave();

  /// The step that was entered and not left, with its texts capped and made printable.
  std::optional<LastStep> last_step() const;

 private:
  struct Table;
  explicit ProgressPage(Table* table) : table_(table) {}
  Table* table_ = nullptr;
};

}  // namespace kagent::plan
