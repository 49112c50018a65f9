// SPDX-License-Identifier: Apache-2.0
#include "toolbox/placeholder.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

TEST(Placeholder, IsACommentThatStandsForCode) {
  for (const char* line :
       {"// ... rest of the code unchanged ...", "    # ... existing code ...",
        "/* ... unchanged ... */", "# rest of the kernel", "// (rest of code unchanged)",
        "// … same as before …", "# Existing code", "//... omitted for brevity",
        "# [remaining code ...]"}) {
    EXPECT_EQ(find_placeholder(std::string("int a;\n") + line + "\n", "").line, 2u) << line;
  }
}

TEST(Placeholder, IsNoOrdinaryCommentAndNoCode) {
  for (const char* line :
       {"// the rest of the row is handled by the last warp", "# x is unchanged by this step",
        "class A: ...", "// pad to 128 bytes...", "#include <kagent/cpu.h>", "#pragma unroll",
        "std::tuple<Args...> rest;", "// existing values of y are overwritten",
        "auto rest = \"// ... rest of the code\";",
        "// load tile i+1 ... while the existing one is computed"}) {
    EXPECT_EQ(find_placeholder(line, "").line, 0u) << line;
  }
}

TEST(Placeholder, MayStayWhereItWas) {
  const std::string text = "# ... existing code ...\n";
  EXPECT_EQ(find_placeholder(text + "x = 1\n", text).line, 0u);
}

}  // namespace
}  // namespace kagent::toolbox
