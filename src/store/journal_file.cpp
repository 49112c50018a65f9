// SPDX-License-Identifier: Apache-2.0
#include "store/journal_file.h"

#include "wire/trajectory_json.h"

#include <utility>

namespace kagent::store {

using wire::Json;

Result<void> JournalFile::write(const Json& line) {
  KAGENT_TRY_VOID(file_.append_line(wire::dump(line)));
  return file_.sync();
}

Result<JournalFile> JournalFile::create(const std::filesystem::path& path, const RunStart& start) {
  KAGENT_TRY(sys::AppendFile file, sys::AppendFile::create(path));
  JournalFile journal(std::move(file));
  Json tools = Json::array();
  for (const ToolSpec& tool : start.tools) tools.push_back(wire::to_json(tool));
  KAGENT_TRY_VOID(journal.write({{"type", "run"},
                                 {"schema", wire::kTrajectorySchema},
                                 {"model", start.model},
                                 {"system", start.system},
                                 {"opening", start.opening},
                                 {"tools", std::move(tools)},
                                 {"settings", start.settings}}));
  return journal;
}

Result<JournalFile> JournalFile::resume(const std::filesystem::path& path, const std::string& model,
                                        const Json& settings) {
  KAGENT_TRY(sys::AppendFile file, sys::AppendFile::resume(path));
  JournalFile journal(std::move(file));
  KAGENT_TRY_VOID(journal.write({{"type", "resume"}, {"model", model}, {"settings", settings}}));
  return journal;
}

Result<void> JournalFile::begin(int turn, const Reply& reply) {
  return write({{"type", "reply"}, {"turn", turn}, {"reply", wire::to_json(reply)}});
}

Result<void> JournalFile::append(int turn, const ToolResult& result) {
  // Written, so that a kill does not lose it; synced with the turn. A machine that goes down in
  // between loses what the call did to the workspace as well.
  return file_.append_line(
      wire::dump({{"type", "result"}, {"turn", turn}, {"result", wire::to_json(result)}}));
}

Result<void> JournalFile::append(const Turn& turn) {
  Json results = Json::array();
  for (const ToolResult& result : turn.results) results.push_back(wire::to_json(result));
  Json line{{"type", "turn"},
            {"turn", turn.number},
            {"results", std::move(results)},
            {"seconds", turn.seconds}};
  if (!turn.nudge.empty()) line["nudge"] = turn.nudge;
  return write(line);
}

Result<void> JournalFile::append(const CandidateRecord& record) {
  return write({{"type", "candidate"},
                {"turn", record.turn},
                {"evaluation", wire::to_json(record.evaluation)}});
}

Result<void> JournalFile::append(const ContextEdit& edit) {
  return write({{"type", "context"},
                {"turn", edit.turn},
                {"results_from", edit.results_from},
                {"turns_from", edit.turns_from},
                {"record", edit.record}});
}

Result<void> JournalFile::append(StopReason reason, const std::string& explanation) {
  return write({{"type", "end"}, {"reason", wire::word(reason)}, {"explanation", explanation}});
}

}  // namespace kagent::store
