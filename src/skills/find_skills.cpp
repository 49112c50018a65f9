// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "skills/skill.h"
#include "sys/confined_folder.h"
#include "sys/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kagent::skills {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64u << 10;
constexpr std::size_t kMaxSkillBytes = 512u << 10;
constexpr std::size_t kMaxFiles = 64;
constexpr std::size_t kMaxSkills = 32;  // of one folder
constexpr std::size_t kMaxDepth = 3;
constexpr std::size_t kMaxDescription = 300;

const char* word_of(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

bool is_name(const std::string& text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= 64 && text.front() != '-' && std::all_of(text.begin(), text.end(), fits);
}

/// Texts that a model can make something of; a skill's programs are never run.
bool is_text_file(const std::string& name) {
  for (const char* end : {".md", ".txt", ".cu", ".cuh", ".cpp", ".h", ".py", ".json"}) {
    if (name.size() > std::string(end).size() && name.ends_with(end)) return name.front() != '.';
  }
  return false;
}

/// Ours say when they are of use in a line of their own.
std::string use_when(const std::string& text) {
  constexpr std::string_view kStart = "\nUse when: ";
  const std::size_t at = text.find(kStart);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + kStart.size();
  return base::one_line(text.substr(begin, text.find('\n', begin) - begin), kMaxDescription);
}

Result<void> add_ours(const fs::path& folder, SkillSet& set) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return {};
  KAGENT_TRY(const auto confined, sys::ConfinedFolder::open(folder));
  KAGENT_TRY(const auto entries, confined.list("", 1000));
  for (const auto& entry : entries) {
    if (!entry.name.ends_with(".md")) continue;
    KAGENT_TRY(std::string text, sys::read_file(folder / entry.name, kMaxFileBytes));
    Skill skill;
    skill.name = entry.name.substr(0, entry.name.size() - 3);
    skill.description = use_when(text);
    skill.origin = "kagent";
    skill.main = entry.name;
    skill.files[entry.name] = std::move(text);
    set.skills.push_back(std::move(skill));
  }
  return {};
}

/// Every text of the skill's folder. An Error says why it is left out.
Result<void> read_files(const sys::ConfinedFolder& folder, const std::string& below, std::size_t depth, Skill& skill) {
  KAGENT_TRY(const auto entries, folder.list(below, 1000));
  std::size_t bytes = 0;
  for (const auto& entry : entries) {
    const std::string path = below + "/" + entry.name;
    if (entry.kind == sys::EntryKind::folder && depth < kMaxDepth && entry.name.front() != '.') {
      KAGENT_TRY_VOID(read_files(folder, path, depth + 1, skill));
    }
    if (entry.kind != sys::EntryKind::file || !is_text_file(entry.name)) continue;
    KAGENT_TRY(std::string text, folder.read(path, kMaxFileBytes));
    if (!base::is_valid_utf8(text)) return Error{ErrorKind::usage, path + ": not UTF-8"};
    skill.files[path] = std::move(text);
  }
  for (const auto& [path, text] : skill.files) bytes += text.size();
  if (skill.files.size() > kMaxFiles || bytes > kMaxSkillBytes) {
    return Error{ErrorKind::usage, fmt::format("more than {} files or {} KiB", kMaxFiles, kMaxSkillBytes >> 10)};
  }
  return {};
}

Result<Skill> read_skill(const sys::ConfinedFolder& folder, const std::string& name, const fs::path& origin) {
  if (!is_name(name)) return Error{ErrorKind::usage, "its name is not of lower-case letters, digits and dashes"};
  Skill skill;
  skill.name = name;
  skill.origin = origin.string();
  skill.main = name + "/SKILL.md";
  KAGENT_TRY_VOID(read_files(folder, name, 1, skill));
  const auto main = skill.files.find(skill.main);
  if (main == skill.files.end()) return Error{ErrorKind::usage, "no SKILL.md in it"};
  const FrontMatter front = read_front_matter(main->second);
  if (!front.name.empty() && front.name != name) {
    return Error{ErrorKind::usage, "SKILL.md calls it \"" + base::one_line(front.name, 60) + "\""};
  }
  skill.description = base::one_line(front.description, kMaxDescription);
  if (skill.description.empty()) return Error{ErrorKind::usage, "SKILL.md has no description in its front matter"};
  return skill;
}

void add_users(const fs::path& place, SkillSet& set) {
  std::error_code code;
  if (!fs::is_directory(place, code)) return;
  const auto leave_out = [&](const std::string& name, const std::string& why) {
    set.notices.push_back(base::one_line(fmt::format("skill {}/{} is left out: {}", place.string(), name, why), 400));
  };
  const auto folder = sys::ConfinedFolder::open(place);
  const auto entries = folder ? folder->list("", 1000) : Result<std::vector<sys::FolderEntry>>(folder.error());
  if (!entries) return leave_out("*", entries.error().message);
  std::size_t taken = 0;
  for (const auto& entry : *entries) {
    if (entry.kind != sys::EntryKind::folder || entry.name.front() == '.') continue;
    const auto same = std::find_if(set.skills.begin(), set.skills.end(), [&](const Skill& each) { return each.name == entry.name; });
    if (same != set.skills.end()) {
      leave_out(entry.name, "there is one of that name in " + same->origin);
    } else if (taken == kMaxSkills) {
      return leave_out("*", fmt::format("more than {} skills", kMaxSkills));
    } else if (auto skill = read_skill(*folder, entry.name, place)) {
      set.skills.push_back(*std::move(skill));
      ++taken;
    } else {
      leave_out(entry.name, skill.error().message);
    }
  }
}

}  // namespace

std::vector<fs::path> user_folders(const fs::path& home, const fs::path& config) {
  std::vector<fs::path> folders{".kagent/skills", ".agents/skills"};
  if (!config.empty()) folders.push_back(config / "kagent/skills");
  if (!home.empty()) folders.push_back(home / ".agents/skills");
  return folders;
}

Result<SkillSet> find_skills(const fs::path& installed, Backend backend, const std::vector<fs::path>& user_folders) {
  SkillSet set;
  const fs::path ours = installed / word_of(backend);
  KAGENT_TRY(set.guide, sys::read_file(ours / "SKILL.md", 1u << 20));
  set.guide.erase(0, read_front_matter(set.guide).length);
  KAGENT_TRY_VOID(add_ours(ours / "references", set));
  std::set<fs::path> seen;  // where kagent is called in the home folder, two names are one place
  for (const fs::path& folder : user_folders) {
    std::error_code code;
    if (seen.insert(fs::weakly_canonical(folder, code)).second) add_users(folder, set);
  }
  return set;
}

std::string guide_with_index(const SkillSet& set) {
  std::string text = set.guide;
  const auto add = [&](bool ours, const char* heading) {
    bool first = true;
    for (const Skill& skill : set.skills) {
      if ((skill.origin == "kagent") != ours) continue;
      if (std::exchange(first, false)) text += heading;
      text += fmt::format("- `skills/{}`: {}\n", skill.main, skill.description);
    }
  };
  add(true, "\n## Notes on techniques\nRead one with `read_file` when its moment has come; each has a kernel that compiles here.\n");
  add(false, "\n## Skills of the user\nAdvice for work like this; where it contradicts what stands above, that counts.\n");
  return text;
}

}  // namespace kagent::skills
