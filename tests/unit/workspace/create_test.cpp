// SPDX-License-Identifier: Apache-2.0
#include "workspace/create.h"

#include "fakes/test_folder.h"

#include <gtest/gtest.h>

namespace kagent::workspace {
namespace {

namespace fs = std::filesystem;

TEST(Create, GivesReadOnlyCopiesAndAnEmptyKernelFolder) {
  const fakes::TestFolder test;
  ASSERT_TRUE(create(test / "workspace", {{"task.py", "task"}, {"skills/notes.md", "notes"}}));
  EXPECT_EQ(test.read("workspace/task.py"), "task");
  EXPECT_EQ(test.read("workspace/skills/notes.md"), "notes");
  EXPECT_TRUE(fs::is_empty(test / "workspace/kernels"));
  const auto permissions = fs::status(test / "workspace/task.py").permissions();
  EXPECT_EQ(permissions & fs::perms(0222), fs::perms::none);
}

TEST(Create, RefusesAFolderThatIsThere) {
  const fakes::TestFolder test;
  test.write("workspace/model_new.py", "mine");
  EXPECT_FALSE(create(test / "workspace", {}));
  EXPECT_EQ(test.read("workspace/model_new.py"), "mine");
}

TEST(Create, RefusesGivenFilesOutside) {
  const fakes::TestFolder test;
  EXPECT_FALSE(create(test / "workspace", {{"../task.py", "task"}}));
  EXPECT_FALSE(test.has("task.py"));
}

}  // namespace
}  // namespace kagent::workspace
