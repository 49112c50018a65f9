// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "toolbox/shell_runner.h"

#include <functional>
#include <optional>
#include <string>

namespace kagent::fakes {

class FakeShell : public toolbox::ShellRunner {
 public:
  Result<toolbox::ShellOutcome> run(const std::string& command,
                                    std::chrono::seconds timeout) override {
    last_command = command;
    last_timeout = timeout;
    if (during) during();
    if (error) return *error;
    return outcome;
  }

  toolbox::ShellOutcome outcome;
  std::optional<Error> error;
  std::function<void()> during;
  std::string last_command;
  std::chrono::seconds last_timeout{0};
};

}  // namespace kagent::fakes
