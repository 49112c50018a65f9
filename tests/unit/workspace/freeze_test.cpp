// SPDX-License-Identifier: Apache-2.0
#include "workspace/freeze.h"

#include "fakes/test_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace kagent::workspace {
namespace {

namespace fs = std::filesystem;
using fakes::TestFolder;

class Freeze : public ::testing::Test {
 protected:
  Freeze() { test.write("workspace/model_new.py", "class ModelNew: ..."); }

  Frozen freeze_it(const FreezeLimits& limits = {}) const {
    const auto folder = *sys::ConfinedFolder::open(test / "workspace");
    fs::create_directories(test / "candidates");
    auto frozen = freeze(folder, test / "candidates", limits);
    EXPECT_TRUE(frozen) << (frozen ? "" : frozen.error().message);
    return *frozen;
  }
  Candidate candidate() const {
    const Frozen frozen = freeze_it();
    EXPECT_TRUE(std::holds_alternative<Candidate>(frozen)) << std::get<Fault>(frozen).message;
    return std::get<Candidate>(frozen);
  }
  Fault fault(const FreezeLimits& limits = {}) const {
    const Frozen frozen = freeze_it(limits);
    EXPECT_TRUE(std::holds_alternative<Fault>(frozen));
    return std::holds_alternative<Fault>(frozen) ? std::get<Fault>(frozen) : Fault{};
  }

  TestFolder test;
};

TEST_F(Freeze, TakesTheModelAndEverythingBelowKernels) {
  test.write("workspace/kernels/a.cu", "a");
  test.write("workspace/kernels/deep/b.cuh", "b");
  test.write("workspace/kernels/.a.cu.swp", "\xff");
  test.write("workspace/notes.txt", "not part of it");
  const Candidate frozen = candidate();
  ASSERT_EQ(frozen.files.size(), 3u);
  EXPECT_EQ(frozen.files.at("kernels/deep/b.cuh"), "b");
  EXPECT_EQ(frozen.folder, test / "candidates" / frozen.hash / "source");
  EXPECT_EQ(test.read("candidates/" + frozen.hash + "/source/kernels/a.cu"), "a");
  for (const auto& entry : fs::recursive_directory_iterator(frozen.folder)) {
    if (entry.is_regular_file()) {
      EXPECT_EQ(entry.status().permissions() & fs::perms(0222), fs::perms::none) << entry.path();
    }
  }
}

TEST_F(Freeze, NeedsNoKernels) {
  EXPECT_EQ(candidate().files.size(), 1u);
  test.write("workspace/kernels/.keep", "");
  EXPECT_EQ(candidate().files.size(), 1u);
}

TEST_F(Freeze, GivesTheSameFolderForTheSameText) {
  const Candidate first = candidate();
  EXPECT_EQ(candidate(), first);
  test.write("workspace/model_new.py", "class ModelNew: pass");
  const Candidate second = candidate();
  EXPECT_NE(second.hash, first.hash);
  EXPECT_EQ(test.read("candidates/" + first.hash + "/source/model_new.py"), "class ModelNew: ...");
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(test / "candidates")) folders += entry.exists();
  EXPECT_EQ(folders, 2) << "no temporary folder stays";
}

TEST_F(Freeze, HashesNamesAndTextsApart) {
  EXPECT_NE(candidate_hash({{"a", "bc"}}), candidate_hash({{"ab", "c"}}));
  EXPECT_NE(candidate_hash({{"a", "1"}, {"b", ""}}), candidate_hash({{"a", ""}, {"b", "1"}}));
  EXPECT_EQ(candidate_hash({}).size(), 64u);
}

TEST_F(Freeze, NamesAMissingModel) {
  fs::remove(test / "workspace/model_new.py");
  const Fault missing = fault();
  EXPECT_EQ(missing.kind, FaultKind::unsupported);
  EXPECT_EQ(missing.at.file, "model_new.py");
  EXPECT_NE(missing.message.find("no such file"), std::string::npos);
}

TEST_F(Freeze, RefusesWhatIsNotAPlainFileOfItsOwn) {
  test.write("outside", "secret");
  const auto refuse = [&](const char* what, auto make) {
    fs::remove_all(test / "workspace/kernels");
    fs::create_directory(test / "workspace/kernels");
    make(test / "workspace/kernels/x.cu");
    const Fault refused = fault();
    EXPECT_EQ(refused.at.file, "kernels/x.cu") << what << ": " << refused.message;
    EXPECT_EQ(refused.message.find("secret"), std::string::npos);
  };
  refuse("symbolic link",
         [&](const fs::path& path) { fs::create_symlink(test / "outside", path); });
  refuse("hard link", [&](const fs::path& path) { fs::create_hard_link(test / "outside", path); });
  refuse("fifo", [&](const fs::path& path) { ::mkfifo(path.c_str(), 0600); });
  refuse("not UTF-8", [&](const fs::path&) { test.write("workspace/kernels/x.cu", "\xc3\x28"); });
  refuse("NUL",
         [&](const fs::path&) { test.write("workspace/kernels/x.cu", std::string("a\0b", 3)); });
  refuse("too large", [&](const fs::path&) {
    test.write("workspace/kernels/x.cu", std::string((1u << 20) + 1, 'a'));
  });
}

TEST_F(Freeze, RefusesAKernelFolderThatIsALink) {
  fs::create_directory(test / "elsewhere");
  fs::create_directory_symlink(test / "elsewhere", test / "workspace/kernels");
  EXPECT_EQ(fault().at.file, "kernels");
}

TEST_F(Freeze, KeepsItsCaps) {
  for (int i = 0; i < 3; ++i) {
    test.write("workspace/kernels/" + std::to_string(i) + ".cu", std::string(40, 'a'));
  }
  EXPECT_NE(fault({.files = 3}).message.find("more than 3 files"), std::string::npos);
  EXPECT_NE(fault({.total_bytes = 130}).message.find("larger than 130"), std::string::npos);
  EXPECT_NE(fault({.file_bytes = 30}).message.find("larger than 30"), std::string::npos);
  test.write("workspace/kernels/a/b/c/d/e/f.cu", "deep");
  EXPECT_NE(fault().message.find("too deep"), std::string::npos);
}

TEST_F(Freeze, RefusesNamesThatCannotBePrinted) {
  test.write("workspace/kernels/a\nb.cu", "");
  EXPECT_NE(fault().message.find("not printable"), std::string::npos);
}

TEST_F(Freeze, ReplacesWhatAKilledRunLeft) {
  const Candidate first = candidate();
  fs::remove_all(test / "candidates");
  test.write("candidates/.freeze-" + first.hash.substr(0, 16) + "/source/half", "torn");
  EXPECT_EQ(candidate(), first);
  EXPECT_FALSE(fs::exists(first.folder / "half"));
}

}  // namespace
}  // namespace kagent::workspace
