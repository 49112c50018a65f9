// SPDX-License-Identifier: Apache-2.0
// Evaluation of one candidate: BuildResult -> Verdict -> Measurement -> Score. Each later part
// exists only if the earlier one passed. Spelled in JSON exactly as here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kagent/build.h>
#include <kagent/plan.h>
#include <kagent/score.h>

namespace kagent {

/// What a candidate did wrong, one word each (design §5).
enum class FaultKind {
  build_failed, forbidden_op, no_custom_kernel, bad_launch, shape, dtype, mismatch, non_finite,
  input_modified, input_specific, nondeterministic, out_of_bounds, crash, timeout, out_of_memory,
  tampering, unsupported,
};

struct Fault {
  FaultKind kind = FaultKind::unsupported;
  std::string message;               // one line: what differed or broke
  std::string hint;                  // what to try; may be empty
  SourceLine at;                     // file empty where there is none
  std::string detail;                // several lines: compiler log, traceback; capped; may be empty
  // Where the values differ; only for mismatch and non_finite.
  int output = -1;                   // which output tensor
  std::vector<std::int64_t> index;   // where in it
  std::string expected;              // printed values
  std::string got;
  bool operator==(const Fault&) const = default;
};

/// One comparison under one secret seed.
struct Trial {
  std::uint64_t seed = 0;            // recorded only once the verdict is out
  bool passed = false;
  double max_error = 0;              // largest |got - expected| over all outputs
  double error_ratio = 0;            // RMS error over the allowed one; passes at <= 1
  bool operator==(const Trial&) const = default;
};

struct Verdict {
  bool correct = false;
  std::vector<Trial> trials;
  std::optional<Fault> fault;        // set exactly where not correct
  std::vector<std::string> labels;   // torch_only, trust:native, noisy, …
  bool operator==(const Verdict&) const = default;
};

/// One call of one arm, in microseconds of the device's own clock (design §6); on the CPU
/// backend span is wall time taken from outside and the rest is zero.
struct Sample {
  double span_us = 0;     // first start to last end of all device activity
  double busy_us = 0;     // union of the intervals
  double sum_us = 0;      // sum of them
  int launches = 0;       // device activities
  double own_us = 0;      // part of sum_us spent in the candidate's own kernels
  bool operator==(const Sample&) const = default;
};

/// Times of one arm over all rounds.
struct ArmTimes {
  std::vector<Sample> samples;
  double median_us = 0;
  double low_us = 0;      // first and third quartile of span_us
  double high_us = 0;
  double busy_us = 0;     // median
  int launches = 0;       // median
  bool operator==(const ArmTimes&) const = default;
};

/// How much faster the candidate is than one baseline: baseline time / candidate time.
struct Speedup {
  double point = 0;       // median over rounds
  double low = 0;         // order-statistic interval, about 95 %
  double high = 0;
  bool operator==(const Speedup&) const = default;
};

struct Measurement {
  std::string clock;      // "cupti gpu_span" or "wall clock from outside"
  int rounds = 0;
  ArmTimes candidate;
  std::optional<ArmTimes> eager;
  std::optional<ArmTimes> compiled;
  std::optional<Speedup> over_eager;
  std::optional<Speedup> over_compiled;
  double prepare_us = 0;              // once per set of weights; not part of the score
  double own_kernel_share = 0;        // of the candidate's summed device time
  std::vector<std::string> notes;     // graph breaks, ungated arms, …
  bool operator==(const Measurement&) const = default;
};

struct Evaluation {
  std::string candidate;              // hash
  std::optional<BuildResult> build;
  Verdict verdict;
  std::optional<Measurement> measurement;
  std::optional<Score> score;
  std::map<std::string, double> stage_ms;  // record, build, load, trials, timing, total
  bool operator==(const Evaluation&) const = default;
};

}  // namespace kagent
