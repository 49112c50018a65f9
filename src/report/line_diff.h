// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kagent::report {

/// What changed between two texts, as `diff -u` shows it: hunks with three lines of context, no file
/// header. Empty where the lines are equal. Where both differ in thousands of lines, everything between
/// the common head and tail counts as replaced.
std::string line_diff(const std::string& before, const std::string& after);

/// The same for folders (path -> text), each changed file under a line "--- path"; a file that came or
/// went is one whole hunk.
std::string folder_diff(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after);

}  // namespace kagent::report
