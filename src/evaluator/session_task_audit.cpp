// SPDX-License-Identifier: Apache-2.0
// The task itself on trial: which answers that compute nothing would pass.
#include "evaluator/secret.h"
#include "evaluator/session.h"
#include "wire/json.h"

namespace kagent::evaluator {
namespace {

constexpr auto kAuditTimeout = std::chrono::seconds(300);

}  // namespace

Result<TaskAudit> Session::audit_task() {
  if (audit_) return *audit_;
  KAGENT_TRY(const Lease lease, take_lease());
  tell("null models");
  auto answer = expect_answer(
      reference_->ask({{"type", "audit"}, {"seed", secret_number()}}, {}, kAuditTimeout));
  if (!answer) return in_task(std::move(answer).error());
  TaskAudit audit;
  audit.degenerate = answer->ok.value("degenerate", false);
  for (const auto& row : answer->ok.value("null_models", wire::Json::array())) {
    if (!row.is_object()) continue;
    audit.null_models.push_back({row.value("name", std::string()), row.value("passed", false),
                                 number_field(row, "error_ratio"),
                                 row.value("refuted_by", std::string())});
  }
  // The task's own inputs again, where the audit put others.
  for (const auto& changed : answer->ok.value("changed_sets", wire::Json::array())) {
    if (!changed.is_number_integer()) continue;
    const auto set = changed.get<std::int64_t>();
    auto made = expect_answer(reference_->ask(
        {{"type", "trial"}, {"seed", secret_number()}, {"set", set}}, {}, kAuditTimeout));
    if (!made) return in_task(std::move(made).error());
  }
  audit_ = audit;
  return audit;
}

}  // namespace kagent::evaluator
