// SPDX-License-Identifier: Apache-2.0
// Tables and facts about results, as every document shows them.
#pragma once

#include <string>
#include <vector>

#include "batch/job.h"
#include "report/document.h"

namespace kagent::review {

/// "1.234x [1.200, 1.260]"; "-" where nothing was measured.
std::string gain_text(double speedup, const base::Interval& interval);

/// A NaN where nothing was measured.
report::ChartValue gain_value(double speedup, const base::Interval& interval);

/// A number of facts.usage or facts itself ("turns"); NaN where it is not there.
double fact_number(const batch::JobEnd& end, const char* name);

/// One line a result, full precision, for CSV.
report::Table figures_table(const std::vector<batch::JobResult>& results);

/// Device, versions, numerics, mode and backend; where results differ, each value with how many have it.
report::Facts machine_facts(const std::vector<batch::JobResult>& results);

/// 0.5 .. 0.8 and so on: how many correct results gain so much, over eager and over torch.compile.
report::Chart gain_distribution(const std::vector<const batch::JobResult*>& results);

}  // namespace kagent::review
