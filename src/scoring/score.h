// SPDX-License-Identifier: Apache-2.0
// The one rule of success, and the papers' grade beside it (design §6).
#pragma once

#include <kagent/evaluation.h>
#include <kagent/score.h>
#include <kagent/settings.h>

#include <optional>

namespace kagent::scoring {

/// success: the candidate needs at most 1 - min_gain of the time of every baseline that
/// settings.over asks for, by the point estimate and by the worse end of its interval. A baseline
/// that was asked for and not measured has not been beaten. noisy: only the point estimate
/// succeeds. grade: by point estimates, and always at 5 %.
Score score(const Verdict& verdict, const std::optional<Measurement>& measurement,
            const JudgeSettings& settings);

}  // namespace kagent::scoring
