// SPDX-License-Identifier: Apache-2.0
#include "builder/file_access.h"

#include <system_error>

namespace kagent::builder {
namespace {

/// The folder that holds a program's bin folder, links followed: /usr/local/cuda-13.0 of
/// /usr/local/cuda/bin/nvcc.
std::string home_of(const std::string& program) {
  std::error_code code;
  const std::filesystem::path real = std::filesystem::canonical(program, code);
  return code ? std::string() : real.parent_path().parent_path().string();
}

}  // namespace

sandbox::FileAccess file_access(const CompilerPaths& paths, CompilerKind compiler,
                       const std::filesystem::path& folder) {
  sandbox::FileAccess access;
  access.read = paths.cuda_includes;
  if (compiler == CompilerKind::nvrtc) return access;  // everything else is loaded already
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
                           "/sys/devices/system/cpu"}) {
    access.read.emplace_back(path);
  }
  access.read.push_back(home_of(paths.host_compiler));
  access.read.push_back(paths.host_include);
  if (compiler == CompilerKind::nvcc) access.read.push_back(home_of(paths.nvcc));
  access.read_write = {folder.string(), "/dev/null"};
  return access;
}

}  // namespace kagent::builder
