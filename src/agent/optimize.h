// SPDX-License-Identifier: Apache-2.0
// One run: a workspace, tools, a journal and the loop, wired up in a run folder that is there
// already.
#pragma once

#include <kagent/chat.h>
#include <kagent/device.h>
#include <kagent/evaluator.h>
#include <kagent/settings.h>
#include <kagent/task.h>

#include "agent/loop.h"
#include "store/result_file.h"
#include "store/run_folder.h"
#include "toolbox/shell_runner.h"
#include "workspace/create.h"

#include <functional>
#include <string>
#include <vector>

namespace kagent::agent {

struct OptimizeRequest {
  Task task;
  JudgeSettings judge;
  LoopSettings loop;
  wire::Json sampling =
      wire::Json::object();     // what was asked of the model's sampling, for the record
  std::string skill;            // text of SKILL.md
  workspace::GivenFiles notes;  // further pages for the model, below "skills/"
  DeviceRecord device;
  std::vector<std::string> warnings;  // what the figures do not say; go into the result
};

/// What a run needs from outside; all of it outlives the run.
struct OptimizeParts {
  ChatClient& chat;
  Evaluator& evaluator;
  toolbox::ShellRunner& shell;
  std::function<bool()> stop_requested;
  StepListener on_step;           // may be empty
  StatusListener on_status = {};  // may be empty
};

struct OptimizeEnd {
  store::RunResult result;  // as result.json holds it
  std::vector<ToolResult> last_results;
  std::optional<Error> error;
};

/// Makes the workspace and the trajectory, or goes on with those that are there (--resume), plays
/// the loop and writes result.json. An Error only where that file could not be written.
Result<OptimizeEnd> optimize(const OptimizeRequest& request, const OptimizeParts& parts,
                             const store::RunFolder& folder);

/// result.json of a run that ended before its first turn.
Result<store::RunResult> record_failure(const OptimizeRequest& request, const std::string& model,
                                        const store::RunFolder& folder, const Error& error);

/// Paths in the workspace that the model may read only.
std::vector<std::string> read_only_paths();

}  // namespace kagent::agent
