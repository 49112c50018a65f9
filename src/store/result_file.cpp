// SPDX-License-Identifier: Apache-2.0
#include "store/result_file.h"

#include "sys/files.h"
#include "wire/trajectory_json.h"

namespace kagent::store {
namespace {

using wire::Json;

Json without_samples(Json evaluation) {
  const auto measurement = evaluation.find("measurement");
  if (measurement == evaluation.end() || !measurement->is_object()) return evaluation;
  for (auto& [name, member] : measurement->items()) {
    if (member.is_object()) member.erase("samples");
  }
  return evaluation;
}

}  // namespace

Json to_json(const RunResult& result) {
  Json best = nullptr;
  if (result.best) {
    best = {{"number", result.best->number},
            {"candidate", result.best->evaluation.candidate},
            {"evaluation", without_samples(wire::to_json(result.best->evaluation))}};
  }
  return {{"schema", kResultSchema},
          {"outcome", result.outcome},
          {"stop_reason", wire::word(result.stop)},
          {"explanation", result.explanation},
          {"task", result.task},
          {"model", result.model},
          {"backend", result.backend},
          {"run_folder", result.folder},
          {"turns", result.turns},
          {"candidates", result.candidates},
          {"usage", wire::to_json(result.usage)},
          {"seconds", result.seconds},
          {"best", std::move(best)},
          {"warnings", result.warnings}};
}

Result<void> write_result(const RunFolder& folder, const RunResult& result) {
  return sys::write_file_atomically(folder.result_file(), wire::dump(to_json(result), 1) + "\n");
}

}  // namespace kagent::store
