// SPDX-License-Identifier: Apache-2.0
#include "report/line_diff.h"

#include <gtest/gtest.h>

namespace kagent::report {
namespace {

TEST(LineDiff, IsWhatDiffShows) {
  EXPECT_EQ(line_diff("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nX\nf\ng\nh\n"),
            "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n");
  EXPECT_EQ(line_diff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(line_diff("", "new\n"), "@@ -1,0 +1,1 @@\n+new\n");
}

TEST(LineDiff, FarChangesAreHunksOfTheirOwnAndNearOnesShareOne) {
  std::string before, after;
  for (int i = 0; i < 40; ++i) {
    before += std::to_string(i) + "\n";
    after += i == 3 || i == 30 ? "changed\n" : std::to_string(i) + "\n";
  }
  const std::string text = line_diff(before, after);
  EXPECT_NE(text.find("@@ -1,7 +1,7 @@"), std::string::npos) << text;
  EXPECT_NE(text.find("@@ -28,7 +28,7 @@"), std::string::npos) << text;
  const std::string near = line_diff("1\n2\n3\n4\n5\n6\n", "x\n2\n3\n4\n5\ny\n");
  EXPECT_EQ(near.find("@@", 3), near.rfind("@@")) << near;
  EXPECT_EQ(near, "@@ -1,6 +1,6 @@\n-1\n+x\n 2\n 3\n 4\n 5\n-6\n+y\n");
}

TEST(LineDiff, FilesThatComeAndGo) {
  EXPECT_EQ(folder_diff({{"a", "1\n"}, {"b", "2\n"}}, {{"b", "2\n"}, {"c", "3\n"}}), "--- a\n@@ -1,1 +1,0 @@\n-1\n--- c\n@@ -1,0 +1,1 @@\n+3\n");
}

TEST(LineDiff, LargeTextsDoNotTakeForever) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(line_diff(before, after).substr(0, 26), "@@ -1,20000 +1,20000 @@\n-a");
}

}  // namespace
}  // namespace kagent::report
