// SPDX-License-Identifier: Apache-2.0
#include "agent/candidate_book.h"

#include "base/text.h"
#include "report/evaluation_text.h"
#include "toolbox/feedback.h"
#include "workspace/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kagent::agent {
namespace {

/// A noisy measurement may be repeated, but not until chance lets it pass.
constexpr int kMaxEvaluationsOfNoisy = 3;

bool may_evaluate_again(const Evaluation& evaluation, int evaluations) {
  return evaluation.score && evaluation.score->noisy && evaluations < kMaxEvaluationsOfNoisy;
}

toolbox::BestFigures figures_of(const store::BestResult& best) {
  toolbox::BestFigures figures;
  figures.number = best.number;
  if (best.evaluation.score) {
    figures.speedup_over_eager = best.evaluation.score->speedup_over_eager;
    figures.speedup_over_compiled = best.evaluation.score->speedup_over_compiled;
    figures.success = best.evaluation.score->success;
  }
  return figures;
}

}  // namespace

double rank(const Evaluation& evaluation, Baselines over) {
  if (!evaluation.score) return 0;
  const double eager = evaluation.score->speedup_over_eager;
  const double compiled = evaluation.score->speedup_over_compiled;
  switch (over) {
    case Baselines::eager:
      return eager;
    case Baselines::compile:
      return compiled;
    case Baselines::both:
      break;
  }
  if (eager > 0 && compiled > 0) return std::min(eager, compiled);
  return std::max(eager, compiled);
}

bool CandidateBook::better_than_best(const Evaluation& evaluation) const {
  if (!evaluation.verdict.correct) return false;
  if (!best_) return true;
  const auto succeeds = [](const Evaluation& e) { return e.score && e.score->success; };
  if (succeeds(evaluation) != succeeds(best_->evaluation)) return succeeds(evaluation);
  return rank(evaluation, over_) > rank(best_->evaluation, over_);
}

bool CandidateBook::target_reached() const {
  return best_ && best_->evaluation.score && best_->evaluation.score->success;
}

std::optional<toolbox::BestFigures> CandidateBook::best_figures() const {
  if (!best_) return std::nullopt;
  return figures_of(*best_);
}

Result<std::variant<toolbox::JudgedCandidate, Fault>> CandidateBook::judge() {
  auto frozen = workspace::freeze(workspace_, folder_.candidates());
  Result<std::variant<toolbox::JudgedCandidate, Fault>> judged =
      Error{ErrorKind::internal, "nothing was judged"};
  if (!frozen) {
    judged = std::move(frozen).error();
  } else if (auto* fault = std::get_if<Fault>(&*frozen)) {
    judged = std::variant<toolbox::JudgedCandidate, Fault>(std::move(*fault));
  } else {
    judged = judge_frozen(std::get<Candidate>(*frozen));
  }
  failures_ = judged ? 0 : failures_ + 1;
  failure_ = judged ? std::nullopt : std::optional<Error>(judged.error());
  return judged;
}

Result<std::variant<toolbox::JudgedCandidate, Fault>> CandidateBook::judge_frozen(
    const Candidate& candidate) {
  toolbox::JudgedCandidate judged;
  judged.best_before = best_figures();
  const auto known = entries_.find(candidate.hash);
  Entry entry;
  if (known != entries_.end()) {
    entry = known->second;
  } else {
    entry.number = count() + 1;
  }
  judged.judged_before =
      known != entries_.end() && !may_evaluate_again(entry.evaluation, entry.evaluations);
  if (!judged.judged_before) {
    KAGENT_TRY_VOID(evaluate(candidate, entry));
    entries_[candidate.hash] = entry;
    KAGENT_TRY_VOID(consider(candidate, entry));
  }
  judged.number = entry.number;
  judged.evaluation = entry.evaluation;
  judged.outcome = report::outcome(entry.evaluation);
  for (const auto& [path, text] : candidate.files) judged.files.push_back(path);
  judged.sources = {candidate.files.begin(), candidate.files.end()};
  judged.best = best_figures();
  judged.is_best = best_ && best_->number == entry.number;
  return std::variant<toolbox::JudgedCandidate, Fault>(std::move(judged));
}

Result<void> CandidateBook::evaluate(const Candidate& candidate, Entry& entry) {
  KAGENT_TRY(entry.evaluation, evaluator_.evaluate(candidate));
  entry.evaluation.candidate = candidate.hash;
  ++entry.evaluations;
  count_device_time(entry.evaluation);
  // The journal first: it is what a resumed run believes.
  KAGENT_TRY_VOID(journal_.append(CandidateRecord{turn_, entry.evaluation}));
  return folder_.keep_evaluation(entry.evaluation);
}

void CandidateBook::count_device_time(const Evaluation& evaluation) {
  // Whatever stages there are: recording and building are the ones that need no device.
  for (const auto& [stage, milliseconds] : evaluation.stage_ms) {
    if (stage == "queue") queue_seconds_ += milliseconds / 1000;
    if (stage != "record" && stage != "build" && stage != "total" && stage != "queue") device_seconds_ += milliseconds / 1000;
  }
}

bool CandidateBook::advances(const Evaluation& evaluation) {
  ++since_gain_;
  if (!better_than_best(evaluation)) return false;
  const double now = rank(evaluation, over_);
  if (!best_ || now >= 1.02 * rank_at_gain_) {
    since_gain_ = 0;
    rank_at_gain_ = now;
  }
  return true;
}

Result<void> CandidateBook::consider(const Candidate& candidate, const Entry& entry) {
  if (!advances(entry.evaluation)) return {};
  KAGENT_TRY_VOID(folder_.keep_best(candidate, entry.evaluation));
  best_ = store::BestResult{entry.number, entry.evaluation};
  return {};
}

std::string CandidateBook::record() const {
  constexpr std::size_t kMostLines = 60;
  constexpr std::size_t kMostSourceBytes = 48u << 10;
  std::map<int, std::string> lines;
  for (const auto& [hash, entry] : entries_) {
    lines[entry.number] = fmt::format("#{}: {}", entry.number, report::outcome(entry.evaluation));
    if (entry.evaluation.score) {
      lines[entry.number] += ", " + toolbox::figures(figures_of({entry.number, entry.evaluation}));
    } else if (entry.evaluation.verdict.fault) {
      lines[entry.number] += ": " + base::one_line(entry.evaluation.verdict.fault->message, 160);
    }
  }
  std::string text = "[The conversation was longer; this record stands for its older turns.]\n";
  text += fmt::format("Candidates judged so far: {}.\n", lines.size());
  std::size_t skipped = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  for (const auto& [number, line] : lines) {
    if (skipped > 0 && (!best_ || number != best_->number)) {
      --skipped;
      continue;
    }
    text += line + "\n";
  }
  if (!best_)
    return text + "None is correct yet. The workspace holds your files as you left them.\n";
  text += fmt::format("The best is #{}; its files:\n", best_->number);
  auto stored =
      sys::ConfinedFolder::open(folder_.candidates() / best_->evaluation.candidate / "source");
  if (!stored) return text;
  const auto frozen = workspace::freeze(*stored, folder_.candidates());
  const auto* candidate = frozen ? std::get_if<Candidate>(&*frozen) : nullptr;
  if (candidate == nullptr) return text;
  std::string files;
  for (const auto& [path, source] : candidate->files) {
    files += "```" + path + "\n" + source + "\n```\n";
  }
  return text + base::cap(files, kMostSourceBytes) +
         "The workspace holds your files as you left them, which may differ.\n";
}

Result<void> CandidateBook::restore(const std::vector<CandidateRecord>& records) {
  for (const CandidateRecord& record : records) {
    Entry& entry = entries_[record.evaluation.candidate];
    if (entry.number == 0) entry.number = count();
    ++entry.evaluations;
    count_device_time(record.evaluation);
    entry.evaluation = record.evaluation;
    if (advances(entry.evaluation)) {
      best_ = store::BestResult{entry.number, entry.evaluation};
    }
  }
  // A kill between the last record and its file.
  if (!records.empty()) {
    KAGENT_TRY_VOID(folder_.keep_evaluation(records.back().evaluation));
  }
  if (!best_) return {};
  const auto source = folder_.candidates() / best_->evaluation.candidate / "source";
  KAGENT_TRY(const auto stored, sys::ConfinedFolder::open(source));
  KAGENT_TRY(const auto frozen, workspace::freeze(stored, folder_.candidates()));
  const auto* candidate = std::get_if<Candidate>(&frozen);
  if (candidate == nullptr || candidate->hash != best_->evaluation.candidate) {
    return Error{ErrorKind::usage,
                 source.string() + ": is not what the trajectory says was judged"};
  }
  return folder_.keep_best(*candidate, best_->evaluation);
}

}  // namespace kagent::agent
