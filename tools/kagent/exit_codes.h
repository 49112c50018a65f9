// SPDX-License-Identifier: Apache-2.0
// Documented in the README; the highest in this order wins (design §8).
#pragma once

#include <kagent/evaluation.h>
#include <kagent/result.h>

namespace kagent::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kVerdictNegative = 1;
inline constexpr int kUsage = 2;
inline constexpr int kNetwork = 3;
inline constexpr int kTaskInvalid = 4;
inline constexpr int kBudgetSpent = 5;
inline constexpr int kEnvironment = 6;
inline constexpr int kCheat = 7;
inline constexpr int kNoisy = 8;
inline constexpr int kInternal = 70;

/// 128 + the signal's number where a stop was requested, else by kind.
int exit_code(const Error& error);
int exit_code(const Evaluation& evaluation);

/// The one that wins where several tasks ended differently.
int higher_exit_code(int left, int right);

/// "usage", "task_invalid", "environment", …: the outcome word of a command that failed.
const char* outcome_word(const Error& error);

/// One line on stderr: "kagent: error: …".
void print_error(const Error& error);

/// print_error, and with json an object {"outcome", "message"} on stdout. Returns the exit code.
int report_failure(const Error& error, bool json);

}  // namespace kagent::cli
