// SPDX-License-Identifier: Apache-2.0
#include "batch/journal.h"

#include "sys/files.h"

namespace kagent::batch {
namespace {

constexpr std::size_t kMaxBytes = 512u << 20;

}  // namespace

Result<Journal> Journal::create(const std::filesystem::path& path) {
  KAGENT_TRY(sys::AppendFile file, sys::AppendFile::create(path));
  return Journal(std::move(file));
}

Result<Journal> Journal::resume(const std::filesystem::path& path) {
  KAGENT_TRY(sys::AppendFile file, sys::AppendFile::resume(path));
  return Journal(std::move(file));
}

Result<void> Journal::write(const wire::Json& line) {
  KAGENT_TRY_VOID(file_.append_line(wire::dump(line)));
  return file_.sync();
}

Result<void> Journal::started(const Job& job) { return write({{"type", "started"}, {"id", job.id}}); }

Result<void> Journal::ended(const wire::Json& result) {
  return write({{"type", "ended"}, {"id", result.at("id")}, {"result", result}});
}

Result<std::map<std::string, wire::Json>> read_journal(const std::filesystem::path& path) {
  KAGENT_TRY(const std::string text, sys::read_file(path, kMaxBytes));
  std::map<std::string, wire::Json> results;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const auto end = text.find('\n', begin);
    if (end == std::string::npos) break;   // torn by a kill
    const std::string where = path.string() + ":" + std::to_string(number);
    const auto parsed_line = wire::parse_text(text.substr(begin, end - begin), where);
    if (!parsed_line) return Error{ErrorKind::usage, parsed_line.error().message};   // damage, not a bug
    const wire::Json& line = *parsed_line;
    begin = end + 1;
    if (line.is_object() && line.value("type", "") == "ended") {
      const wire::Json result = line.value("result", wire::Json());
      if (auto parsed = parse_result(result); !parsed) {
        return Error{ErrorKind::usage, where + ": " + parsed.error().message};
      }
      results[result.value("id", "")] = result;
    }
  }
  return results;
}

}  // namespace kagent::batch
