// SPDX-License-Identifier: Apache-2.0
#include "fakes/test_folder.h"
#include "toolbox/edit_file_tool.h"
#include "toolbox/finish_tool.h"
#include "toolbox/read_file_tool.h"
#include "toolbox/write_file_tool.h"
#include "wire/json.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

using wire::Json;

class FileTools : public ::testing::Test {
 protected:
  FileTools() {
    test.write("task.py", "class Model: ...\n");
    test.write("kernels/a.cu", "one\ntwo\nthree\n");
  }

  ToolOutcome read(const Json& arguments) { return read_tool.run(arguments.dump()); }
  ToolOutcome write(const std::string& path, const std::string& text) {
    return write_tool.run(Json{{"path", path}, {"text", text}}.dump());
  }
  ToolOutcome edit(const std::string& path, const std::string& old, const std::string& text) {
    return edit_tool.run(Json{{"path", path}, {"old", old}, {"new", text}}.dump());
  }

  fakes::TestFolder test;
  sys::ConfinedFolder folder = *sys::ConfinedFolder::open(test.path());
  WorkspaceFiles files{folder, {"task.py", "skills"}};
  ReadFileTool read_tool{files};
  WriteFileTool write_tool{files};
  EditFileTool edit_tool{files};
};

bool says(const ToolOutcome& outcome, const std::string& words) {
  return outcome.text.find(words) != std::string::npos;
}

TEST_F(FileTools, ReadNumbersLines) {
  EXPECT_EQ(read({{"path", "kernels/a.cu"}}).text, "     1\tone\n     2\ttwo\n     3\tthree\n");
  EXPECT_EQ(read({{"path", "kernels/a.cu"}, {"offset", 2}, {"limit", 1}}).text,
            "     2\ttwo\n[… 1 more lines; go on with offset 3 …]\n");
  EXPECT_TRUE(says(read({{"path", "kernels/a.cu"}, {"offset", 9}}), "has only 3 lines"));
}

TEST_F(FileTools, ReadCapsLongFiles) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "0123456789 0123456789 0123456789\n";
  test.write("long.txt", text);
  const ToolOutcome outcome = read({{"path", "long.txt"}});
  EXPECT_LT(outcome.text.size(), 52u << 10);
  EXPECT_TRUE(says(outcome, "go on with offset"));
  test.write("wide.txt", std::string(100000, 'x'));
  EXPECT_LT(read({{"path", "wide.txt"}}).text.size(), 4000u);
}

TEST_F(FileTools, ReadListsFolders) {
  EXPECT_EQ(read({{"path", "."}}).text, "kernels/\ntask.py  17 bytes\n");
  EXPECT_EQ(read({{"path", "/workspace"}}).text, read({{"path", "."}}).text);
}

TEST_F(FileTools, ReadShowsBinaryAsText) {
  test.write("binary", "a\xff\n");
  EXPECT_EQ(read({{"path", "binary"}}).text, "     1\ta\xEF\xBF\xBD\n");
}

TEST_F(FileTools, NothingOutsideIsReachable) {
  for (const char* path : {"../x", "/etc/passwd", "/workspace/../etc/passwd", "/workspacex/y"}) {
    EXPECT_TRUE(read({{"path", path}}).is_error) << path;
    EXPECT_TRUE(write(path, "x").is_error) << path;
    EXPECT_TRUE(edit(path, "a", "b").is_error) << path;
  }
}

TEST_F(FileTools, WriteMakesFoldersAndSaysHowMuch) {
  const ToolOutcome outcome = write("/workspace/kernels/new/b.cu", "x\ny\n");
  EXPECT_EQ(outcome.text, "wrote kernels/new/b.cu: 2 lines, 4 bytes");
  EXPECT_EQ(test.read("kernels/new/b.cu"), "x\ny\n");
}

TEST_F(FileTools, GivenFilesStayAsTheyAre) {
  for (const char* path : {"task.py", "./task.py", "kernels/../task.py", "skills/x.md"}) {
    EXPECT_TRUE(write(path, "x").is_error) << path;
  }
  EXPECT_TRUE(says(edit("task.py", "Model", "Other"), "read-only"));
  EXPECT_EQ(test.read("task.py"), "class Model: ...\n");
}

TEST_F(FileTools, EditReplacesAndShowsThePlace) {
  const ToolOutcome outcome = edit("kernels/a.cu", "two", "2\n2.5");
  EXPECT_FALSE(outcome.is_error);
  EXPECT_EQ(test.read("kernels/a.cu"), "one\n2\n2.5\nthree\n");
  EXPECT_TRUE(says(outcome, "edited kernels/a.cu at line 2"));
  EXPECT_TRUE(says(outcome, "     3\t2.5\n"));
}

TEST_F(FileTools, EditReportsThatItIgnoredWhiteSpace) {
  test.write("kernels/a.cu", "  if (x)\n    y();\n");
  EXPECT_TRUE(says(edit("kernels/a.cu", "if (x)\ny();", "z();"), "ignoring white space"));
  EXPECT_EQ(test.read("kernels/a.cu"), "  z();\n");
}

TEST_F(FileTools, EditRefusesWithoutChangingAnything) {
  const std::string before = test.read("kernels/a.cu");
  EXPECT_TRUE(says(edit("kernels/a.cu", "thre\n", "x"), "nearest lines are\n     3\tthree"));
  EXPECT_TRUE(
      says(edit("kernels/a.cu", "e", "x"), "stands 3 times in kernels/a.cu (lines 1, 3, 3)"));
  EXPECT_TRUE(says(edit("kernels/a.cu", "", "x"), "\"old\" is empty"));
  EXPECT_TRUE(says(edit("kernels/a.cu", "one", "one"), "are the same"));
  EXPECT_TRUE(says(edit("kernels/none.cu", "one", "two"), "no such file"));
  EXPECT_EQ(test.read("kernels/a.cu"), before);
}

TEST_F(FileTools, PlaceholdersForCodeAreRefused) {
  const std::string before = test.read("kernels/a.cu");
  EXPECT_TRUE(
      says(edit("kernels/a.cu", "two", "2\n// ... rest unchanged ..."),
           "line 2 of \"new\" stands for code that is left out: // ... rest unchanged ..."));
  const ToolOutcome written = write("kernels/a.cu", "one\n# ... existing code ...\n");
  EXPECT_TRUE(written.is_error);
  EXPECT_TRUE(says(written, "line 2 stands for code that is left out"));
  EXPECT_EQ(test.read("kernels/a.cu"), before);
}

TEST_F(FileTools, EditRefusesAFileThatChangedSinceItWasSeen) {
  read({{"path", "kernels/a.cu"}});
  test.write("kernels/a.cu", "one\nTWO\nthree\n");
  EXPECT_TRUE(says(edit("kernels/a.cu", "one", "1"), "has changed since"));
  EXPECT_EQ(test.read("kernels/a.cu"), "one\nTWO\nthree\n");
  read({{"path", "./kernels/a.cu"}});
  EXPECT_FALSE(edit("kernels/a.cu", "one", "1").is_error) << "seen again";
  EXPECT_FALSE(edit("kernels/a.cu", "TWO", "2").is_error) << "one's own edit counts as seen";
}

TEST_F(FileTools, EditReplacesAllWhereAsked) {
  edit_tool.run(R"({"path": "kernels/a.cu", "old": "e", "new": "E", "all": true})");
  EXPECT_EQ(test.read("kernels/a.cu"), "onE\ntwo\nthrEE\n");
}

TEST_F(FileTools, EverySpecHasASchema) {
  FinishTool finish;
  for (Tool* tool : std::vector<Tool*>{&read_tool, &write_tool, &edit_tool, &finish}) {
    EXPECT_TRUE(wire::parse_text(tool->spec().schema, tool->spec().name));
    EXPECT_TRUE(tool->run("[]").malformed);
  }
  EXPECT_TRUE(finish.run("{}").finish);
}

}  // namespace
}  // namespace kagent::toolbox
