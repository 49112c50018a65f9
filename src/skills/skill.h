// SPDX-License-Identifier: Apache-2.0
// What the model may read when it wants to: our notes on techniques, and skills that the user keeps in folders (Agent
// Skills: a folder with a SKILL.md). docs/skills.md.
#pragma once

#include <kagent/device.h>
#include <kagent/result.h>
#include <kagent/settings.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kagent::skills {

struct Skill {
  std::string name;         // letters, digits and dashes
  std::string description;  // one line: when it is of use
  std::string origin;       // "kagent", or the folder that it was found in
  std::string main;         // which of its files to begin with
  std::map<std::string, std::string> files;  // path below "skills/" to text
};

struct SkillSet {
  std::string guide;  // text of the backend's SKILL.md, without its front matter
  std::vector<Skill> skills;
  std::vector<std::string> notices;  // a skill that was left out, and why; one line each
};

/// Where users keep skills: the project's folders, then the user's. home, config: empty where there is none.
std::vector<std::filesystem::path> user_folders(const std::filesystem::path& home, const std::filesystem::path& config);

/// installed: share/kagent/skills. What users keep is hostile: names, sizes and kinds of files are checked, no link is
/// followed, and what does not fit is left out with a notice. An Error only for what is ours.
Result<SkillSet> find_skills(const std::filesystem::path& installed, Backend backend,
                             const std::vector<std::filesystem::path>& user_folders);

/// The guide, then one line for each skill.
std::string guide_with_index(const SkillSet& set);

/// Facts of the card in place of {{sm_count}} and its kin; other braces stay.
std::string fill_in(std::string text, const DeviceRecord& device);

/// What stands in a SKILL.md between its lines of "---": name and description, each "" where it is missing.
struct FrontMatter {
  std::string name;
  std::string description;
  std::size_t length = 0;  // bytes up to the text
};
FrontMatter read_front_matter(const std::string& text);

}  // namespace kagent::skills
