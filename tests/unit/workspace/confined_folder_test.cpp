// SPDX-License-Identifier: Apache-2.0
#include "sys/confined_folder.h"

#include "fakes/test_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kagent::sys {
namespace {

namespace fs = std::filesystem;
using fakes::TestFolder;

/// inside/ is the confined folder; outside/secret must never be read or changed.
struct Confined {
  Confined() {
    test.write("outside/secret", "secret");
    fs::create_directory(test / "inside");
  }
  ConfinedFolder open() const { return *ConfinedFolder::open(test / "inside"); }
  TestFolder test;
};

TEST(ConfinedFolder, RefusesPathsThatCouldLeaveIt) {
  const std::string bad[] = {"/etc/passwd",          "..",
                             "../outside/secret",    "a/../../outside/secret",
                             std::string("a\0b", 3), std::string(2000, 'a'),
                             std::string(250, 'n'),  "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q"};
  const Confined confined;
  const auto folder = confined.open();
  for (const std::string& path : bad) {
    const auto read = folder.read(path, 100);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().kind, ErrorKind::usage) << path;
    EXPECT_FALSE(folder.write(path, "x")) << path;
    EXPECT_FALSE(folder.list(path, 100)) << path;
  }
  EXPECT_FALSE(folder.read("", 100));
  EXPECT_FALSE(folder.write(".", "x"));
}

TEST(ConfinedFolder, WritesAndReadsBelowNewFolders) {
  const Confined confined;
  const auto folder = confined.open();
  ASSERT_TRUE(folder.write("./a//b/c.txt", "text"));
  EXPECT_EQ(*folder.read("a/b/c.txt", 4), "text");
  ASSERT_TRUE(folder.write("a/b/c.txt", "other"));
  EXPECT_EQ(confined.test.read("inside/a/b/c.txt"), "other");
  EXPECT_EQ(folder.list("a/b", 10)->size(), 1u) << "no temporary file stays";
  EXPECT_FALSE(folder.read("a/b/c.txt", 4)) << "larger than allowed";
  EXPECT_FALSE(folder.write("a/b", "x")) << "a folder";
  EXPECT_FALSE(folder.write("a/b/c.txt/d", "x")) << "a file on the way";
}

TEST(ConfinedFolder, FollowsNoSymbolicLink) {
  const Confined confined;
  fs::create_symlink("../outside/secret", confined.test / "inside/link");
  fs::create_symlink("../outside", confined.test / "inside/folder");
  fs::create_symlink("nowhere", confined.test / "inside/dangling");
  const auto folder = confined.open();
  for (const char* path : {"link", "folder/secret", "dangling"}) {
    EXPECT_FALSE(folder.read(path, 100)) << path;
    EXPECT_FALSE(folder.write(path, "changed")) << path;
  }
  EXPECT_FALSE(folder.write("folder/new", "x"));
  EXPECT_FALSE(folder.list("folder", 100));
  EXPECT_EQ(confined.test.read("outside/secret"), "secret");
  EXPECT_FALSE(confined.test.has("outside/new"));
  EXPECT_FALSE(ConfinedFolder::open(confined.test / "inside/folder"));
}

TEST(ConfinedFolder, NeitherReadsNorChangesWhatAHardLinkNames) {
  const Confined confined;
  fs::create_hard_link(confined.test / "outside/secret", confined.test / "inside/hard");
  const auto folder = confined.open();
  const auto read = folder.read("hard", 100);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("hard link"), std::string::npos);
  EXPECT_TRUE(folder.write("hard", "mine")) << "a new file takes its name";
  EXPECT_EQ(confined.test.read("outside/secret"), "secret");
  EXPECT_EQ(*folder.read("hard", 100), "mine");
}

TEST(ConfinedFolder, DoesNotWaitForAFifo) {
  const Confined confined;
  ASSERT_EQ(::mkfifo((confined.test / "inside/fifo").c_str(), 0600), 0);
  const auto folder = confined.open();
  EXPECT_FALSE(folder.read("fifo", 100));
  EXPECT_FALSE(folder.write("fifo", "x"));
  EXPECT_EQ(folder.list("", 10)->at(0), (FolderEntry{"fifo", EntryKind::other, 0}));
}

TEST(ConfinedFolder, ListsSortedAndWithinItsCap) {
  const Confined confined;
  const auto folder = confined.open();
  ASSERT_TRUE(folder.write("b", "12"));
  ASSERT_TRUE(folder.write("a/x", ""));
  const auto entries = *folder.list(".", 2);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0], (FolderEntry{"a", EntryKind::folder, 0}));
  EXPECT_EQ(entries[1], (FolderEntry{"b", EntryKind::file, 2}));
  EXPECT_FALSE(folder.list(".", 1));
}

TEST(ConfinedFolder, IsNotFooledByAFolderThatBecomesALink) {
  const Confined confined;
  confined.test.write("inside/real/secret", "harmless");
  const auto folder = confined.open();
  std::atomic<bool> stop{false};
  std::thread attacker([&] {
    const fs::path real = confined.test / "inside/real";
    const fs::path away = confined.test / "inside/away";
    while (!stop) {
      std::error_code ignored;
      fs::rename(real, away, ignored);
      fs::create_symlink("../outside", real, ignored);
      fs::remove(real, ignored);
      fs::rename(away, real, ignored);
    }
  });
  int read = 0;
  int refused = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((read < 2000 || refused < 2000) && std::chrono::steady_clock::now() < deadline) {
    const auto text = folder.read("real/secret", 100);
    (text ? read : refused) += 1;
    if (text) {
      EXPECT_EQ(*text, "harmless");
    }
    if (HasFailure()) break;
  }
  stop = true;
  attacker.join();
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace kagent::sys
