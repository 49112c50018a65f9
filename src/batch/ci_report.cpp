// SPDX-License-Identifier: Apache-2.0
#include "batch/ci_report.h"

#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<EndKind, const char*>, 10> kWords{{{EndKind::good, "good"},
                                                                  {EndKind::wrong, "wrong"},
                                                                  {EndKind::slower, "slower"},
                                                                  {EndKind::inconclusive, "inconclusive"},
                                                                  {EndKind::invalid, "invalid"},
                                                                  {EndKind::crash, "crash"},
                                                                  {EndKind::cheat, "cheat"},
                                                                  {EndKind::environment, "environment"},
                                                                  {EndKind::network, "network"},
                                                                  {EndKind::budget, "budget"}}};

/// Attribute and text alike. What XML 1.0 cannot hold at all becomes "?".
std::string xml(const std::string& raw) {
  std::string text;
  for (const char c : base::replace_invalid_utf8(raw)) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      case '\n': text += "&#10;"; break;
      case '\t': text += "&#9;"; break;
      default: text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return text;
}

/// github.com: docs, "Workflow commands": data escapes %, CR, LF; properties also : and ,.
std::string github(const std::string& raw, bool property) {
  std::string text;
  for (const char c : raw) {
    switch (c) {
      case '%': text += "%25"; break;
      case '\r': text += "%0D"; break;
      case '\n': text += "%0A"; break;
      case ':': text += property ? "%3A" : ":"; break;
      case ',': text += property ? "%2C" : ","; break;
      default: text += c;
    }
  }
  return text;
}

/// "file=…,line=…," of a fault's place; empty where it has none inside the workspace.
std::string place(const JobEnd& end, const fs::path& workspace) {
  const auto colon = end.at.rfind(':');
  const std::string candidate = wire::text_member(end.facts, "candidate");
  if (colon == std::string::npos || candidate.empty() || workspace.empty()) return "";
  std::error_code code;
  fs::path folder = fs::absolute(candidate, code);
  if (folder.extension() == ".py") folder = folder.parent_path();
  const fs::path file = (folder / end.at.substr(0, colon)).lexically_normal().lexically_relative(workspace.lexically_normal());
  if (file.empty() || *file.begin() == "..") return "";
  const std::string line = end.at.substr(colon + 1);
  const bool numbered = !line.empty() && line != "0" && line.find_first_not_of("0123456789") == std::string::npos;
  return "file=" + github(file.string(), true) + "," + (numbered ? "line=" + line + "," : "");
}

std::string line_of(const JobEnd& end) {
  std::string line = end.outcome;
  if (!end.at.empty()) line += " at " + end.at;
  if (!end.message.empty()) line += ": " + end.message;
  return line;
}

std::string test_case(const JobResult& result, const std::set<EndKind>& fail_on) {
  const EndKind kind = kind_of(result.end);
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                 xml("kagent." + (result.level.empty() ? "tasks" : result.level)), xml(result.id),
                                 result.end.seconds);
  if (!fail_on.contains(kind)) return text + "/>\n";
  const char* element = kind == EndKind::wrong || kind == EndKind::slower || kind == EndKind::inconclusive ? "failure" : "error";
  return text + fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\"/>\n    </testcase>\n", element,
                            xml(result.end.outcome), xml(line_of(result.end)));
}

}  // namespace

EndKind kind_of(const JobEnd& end) {
  switch (end.exit_code) {
    case 0: return EndKind::good;
    case 3: return EndKind::network;
    case 2:
    case 4: return EndKind::invalid;
    case 5: return EndKind::budget;
    case 6: return EndKind::environment;
    case 7: return EndKind::cheat;
    case 8: return EndKind::inconclusive;
    case 1: return end.correct ? EndKind::slower : EndKind::wrong;
    default: return EndKind::crash;
  }
}

const char* word(EndKind kind) {
  for (const auto& [each, text] : kWords) {
    if (each == kind) return text;
  }
  return "crash";
}

Result<std::set<EndKind>> parse_fail_on(const std::string& words) {
  std::set<EndKind> kinds;
  for (const auto& part : base::split(words, ',')) {
    const std::string name(base::trim(part));
    if (name.empty() || name == "none") continue;
    bool known = false;
    for (const auto& [kind, text] : kWords) {
      if (name != text || kind == EndKind::good) continue;
      kinds.insert(kind);
      known = true;
    }
    if (!known) {
      return Error{ErrorKind::usage, "--fail-on " + name + ": not one of wrong, slower, inconclusive, invalid, crash, "
                                     "cheat, environment, network, budget, none"};
    }
  }
  return kinds;
}

std::string junit_xml(const std::vector<JobResult>& results, const std::set<EndKind>& fail_on) {
  std::map<std::string, std::vector<const JobResult*>> levels;
  for (const auto& result : results) levels[result.level.empty() ? "tasks" : result.level].push_back(&result);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kagent\">\n";
  for (const auto& [level, cases] : levels) {
    int failures = 0;
    int errors = 0;
    double seconds = 0;
    std::string body;
    for (const JobResult* result : cases) {
      const std::string one = test_case(*result, fail_on);
      failures += one.find("<failure ") != std::string::npos ? 1 : 0;
      errors += one.find("<error ") != std::string::npos ? 1 : 0;
      seconds += result->end.seconds;
      body += one;
    }
    text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\">\n{}  </testsuite>\n",
                        xml(level), cases.size(), failures, errors, seconds, body);
  }
  return text + "</testsuites>\n";
}

std::string github_annotations(const std::vector<JobResult>& results, const std::set<EndKind>& fail_on,
                               const fs::path& workspace) {
  std::string text;
  for (const auto& result : results) {
    if (!fail_on.contains(kind_of(result.end))) continue;
    text += "::error " + place(result.end, workspace) + "title=" + github(result.id, true) + "::" + github(line_of(result.end), false) + "\n";
  }
  return text;
}

}  // namespace kagent::batch
