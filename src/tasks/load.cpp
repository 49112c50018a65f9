// SPDX-License-Identifier: Apache-2.0
#include "tasks/load.h"

#include "base/hash.h"
#include "base/text.h"
#include "sys/files.h"

namespace kagent::tasks {

Result<Task> load(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = 4u << 20;
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    return Error{ErrorKind::usage, path.string() + ": is a folder; name the task's .py file"};
  }
  KAGENT_TRY(std::string source, sys::read_file(path, kMaxBytes));
  if (path.extension() != ".py") {
    return Error{ErrorKind::task_invalid, path.string() + ": a task is a Python file (.py)"};
  }
  if (!base::is_valid_utf8(source)) {
    return Error{ErrorKind::task_invalid, path.string() + ": not UTF-8 text"};
  }
  Task task;
  task.name = path.stem().string();
  task.path = std::filesystem::absolute(path, code);
  task.hash = base::sha256_hex(source);
  task.source = std::move(source);
  return task;
}

}  // namespace kagent::tasks
