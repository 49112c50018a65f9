// SPDX-License-Identifier: Apache-2.0
#include "toolbox/output_text.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

TEST(CleanOutput, LeavesWhatATerminalWouldShow) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"\x1b[1;31merror\x1b[0m: no\n", "error: no\n"},
      {"\x1b]0;title\atext", "text"},
      {"10 %\r50 %\r100 %\ndone", "100 %\ndone"},
      {"windows\r\nlines\r\n", "windows\nlines\n"},
      {"bell\a and del\x7f", "bell and del"},
      {std::string("nul\0byte", 8), "nulbyte"},
      {"torn \x1b[3", "torn "},
      {"torn \x1b", "torn "},
      {"bad \xff utf", "bad \xEF\xBF\xBD utf"},
  };
  for (const auto& [raw, clean] : cases) EXPECT_EQ(clean_output(raw), clean);
}

TEST(CapOutput, KeepsShortText) { EXPECT_EQ(cap_output("short", 5, "log"), "short"); }

TEST(CapOutput, KeepsHeadAndTailAndNamesTheLog) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string capped = cap_output(text, 1000, ".logs/bash-1.txt");
  EXPECT_LT(capped.size(), 1200u);
  EXPECT_EQ(capped.rfind("line 0\n", 0), 0u);
  EXPECT_NE(capped.find("line 999\n"), std::string::npos);
  EXPECT_NE(capped.find("all of it is in .logs/bash-1.txt"), std::string::npos);
  for (const std::string& line : base::split_lines(capped)) {
    EXPECT_TRUE(line.rfind("line ", 0) == 0 || line.rfind("[…", 0) == 0) << line;
  }
}

TEST(CapOutput, NeverCutsInsideACharacter) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "…";
  for (std::size_t cap = 10; cap < 60; ++cap) {
    EXPECT_TRUE(base::is_valid_utf8(cap_output(text, cap, ""))) << cap;
  }
}

}  // namespace
}  // namespace kagent::toolbox
