// SPDX-License-Identifier: Apache-2.0
#include "skills/skill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fakes/test_folder.h"

namespace kagent::skills {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceRecord card(const std::string& name = "Card") {
  DeviceRecord device;
  device.name = name;
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 227 << 10;
  return device;
}

class UserSkills : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  void skill(const std::string& name, const std::string& front) { write("place/" + name + "/SKILL.md", "---\n" + front + "\n---\nText.\n"); }

  /// The users' part of what is found.
  SkillSet found(Backend backend = Backend::cpu) {
    auto set = find_skills(KAGENT_SKILLS, backend, {folder_.path() / "missing", folder_.path() / "place"});
    EXPECT_TRUE(set) << set.error().message;
    return set ? *set : SkillSet();
  }

  fakes::TestFolder folder_;
};

TEST(Skills, OursAreWhole) {
  const auto set = find_skills(KAGENT_SKILLS, Backend::cuda, {});
  ASSERT_TRUE(set) << set.error().message;
  std::set<std::string> names;
  for (const Skill& skill : set->skills) {
    names.insert(skill.name);
    EXPECT_GT(skill.description.size(), 40u) << skill.name;
    EXPECT_THAT(skill.description, Not(HasSubstr("…"))) << skill.name;
    const std::string filled = fill_in(skill.files.at(skill.main), card());
    // C++ has "{{" of its own, but never with a letter right after it and "}}" at the end of the word.
    EXPECT_THAT(filled, Not(::testing::ContainsRegex("[{][{][a-z_]+[}][}]"))) << skill.name;
    EXPECT_LT(filled.size(), 12u << 10) << skill.name;
  }
  for (const char* name : {"coalescing", "vector-loads", "shared-memory-tiling", "warp-reductions", "online-softmax", "split-k",
                           "fusion-and-algebra", "batchnorm-folding", "library-calls", "tensor-cores-mma", "tensor-cores-wgmma",
                           "tma", "persistent-kernels", "launch-overhead", "nvrtc-limits", "numerics"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  const std::string guide = guide_with_index(*set);
  EXPECT_EQ(guide.rfind("# How to make", 0), 0u) << guide.substr(0, 80);
  EXPECT_THAT(guide, HasSubstr("- `skills/tma.md`: "));
  EXPECT_THAT(guide, Not(HasSubstr("Skills of the user")));
  EXPECT_THAT(fill_in(guide, card()), HasSubstr("132 SMs"));
}

TEST(Skills, FactsAreFilledInOnce) {
  EXPECT_EQ(fill_in("{{card}}: {{sm_count}}, {{shared_kib_per_block}}; {{other}} {1, {2}}", card("Card {{sm_count}}")),
            "Card {{sm_count}}: 132, 227; {{other}} {1, {2}}");
}

TEST(Skills, FrontMatter) {
  const FrontMatter plain = read_front_matter("---\nname: a\ndescription: \"What: it is\"\nlicense: x\n---\nText");
  EXPECT_EQ(plain.name, "a");
  EXPECT_EQ(plain.description, "What: it is");
  EXPECT_EQ(plain.length, std::string("---\nname: a\ndescription: \"What: it is\"\nlicense: x\n---\n").size());
  EXPECT_EQ(read_front_matter("---\r\ndescription: >-\r\n  two\r\n  lines\r\nname: 'b'\r\n---\r\n").description, "two lines");
  EXPECT_EQ(read_front_matter("---\ndescription: one\n  more\n---\n").description, "one more");
  for (const char* text : {"", "---", "---\n", "---\nname: a\n", "name: a\n---\n", "# Title\n"}) {
    EXPECT_EQ(read_front_matter(text).length, 0u) << text;
    EXPECT_EQ(read_front_matter(text).name, "") << text;
  }
}

TEST_F(UserSkills, AreFoundWithTheirTexts) {
  skill("team-notes", "name: team-notes\ndescription: Our layouts");
  write("place/team-notes/references/deep/layout.md", "NHWC");
  write("place/team-notes/kernel.cu", "int x;");
  write("place/team-notes/run.sh", "rm");
  write("place/team-notes/.hidden.md", "no");
  write("place/README.md", "beside");
  const SkillSet set = found();
  ASSERT_EQ(set.skills.size(), 1u);
  EXPECT_EQ(set.notices, std::vector<std::string>());
  EXPECT_EQ(set.skills[0].description, "Our layouts");
  std::vector<std::string> paths;
  for (const auto& [path, text] : set.skills[0].files) paths.push_back(path);
  EXPECT_EQ(paths, (std::vector<std::string>{"team-notes/SKILL.md", "team-notes/kernel.cu", "team-notes/references/deep/layout.md"}));
  EXPECT_THAT(guide_with_index(set), HasSubstr("Skills of the user"));
  EXPECT_THAT(guide_with_index(set), HasSubstr("- `skills/team-notes/SKILL.md`: Our layouts\n"));
}

TEST_F(UserSkills, HostileOnesAreLeftOut) {
  skill("Upper", "description: x");
  skill("with space", "description: x");
  skill("other-name", "name: else\ndescription: x");
  skill("no-description", "name: no-description");
  write("place/no-file/notes.md", "x");
  skill("bytes", "description: x");
  write("place/bytes/data.txt", "\xff\xfe");
  skill("large", "description: x");
  write("place/large/data.txt", std::string(65 << 10, 'x'));
  skill("many", "description: x");
  for (int i = 0; i < 70; ++i) write("place/many/" + std::to_string(i) + ".md", "x");
  skill("heavy", "description: x");
  for (int i = 0; i < 9; ++i) write("place/heavy/" + std::to_string(i) + ".md", std::string(60 << 10, 'x'));
  skill("linked", "description: x");
  fs::create_symlink("/etc/passwd", folder_.path() / "place/linked/passwd.txt");
  fs::create_directory_symlink("/etc", folder_.path() / "place/etc");
  skill("good", "description: >\n  line\n  \x1b[2J" + std::string(1000, 'y'));
  const SkillSet set = found();
  std::vector<std::string> names;
  for (const Skill& each : set.skills) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"good", "linked"}));
  EXPECT_EQ(set.skills[1].files.size(), 1u);  // the link is not a file
  EXPECT_LT(set.skills[0].description.size(), 320u);
  EXPECT_THAT(set.skills[0].description, Not(HasSubstr("\x1b")));
  EXPECT_EQ(set.notices.size(), 9u) << ::testing::PrintToString(set.notices);
  for (const std::string& line : set.notices) EXPECT_THAT(line, HasSubstr(" is left out: "));
}

TEST_F(UserSkills, NeverHideOurs) {
  skill("tma", "description: mine");
  const SkillSet set = found(Backend::cuda);
  for (const Skill& each : set.skills) EXPECT_EQ(each.origin, "kagent");
  ASSERT_EQ(set.notices.size(), 1u);
  EXPECT_THAT(set.notices[0], HasSubstr("there is one of that name in kagent"));
}

TEST_F(UserSkills, NotMoreThanTheirNumber) {
  for (int i = 0; i < 40; ++i) skill("s" + std::to_string(i), "description: x");
  const SkillSet set = found();
  EXPECT_EQ(set.skills.size(), 32u);
  ASSERT_EQ(set.notices.size(), 1u);
  EXPECT_THAT(set.notices[0], HasSubstr("more than 32 skills"));
}

TEST(Skills, UsualFolders) {
  EXPECT_EQ(user_folders("/home/u", "/home/u/.config"),
            (std::vector<fs::path>{".kagent/skills", ".agents/skills", "/home/u/.config/kagent/skills", "/home/u/.agents/skills"}));
  EXPECT_EQ(user_folders("", "").size(), 2u);
}

}  // namespace
}  // namespace kagent::skills
