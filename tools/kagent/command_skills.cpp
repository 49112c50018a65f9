// SPDX-License-Identifier: Apache-2.0
// kagent skills [NAME]: what the model may read, and where it comes from.
#include "base/text.h"
#include "commands.h"
#include "exit_codes.h"
#include "skill_folders.h"
#include "skills/skill.h"
#include "sys/files.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kagent::cli {
namespace {

struct SkillsOptions {
  std::string name;
  std::string backend = "cuda";
  bool json = false;
};

/// Somebody else may have written it: nothing that moves a terminal's cursor.
void print_text(const std::string& text) {
  for (const std::string& line : base::split_lines(text)) fmt::print("{}\n", base::one_line(line, line.size() + 16));
}

/// The H200's, where no card is asked: `kagent skills` works on any machine.
Result<DeviceRecord> usual_device(const std::filesystem::path& share) {
  const auto path = share / "devices/h200.json";
  KAGENT_TRY(const std::string text, sys::read_file(path, 1 << 16));
  KAGENT_TRY(const auto json, wire::parse_text(text, path.string()));
  return wire::parse<DeviceRecord>(json);
}

Result<void> print_one(const skills::SkillSet& set, const SkillsOptions& options, const std::filesystem::path& share) {
  KAGENT_TRY(const DeviceRecord device, usual_device(share));
  if (options.name == options.backend) {
    print_text(skills::fill_in(set.guide, device));
    return {};
  }
  const auto found = std::find_if(set.skills.begin(), set.skills.end(),
                                  [&](const skills::Skill& each) { return each.name == options.name; });
  if (found == set.skills.end()) {
    return Error{ErrorKind::usage, "there is no skill " + base::one_line(options.name, 60) + "; kagent skills lists them"};
  }
  print_text(skills::fill_in(found->files.at(found->main), device));
  for (const auto& [path, text] : found->files) {
    if (path != found->main) fmt::print("also: skills/{}, {} bytes\n", path, text.size());
  }
  return {};
}

void print_list(const skills::SkillSet& set, const SkillsOptions& options) {
  wire::Json list = wire::Json::array();
  for (const skills::Skill& skill : set.skills) {
    list.push_back({{"name", skill.name}, {"description", skill.description}, {"origin", skill.origin}, {"files", skill.files.size()}});
  }
  if (options.json) {
    fmt::print("{}\n", wire::dump({{"backend", options.backend}, {"skills", list}, {"notices", set.notices}}));
    return;
  }
  fmt::print("{:<24} {}\n", options.backend, "the guide: always in front of the model");
  for (const skills::Skill& skill : set.skills) {
    fmt::print("{:<24} {}{}\n", skill.name, base::one_line(skill.description, 110),
               skill.origin == "kagent" ? "" : " [" + base::one_line(skill.origin, 80) + "]");
  }
}

Result<void> run(const SkillsOptions& options) {
  KAGENT_TRY(const auto root, sys::installation_root());
  const auto share = root / "share/kagent";
  const Backend backend = options.backend == "cpu" ? Backend::cpu : Backend::cuda;
  KAGENT_TRY(const auto set, skills::find_skills(share / "skills", backend, skill_folders()));
  if (!options.json) {
    for (const std::string& line : set.notices) fmt::print(stderr, "kagent: {}\n", line);
  }
  if (!options.name.empty()) return print_one(set, options, share);
  print_list(set, options);
  return {};
}

}  // namespace

void add_skills(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<SkillsOptions>();
  auto* command = app.add_subcommand("skills", "notes that the model may read: kagent's, and the user's own");
  command->add_option("name", options->name, "print this one");
  command->add_option("--backend", options->backend, "whose: cuda (default) or cpu")->check(CLI::IsMember({"cuda", "cpu"}));
  command->add_flag("--json", options->json, "the list as one JSON object on stdout");
  command->callback([options, &exit_code_out] {
    const auto done = run(*options);
    exit_code_out = done ? kSuccess : report_failure(done.error(), options->json);
  });
}

}  // namespace kagent::cli
