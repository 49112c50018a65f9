// SPDX-License-Identifier: Apache-2.0
// Which task files a batch is about, in KernelBench's order.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>

namespace kagent::batch {

struct TaskFile {
  std::filesystem::path path;
  std::string level;    // "level1": the name of its folder where that is levelN; else empty
  long number = -1;     // of "<number>_<Title>.py"; -1: none
  std::string name;     // file name without ".py"
  std::string id;       // "level1-19_ReLU", or the name: unique in the batch, a file name everywhere
};

struct TaskChoice {
  std::string filter;   // ECMAScript regular expression searched in "level1/19_ReLU.py"; empty: all
  int shard = 1;        // this many-th part of
  int shards = 1;       // so many; tasks are dealt out in turn, so that levels mix
};

/// Files are taken as they are; folders give every *.py in them and in their levelN folders. Names
/// that begin with "_" or "." are left out. Sorted by level, number, name. Errors are of kind usage:
/// no such path, a bad filter, nothing left, two tasks of one id.
Result<std::vector<TaskFile>> find_tasks(const std::vector<std::filesystem::path>& paths,
                                         const TaskChoice& choice);

}  // namespace kagent::batch
