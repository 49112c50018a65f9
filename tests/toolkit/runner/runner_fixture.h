// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan_maker.h"
#include "runner_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace kagent::testing {

/// One warm server for all tests of a suite, as kagent has one for a whole run: whatever a test
/// does to its child, the next one must find the server well.
class RunnerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<RunnerServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  static RunnerServer& server() { return *server_; }

  /// Loads, prepares and runs once; the answer to `run`.
  static Json evaluate(const Evaluation& evaluation, int poison = 0xA5) {
    RunnerChild child(server());
    child.start(evaluation);
    return child.run(0, poison);
  }

 private:
  static inline std::unique_ptr<RunnerServer> server_;
};

/// 0, 1, 2, … as float bytes.
inline std::string counting(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return bytes_of(values);
}

}  // namespace kagent::testing
