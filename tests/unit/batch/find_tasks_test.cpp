// SPDX-License-Identifier: Apache-2.0
#include "batch/find_tasks.h"

#include "batch/kagent_process.h"
#include "fakes/test_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kagent::batch {
namespace {

std::vector<std::string> ids(const std::vector<TaskFile>& tasks) {
  std::vector<std::string> all;
  for (const auto& task : tasks) all.push_back(task.id);
  return all;
}

class FindTasks : public ::testing::Test {
 protected:
  FindTasks() {
    for (const char* name : {"level1/19_ReLU.py", "level1/2_Matmul.py", "level10/1_Late.py", "level2/1_Conv.py",
                             "level2/notes.txt", "level2/__init__.py", "scratch/9_Hidden.py", "own.py"}) {
      folder_.write(name, "pass\n");
    }
  }
  fakes::TestFolder folder_;
};

TEST_F(FindTasks, OrderIsLevelNumberName) {
  const auto tasks = find_tasks({folder_.path()}, {});
  ASSERT_TRUE(tasks);
  EXPECT_EQ(ids(*tasks), (std::vector<std::string>{"own", "level1-2_Matmul", "level1-19_ReLU", "level2-1_Conv", "level10-1_Late"}));
  EXPECT_EQ((*tasks)[2].level, "level1");
  EXPECT_EQ((*tasks)[2].number, 19);
  EXPECT_EQ((*tasks)[0].number, -1);
}

TEST_F(FindTasks, FilterSeesLevelAndName) {
  EXPECT_EQ(ids(*find_tasks({folder_.path()}, {"level1/.*ReLU", 1, 1})), std::vector<std::string>{"level1-19_ReLU"});
  EXPECT_EQ(find_tasks({folder_.path()}, {"nothing", 1, 1}).error().kind, ErrorKind::usage);
  EXPECT_EQ(find_tasks({folder_.path()}, {"(", 1, 1}).error().kind, ErrorKind::usage);
}

TEST_F(FindTasks, ShardsAreDisjointAndComplete) {
  std::vector<std::string> seen;
  for (int shard = 1; shard <= 3; ++shard) {
    for (const auto& id : ids(*find_tasks({folder_.path()}, {"", shard, 3}))) seen.push_back(id);
  }
  std::sort(seen.begin(), seen.end());
  auto all = ids(*find_tasks({folder_.path()}, {}));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(seen, all);
}

TEST_F(FindTasks, TwoTasksOfOneIdAreRefused) {
  folder_.write("other/own.py", "pass\n");
  const auto tasks = find_tasks({folder_ / "own.py", folder_ / "other/own.py"}, {});
  ASSERT_FALSE(tasks);
  EXPECT_NE(tasks.error().message.find("own"), std::string::npos);
  EXPECT_FALSE(find_tasks({folder_ / "nowhere"}, {}));
}

TEST_F(FindTasks, CandidatesAreFoundByAnyOfTheirNames) {
  const auto tasks = *find_tasks({folder_.path()}, {"ReLU|own", 1, 1});
  const TaskFile& own = tasks[0];
  const TaskFile& relu = tasks[1];
  EXPECT_EQ(find_candidate(folder_ / "c", relu, "cuda"), "");
  folder_.write("c/19_ReLU.py", "");
  EXPECT_EQ(find_candidate(folder_ / "c", relu, "cuda"), folder_ / "c/19_ReLU.py");
  folder_.write("c/level1-19/model_new.py", "");
  EXPECT_EQ(find_candidate(folder_ / "c", relu, "cuda"), folder_ / "c/level1-19");
  folder_.write("c/level1/19_ReLU/model_new.py", "");
  EXPECT_EQ(find_candidate(folder_ / "c", relu, "cuda"), folder_ / "c/level1/19_ReLU");
  folder_.write("c/own/cpu/model_new.py", "");
  EXPECT_EQ(find_candidate(folder_ / "c", own, "cpu"), folder_ / "c/own/cpu");
  EXPECT_EQ(find_candidate(folder_ / "c", own, "cuda"), "");
}

}  // namespace
}  // namespace kagent::batch
