// SPDX-License-Identifier: Apache-2.0
// Which compilers and headers this installation was configured with (libexec/kagent/paths.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>

namespace kagent::builder {

struct CompilerPaths {
  std::vector<std::string> cuda_includes;  // in order; cccl folders beside them included
  std::string nvrtc;                       // libnvrtc.so.13
  std::string nvcc;                        // empty where there is no toolkit
  std::string host_compiler;               // c++
  std::string host_include;                // share/kagent/include
  bool has_nv_target = false;              // some include folder has <nv/target>

  /// Reads paths.json. The environment wins: KAGENT_CUDA_INCLUDE (folders with colons between),
  /// KAGENT_CXX. Folders that are not there are left out.
  static Result<CompilerPaths> read(const std::filesystem::path& file);

  /// paths.json beside this program.
  static Result<CompilerPaths> of_this_program();
};

}  // namespace kagent::builder
