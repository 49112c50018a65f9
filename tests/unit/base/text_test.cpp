// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace kagent::base {
namespace {

using Parts = std::vector<std::string>;

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
}

TEST(SplitLines, KnowsBothEndings) {
  EXPECT_EQ(split_lines(""), Parts{});
  EXPECT_EQ(split_lines("a\r\nb\n"), (Parts{"a", "b"}));
  EXPECT_EQ(split_lines("a\n\n"), (Parts{"a", ""}));
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Trim, LeavesInnerSpace) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(ToLower, TouchesAsciiOnly) { EXPECT_EQ(to_lower("NaN \xC3\x84"), "nan \xC3\x84"); }

TEST(Cap, LeavesShortTextAlone) { EXPECT_EQ(cap("abc", 3), "abc"); }

TEST(Cap, KeepsHeadAndTail) {
  const std::string text = std::string(600, 'h') + std::string(600, 't');
  const std::string capped = cap(text, 300);
  EXPECT_EQ(capped.substr(0, 200), std::string(200, 'h'));
  EXPECT_EQ(capped.substr(capped.size() - 100), std::string(100, 't'));
  EXPECT_NE(capped.find("[900 bytes left out]"), std::string::npos);
}

TEST(Cap, NeverCutsACharacter) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\xE2\x82\xAC";  // €
  for (std::size_t most = 0; most < 40; ++most) EXPECT_TRUE(is_valid_utf8(cap(text, most))) << most;
}

TEST(OneLine, EscapesWhatATerminalObeys) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(one_line("\xC2\x9B"
                     "31m"),
            "\\x9b31m");  // one-byte form of ESC [
  EXPECT_EQ(one_line(std::string("a\0b", 3)), "a\\x00b");
}

TEST(OneLine, ReplacesInvalidBytes) {
  EXPECT_EQ(one_line("\xFF"
                     "a"),
            "\xEF\xBF\xBD"
            "a");
}

TEST(OneLine, EndsInAnEllipsisWhereItCuts) {
  EXPECT_EQ(one_line("abcdef", 3), "abc\xE2\x80\xA6");
  EXPECT_EQ(one_line("abc", 3), "abc");
}

TEST(Utf8, KnowsValidFromInvalid) {
  for (const char* valid :
       {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_valid_utf8(valid)) << valid;
    EXPECT_EQ(replace_invalid_utf8(valid), valid);
  }
  const char* invalid[] = {"\x80",
                           "\xC3",
                           "\xC0\x80",
                           "\xC1\xBF",
                           "\xE0\x80\x80",
                           "\xED\xA0\x80",  // surrogate
                           "\xF0\x80\x80\x80",
                           "\xF4\x90\x80\x80",
                           "\xF8\x88\x80\x80\x80",
                           "a\xE2\x82"};
  for (const char* text : invalid) {
    EXPECT_FALSE(is_valid_utf8(text)) << text;
    EXPECT_TRUE(is_valid_utf8(replace_invalid_utf8(text))) << text;
  }
}

}  // namespace
}  // namespace kagent::base
