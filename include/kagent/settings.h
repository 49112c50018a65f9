// SPDX-License-Identifier: Apache-2.0
// What the user chose; both sides of every comparison obey it (design §5, §6).
#pragma once

#include <string>
#include <vector>

namespace kagent {

enum class Backend { cuda, cpu };
enum class Mode { eval, train };
enum class Numerics { strict, tf32, mixed, torch };
enum class Baselines { both, eager, compile };  // which must be beaten (--over)
enum class Compiler { automatic, nvrtc, nvcc, host };

struct JudgeSettings {
  Backend backend = Backend::cuda;
  Mode mode = Mode::eval;
  Numerics numerics = Numerics::strict;
  Baselines over = Baselines::both;
  Compiler compiler = Compiler::automatic;
  double min_gain = 0.05;                            // fraction of the baseline's time to save
  int trials = 5;
  std::vector<std::string> allow_ops{"gemm", "conv"};  // groups, aten:: names, "none" or "any"
  int timing_rounds = 20;                            // palindromic rounds of E C K K C E

  bool operator==(const JudgeSettings&) const = default;
};

}  // namespace kagent
