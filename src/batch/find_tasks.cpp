// SPDX-License-Identifier: Apache-2.0
#include "batch/find_tasks.h"

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

namespace kagent::batch {
namespace {

namespace fs = std::filesystem;

bool is_level(const std::string& folder) {
  static const std::regex pattern("level[0-9]{1,3}");
  return std::regex_match(folder, pattern);
}

TaskFile describe(const fs::path& path) {
  TaskFile task;
  task.path = path;
  task.name = path.stem().string();
  const std::string folder = fs::absolute(path).parent_path().filename().string();
  if (is_level(folder)) task.level = folder;
  const auto digits = task.name.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string::npos && digits < 10 && task.name[digits] == '_') {
    task.number = std::stol(task.name.substr(0, digits));
  }
  task.id = task.level.empty() ? task.name : task.level + "-" + task.name;
  return task;
}

bool is_task_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".py" && name.front() != '_' && name.front() != '.';
}

Result<void> add_folder(const fs::path& folder, bool with_levels, std::vector<TaskFile>& tasks) {
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const fs::path& path = entry->path();
    if (entry->is_directory(code)) {
      if (with_levels && is_level(path.filename().string())) {
        KAGENT_TRY_VOID(add_folder(path, false, tasks));
      }
    } else if (is_task_name(path)) {
      tasks.push_back(describe(path));
    }
  }
  if (code) return Error{ErrorKind::usage, folder.string() + ": " + code.message()};
  return {};
}

auto order_of(const TaskFile& task) {
  // level10 comes after level9.
  return std::make_tuple(task.level.size(), task.level, task.number < 0, task.number, task.name);
}

std::string searched_name(const TaskFile& task) {
  return (task.level.empty() ? "" : task.level + "/") + task.name + ".py";
}

}  // namespace

Result<std::vector<TaskFile>> find_tasks(const std::vector<fs::path>& paths, const TaskChoice& choice) {
  std::vector<TaskFile> tasks;
  for (const auto& path : paths) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
      KAGENT_TRY_VOID(add_folder(path, true, tasks));
    } else if (fs::exists(path, code)) {
      tasks.push_back(describe(path));
    } else {
      return Error{ErrorKind::usage, path.string() + ": no such file or folder"};
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const TaskFile& a, const TaskFile& b) { return order_of(a) < order_of(b); });
  if (!choice.filter.empty()) {
    try {
      const std::regex pattern(choice.filter);
      std::erase_if(tasks, [&](const TaskFile& task) {
        return !std::regex_search(searched_name(task), pattern);
      });
    } catch (const std::regex_error&) {
      return Error{ErrorKind::usage, "--filter " + choice.filter + ": not a regular expression"};
    }
  }
  std::vector<TaskFile> ours;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!ids.insert(tasks[i].id).second) {
      return Error{ErrorKind::usage, tasks[i].path.string() + ": a second task named " + tasks[i].id +
                                         "; run them as batches of their own"};
    }
    if (static_cast<int>(i % static_cast<std::size_t>(choice.shards)) == choice.shard - 1) {
      ours.push_back(std::move(tasks[i]));
    }
  }
  if (ours.empty()) return Error{ErrorKind::usage, "no task files (*.py) are left to run"};
  return ours;
}

}  // namespace kagent::batch
