// SPDX-License-Identifier: Apache-2.0
// Hidden variants: a candidate that is right on the task's own inputs is run on other values of the
// same structure, and with other weights. What is wrong there is `input_specific`; the fault names
// the family and nothing else, so that nobody can fit a candidate to the values.
#include <algorithm>

#include "evaluator/secret.h"
#include "evaluator/session.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr auto kVariantTimeout = std::chrono::seconds(120);
constexpr auto kRunTimeout = std::chrono::seconds(30);
constexpr auto kBudget = std::chrono::seconds(10);   // of a turn; later families wait for another turn
constexpr std::int64_t kSmallInputs = 16 << 20;      // bytes; up to here every family runs
constexpr int kFamiliesOfLargeInputs = 2;            // drawn anew, in secret, for every candidate
constexpr int kPattern = 0xff;                       // NaN
// Cheats are off by orders of magnitude there; honest kernels meet numbers that nobody tuned the
// limits for (docs/verdict.md).
constexpr double kSlack = 16;

Fault input_specific(const std::string& family) {
  Fault fault;
  fault.kind = FaultKind::input_specific;
  fault.message = fmt::format(
      "right on the task's own inputs, wrong on hidden ones of the family '{}'", family);
  fault.hint = family == "weights"
                   ? "compute with the weights as they are given, not with their initial values"
                   : "compute what forward computes for every input, not only for get_inputs()'s range";
  fault.at = {"model_new.py", 0};
  return fault;
}

}  // namespace

std::vector<std::string> Session::draw_families() const {
  std::vector<std::string> families = memory_->variants;
  for (std::size_t i = families.size(); i > 1; --i) {
    std::swap(families[i - 1], families[secret_number() % i]);
  }
  if (memory_->inputs.front().bytes > kSmallInputs && families.size() > kFamiliesOfLargeInputs) {
    // Inputs that are never negative are the commonest way to be right by accident.
    const auto important = [](const std::string& name) { return name == "signed" || name == "weights"; };
    std::stable_partition(families.begin(), families.end(), important);
    const auto fixed = std::count_if(families.begin(), families.end(), important);
    families.resize(std::min<std::size_t>(families.size(),
                                          std::max<std::size_t>(fixed + 1, kFamiliesOfLargeInputs)));
  }
  return families;
}

Result<std::optional<Fault>> Session::run_variants(RunnerChild& child, Verdict& verdict) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<Fault> found;
  int judged = 0;
  for (const auto& family : draw_families()) {
    if (std::chrono::steady_clock::now() - start > kBudget) {
      const std::string note = "hidden variants: not all families fit into the time of one turn";
      if (std::find(facts_.notes.begin(), facts_.notes.end(), note) == facts_.notes.end()) {
        facts_.notes.push_back(note);
      }
      break;
    }
    tell("hidden variants");
    bool ran = false;
    KAGENT_TRY(found, run_variant(child, family, ran));
    judged += ran ? 1 : 0;
    if (found) return found;
    KAGENT_TRY(found, end_variants(child));
    if (found) return found;
  }
  if (judged == 0) verdict.labels.emplace_back("own_inputs_only");
  if (memory_->variants.empty() && judged == 0) return found;
  // What is timed are the task's own inputs again, and its own answers.
  auto made = expect_answer(reference_->ask(
      {{"type", "trial"}, {"seed", secret_number()}, {"set", last_set_}}, {}, kVariantTimeout));
  if (!made) return in_task(std::move(made).error());
  return found;
}

Result<std::optional<Fault>> Session::run_variant(RunnerChild& child, const std::string& family,
                                                  bool& ran) {
  last_set_ = 0;
  auto made = expect_answer(reference_->ask(
      {{"type", "variant"}, {"family", family}, {"seed", secret_number()}, {"set", last_set_}}, {},
      kVariantTimeout));
  if (!made) return in_task(std::move(made).error());
  if (!made->ok.value("applies", false)) {
    facts_.notes.push_back(fmt::format("hidden variant '{}' dropped: {}", family,
                                       made->ok.value("why", std::string())));
    auto& known = memory_->variants;
    known.erase(std::remove(known.begin(), known.end(), family), known.end());
    return std::optional<Fault>();
  }
  ran = true;
  for (const auto& request : {wire::Json{{"type", "prepare"}},
                              wire::Json{{"type", "run"}, {"set", last_set_}, {"poison", kPattern}}}) {
    if (request.at("type") == "prepare" && !made->ok.value("weights_changed", false)) continue;
    auto outcome = child.ask(request, {}, kRunTimeout);
    if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
    if (auto* fault = std::get_if<Fault>(&outcome)) {
      KAGENT_TRY_VOID(expect_answer(reference_->ask({{"type", "restore"}}, {}, kVariantTimeout)));
      return std::optional(std::move(*fault));
    }
  }
  KAGENT_TRY(const Answer compared,
             expect_answer(reference_->ask(
                 {{"type", "compare"}, {"set", last_set_}, {"poison", kPattern}}, {}, kVariantTimeout)));
  if (compared.ok.value("passed", false)) return std::optional<Fault>();
  KAGENT_TRY(Fault fault, wire::parse<Fault>(compared.ok.value("fault", wire::Json())));
  const bool values = fault.kind == FaultKind::mismatch || fault.kind == FaultKind::non_finite;
  const double ratio = number_field(compared.ok, "error_ratio");
  if (values && fault.kind == FaultKind::mismatch && ratio <= kSlack) return std::optional<Fault>();
  KAGENT_TRY_VOID(expect_answer(reference_->ask({{"type", "restore"}}, {}, kVariantTimeout)));
  return std::optional(values ? input_specific(family) : std::move(fault));
}

Result<std::optional<Fault>> Session::end_variants(RunnerChild& child) {
  KAGENT_TRY(const Answer restored,
             expect_answer(reference_->ask({{"type", "restore"}}, {}, kVariantTimeout)));
  if (!restored.ok.value("weights_changed", false)) return std::optional<Fault>();
  auto outcome = child.ask({{"type", "prepare"}}, {}, kRunTimeout);
  if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
  if (auto* fault = std::get_if<Fault>(&outcome)) return std::optional(std::move(*fault));
  return std::optional<Fault>();
}

}  // namespace kagent::evaluator
