// SPDX-License-Identifier: Apache-2.0
// What baseline and vet have in common: a session for each task in turn, no candidate, one record each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <kagent/task.h>

#include "judge_options.h"
#include "wire/json.h"

namespace kagent::cli {

struct TaskRecord {
  wire::Json json;
  int code = 0;        // this task's own exit code
};

/// Opens each task and hands it to work; a task that cannot be judged is a line on stderr and a record
/// with its outcome, and the next one follows. With --json one object is printed at the end: schema,
/// outcome, and the records under `name`. Returns the exit code that wins.
int for_each_task(const std::vector<std::string>& paths, const JudgeOptions& judge, const char* schema, const char* name,
                  const std::function<Result<TaskRecord>(const Task&, evaluator::Session&)>& work);

}  // namespace kagent::cli
