// SPDX-License-Identifier: Apache-2.0
#include "toolbox/edit_match.h"

#include <gtest/gtest.h>

#include <random>

namespace kagent::toolbox {
namespace {

std::string edited(const std::string& file, const std::string& wanted,
                   const std::string& replacement,
                   Occurrences occurrences = Occurrences::only_one) {
  const auto match = find_edit(file, wanted, replacement, occurrences);
  const auto* found = std::get_if<EditFound>(&match);
  return found == nullptr ? "(nothing)" : apply_edit(file, *found);
}

TEST(FindEdit, ReplacesTheOnlyPlace) {
  EXPECT_EQ(edited("int a = 1;\nint b = 2;\n", "b = 2", "b = 3"), "int a = 1;\nint b = 3;\n");
  EXPECT_EQ(edited("ab", "b", ""), "a");
}

TEST(FindEdit, SaysWhereAnAmbiguousTextStands) {
  const auto match = find_edit("x\ny\nx\n", "x", "z", Occurrences::only_one);
  EXPECT_EQ(std::get<EditAmbiguous>(match).lines, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(edited("x\ny\nx\n", "x", "z", Occurrences::all), "z\ny\nz\n");
  EXPECT_EQ(edited("aaa", "aa", "b", Occurrences::all), "ba") << "places do not overlap";
}

TEST(FindEdit, MatchesWholeLinesIgnoringWhiteSpace) {
  const std::string file = "def f():\n    if x:\n        y = 1\n        z = 2\n";
  const auto match =
      find_edit(file, "if x:\n    y  =  1\n", "if x:\n    y = 3\n", Occurrences::only_one);
  EXPECT_EQ(std::get<EditFound>(match).rule, MatchRule::ignoring_white_space);
  EXPECT_EQ(edited(file, "if x:\n    y  =  1\n", "if x:\n    y = 3\n"),
            "def f():\n    if x:\n        y = 3\n        z = 2\n")
      << "indented as the file is";
  EXPECT_EQ(edited("a;\r\nb;\r\n", "a;\nb;", "c;"), "c;\r\n");
  EXPECT_EQ(edited("\tfoo( a );\n", "foo(a);", "bar();"), "\tbar();\n");
}

TEST(FindEdit, DoesNotGuessBetweenLinesAlike) {
  const auto match = find_edit("  a;\n\ta;\n", "a;  ", "b;", Occurrences::only_one);
  EXPECT_EQ(std::get<EditAmbiguous>(match).lines, (std::vector<std::size_t>{1, 2}));
}

TEST(FindEdit, ShowsTheNearestLines) {
  const std::string file = "alpha\nfloat sum = 0.0f;\nfor (int i = 0; i < n; ++i) {\nomega\n";
  const auto match =
      find_edit(file, "float sum = 0.f;\nfor (int i = 0; i < n; ++i) {", "", Occurrences::only_one);
  EXPECT_EQ(std::get<EditMissing>(match).first_line, 2u);
  EXPECT_EQ(std::get<EditMissing>(find_edit("", "x", "y", Occurrences::only_one)).count, 0u);
  EXPECT_EQ(std::get<EditMissing>(find_edit("text", " \n \n", "y", Occurrences::only_one)).count,
            0u);
}

TEST(FindEdit, CutsOffNothingAtTheEndOfAFileWithoutNewline) {
  EXPECT_EQ(edited("a\n  b  c", "b c", "d"), "a\n  d");
}

/// Over random texts of few letters: what is found is what was asked for, and nothing else changes.
TEST(FindEdit, KeepsItsPromisesOnRandomTexts) {
  std::mt19937 random(7);
  const auto text = [&](std::size_t length) {
    std::string letters;
    for (std::size_t i = 0; i < length; ++i) letters += "ab \n\t"[random() % 5];
    return letters;
  };
  for (int round = 0; round < 20000; ++round) {
    const std::string file = text(random() % 40);
    const std::string wanted = text(1 + random() % 5);
    const std::string replacement = text(random() % 5);
    std::size_t count = 0;
    for (std::size_t at = file.find(wanted); at != std::string::npos;
         at = file.find(wanted, at + wanted.size())) {
      ++count;
    }
    const auto match = find_edit(file, wanted, replacement, Occurrences::only_one);
    if (const auto* found = std::get_if<EditFound>(&match)) {
      ASSERT_EQ(found->places.size(), 1u);
      const Replacement& place = found->places.front();
      ASSERT_LE(place.begin, place.end);
      ASSERT_LE(place.end, file.size());
      const std::string after = apply_edit(file, *found);
      ASSERT_EQ(after, file.substr(0, place.begin) + place.text + file.substr(place.end));
      if (found->rule == MatchRule::exact) {
        ASSERT_EQ(count, 1u);
        ASSERT_EQ(file.substr(place.begin, wanted.size()), wanted);
        ASSERT_EQ(place.text, replacement);
      } else {
        ASSERT_EQ(count, 0u) << "exact text goes first";
      }
    } else if (std::holds_alternative<EditAmbiguous>(match)) {
      ASSERT_NE(count, 1u);
    } else {
      ASSERT_EQ(count, 0u);
    }
  }
}

}  // namespace
}  // namespace kagent::toolbox
