// SPDX-License-Identifier: Apache-2.0
// Every candidate of a run, and the best of them. What is verified is kept on disk before the model
// hears of it, so that every way to end a run returns the best.
#pragma once

#include <kagent/evaluator.h>
#include <kagent/settings.h>
#include <kagent/trajectory.h>

#include "store/result_file.h"
#include "store/run_folder.h"
#include "sys/confined_folder.h"
#include "toolbox/candidate_judge.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kagent::agent {

class CandidateBook : public toolbox::CandidateJudge {
 public:
  CandidateBook(const sys::ConfinedFolder& workspace, const store::RunFolder& folder,
                Evaluator& evaluator, Journal& journal, Baselines over)
      : workspace_(workspace),
        folder_(folder),
        evaluator_(evaluator),
        journal_(journal),
        over_(over) {}

  /// Takes over what an earlier part of the run judged, and mends best/ where a kill left it
  /// behind.
  Result<void> restore(const std::vector<CandidateRecord>& records);

  void begin_turn(int number) { turn_ = number; }

  Result<std::variant<toolbox::JudgedCandidate, Fault>> judge() override;

  /// Different candidates that were judged.
  int count() const { return static_cast<int>(entries_.size()); }
  const std::optional<store::BestResult>& best() const { return best_; }
  std::optional<toolbox::BestFigures> best_figures() const;
  bool target_reached() const;

  /// What stands for turns that the model is not shown any more: every candidate in a line, and
  /// the best one's files.
  std::string record() const;

  /// Judged candidates since the best one last gained 2 % or more.
  int since_gain() const { return since_gain_; }

  /// What trials and measurements took, earlier parts of the run included.
  double device_seconds() const { return device_seconds_; }

  /// How long other runs had the device that this one waited for.
  double queue_seconds() const { return queue_seconds_; }

  /// Why the last judgement was not possible, and how many in a row were not.
  const std::optional<Error>& failure() const { return failure_; }
  int failures_in_a_row() const { return failures_; }

 private:
  struct Entry {
    int number = 0;
    int evaluations = 0;
    Evaluation evaluation;
  };

  Result<std::variant<toolbox::JudgedCandidate, Fault>> judge_frozen(const Candidate& candidate);
  Result<void> evaluate(const Candidate& candidate, Entry& entry);
  Result<void> consider(const Candidate& candidate, const Entry& entry);
  /// Counts it towards a plateau; whether it is better than the best so far.
  bool advances(const Evaluation& evaluation);
  bool better_than_best(const Evaluation& evaluation) const;

  const sys::ConfinedFolder& workspace_;
  const store::RunFolder& folder_;
  Evaluator& evaluator_;
  Journal& journal_;
  Baselines over_;
  void count_device_time(const Evaluation& evaluation);

  int turn_ = 0;
  double device_seconds_ = 0;
  double queue_seconds_ = 0;
  int since_gain_ = 0;
  double rank_at_gain_ = 0;  // of the best one then: small gains add up
  std::map<std::string, Entry> entries_;  // by hash
  std::optional<store::BestResult> best_;
  std::optional<Error> failure_;
  int failures_ = 0;
};

/// What candidates are ranked by: the smallest speed-up over the baselines that must be beaten;
/// 0 where there is none.
double rank(const Evaluation& evaluation, Baselines over);

}  // namespace kagent::agent
