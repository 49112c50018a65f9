// SPDX-License-Identifier: Apache-2.0
// An Evaluation as people read it. Functions from data to text; nobody prints here.
#pragma once

#include <string>

#include <kagent/evaluation.h>
#include <kagent/settings.h>

namespace kagent::report {

/// "success", "slower", "noisy", or the fault's word: stable, in every record and in --json.
std::string outcome(const Evaluation& evaluation);

/// The table of times and speed-ups, several lines; empty where nothing was measured.
std::string score_table(const Measurement& measurement, const JudgeSettings& settings);

/// The same in one line: "model_new.py:14: …".
std::string fault_line(const Fault& fault);

/// The fault with its line, index and hint; several lines where there is detail.
std::string fault_text(const Fault& fault);

/// All of it: verdict line first, then table or fault, labels and notes last.
std::string evaluation_text(const Evaluation& evaluation, const JudgeSettings& settings);

/// "1.234 ms", "12.3 us".
std::string duration(double microseconds);

}  // namespace kagent::report
