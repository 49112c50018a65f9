// SPDX-License-Identifier: Apache-2.0
// The figures of the papers over the results of a batch (CUDA Agent; KernelBench's fast_p,
// arXiv 2502.10517). Pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "batch/job.h"
#include "report/document.h"

namespace kagent::batch {

inline constexpr std::array<double, 6> kFastThresholds{0, 0.5, 0.8, 1, 1.5, 2};

/// One baseline: eager or torch.compile. Rates are fractions of all tasks of the row.
struct AgainstBaseline {
  double faster_rate = 0;              // correct, and saves more than 5 % of the time (grade's rule)
  double geometric_mean = 0;           // speed-up over tasks that are correct and timed; 0: none
  double arithmetic_mean = 0;          // over the same tasks
  double geometric_mean_all = 0;       // unsolved counted as 1.0
  std::array<double, kFastThresholds.size()> fast{};   // correct and speed-up > p
};

/// The figures under one rule set.
struct UnderRules {
  int correct = 0;
  int untold = 0;                      // of the papers' rules: this run cannot tell; counted as not correct
  AgainstBaseline eager;
  AgainstBaseline compiled;
};

struct SummaryRow {
  std::string name;                    // "overall", "level1", "overall without degenerate"
  int tasks = 0;
  int success = 0;                     // kagent's own rule
  UnderRules kagent;
  UnderRules paper;                    // scoring/paper_rules.h
  double pass_rate() const { return tasks == 0 ? 0 : static_cast<double>(kagent.correct) / tasks; }
};

/// Of a task's samples the one that counts: correct before wrong, then the larger of the smaller
/// speed-up. In the order in which the tasks first appear.
std::vector<const JobResult*> best_of_samples(const std::vector<JobResult>& results);

/// Overall first, then each level, then the same without degenerate tasks where there are any. Under
/// either rule set the same sample of a task counts.
std::vector<SummaryRow> summarise(const std::vector<JobResult>& results);

/// One line for each row, rule set and baseline.
report::Table summary_table(const std::vector<SummaryRow>& rows);

/// What the table's words mean, in one paragraph.
const char* summary_legend();

/// The table and its legend for a terminal, and the same for Markdown.
std::string summary_text(const std::vector<SummaryRow>& rows);
std::string summary_markdown(const std::vector<SummaryRow>& rows);

wire::Json to_json(const SummaryRow& row);

/// Of a batch of baselines.
struct BaselineRow {
  std::string name;
  int tasks = 0;
  int timed = 0;                       // eager was
  int compiled = 0;                    // torch.compile was, too
  double compile_speedup = 0;          // geometric mean of eager / torch.compile over these; 0: none
};

/// Overall first, then each level.
std::vector<BaselineRow> summarise_baselines(const std::vector<JobResult>& results);
report::Table baseline_table(const std::vector<BaselineRow>& rows);
wire::Json to_json(const BaselineRow& row);

}  // namespace kagent::batch
