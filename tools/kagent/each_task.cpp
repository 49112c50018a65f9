// SPDX-License-Identifier: Apache-2.0
#include "each_task.h"

#include "exit_codes.h"
#include "tasks/load.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

using Work = std::function<Result<TaskRecord>(const Task&, evaluator::Session&)>;

Result<TaskRecord> work_on(const std::string& path, const JudgeOptions& judge, const Work& work) {
  KAGENT_TRY(const Task task, tasks::load(path));
  KAGENT_TRY(const auto no_candidates, sys::TemporaryDirectory::create("kagent-candidate"));
  KAGENT_TRY(auto session_options, judge.session(no_candidates.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  return work(task, *session);
}

}  // namespace

int for_each_task(const std::vector<std::string>& paths, const JudgeOptions& judge, const char* schema, const char* name,
                  const Work& work) {
  int worst = kSuccess;
  wire::Json records = wire::Json::array();
  for (const auto& path : paths) {
    auto record = work_on(path, judge, work);
    end_progress();
    if (record) {
      worst = higher_exit_code(worst, record->code);
      records.push_back(std::move(record->json));
      continue;
    }
    print_error(record.error());
    records.push_back({{"task", {{"name", path}}},
                       {"outcome", outcome_word(record.error())},
                       {"message", record.error().message}});
    worst = higher_exit_code(worst, exit_code(record.error()));
    if (record.error().kind == ErrorKind::interrupted) break;
  }
  if (judge.json) {
    fmt::print("{}\n", wire::dump({{"schema", schema},
                                   {"outcome", worst == kSuccess ? "success" : "failed"},
                                   {name, std::move(records)}}));
  }
  return worst;
}

}  // namespace kagent::cli
