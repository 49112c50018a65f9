// SPDX-License-Identifier: Apache-2.0
#include "builder/nvrtc_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace kagent::builder {
namespace {

void load_builtins(const std::filesystem::path& folder) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (entry.path().filename().string().rfind("libnvrtc-builtins.so.", 0) == 0) {
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<NvrtcLibrary> NvrtcLibrary::load(const std::string& path) {
  if (path.empty()) {
    return Error{ErrorKind::environment,
                 "no NVRTC: install torch with CUDA (its wheels bring libnvrtc.so.13) or the CUDA "
                 "toolkit, then build kagent again"};
  }
  load_builtins(std::filesystem::path(path).parent_path());
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{ErrorKind::environment, fmt::format("NVRTC: {}", ::dlerror())};
  }
  NvrtcLibrary nvrtc;
  const bool complete = find(library, "nvrtcVersion", nvrtc.version) &&
                        find(library, "nvrtcGetErrorString", nvrtc.error_string) &&
                        find(library, "nvrtcCreateProgram", nvrtc.create) &&
                        find(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
                        find(library, "nvrtcCompileProgram", nvrtc.compile) &&
                        find(library, "nvrtcGetProgramLogSize", nvrtc.log_size) &&
                        find(library, "nvrtcGetProgramLog", nvrtc.log) &&
                        find(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) &&
                        find(library, "nvrtcGetCUBIN", nvrtc.cubin);
  if (!complete) return Error{ErrorKind::environment, "NVRTC: " + path + " lacks functions"};
  int major = 0;
  int minor = 0;
  nvrtc.version(&major, &minor);
  nvrtc.name = fmt::format("nvrtc {}.{}", major, minor);
  return nvrtc;
}

}  // namespace kagent::builder
