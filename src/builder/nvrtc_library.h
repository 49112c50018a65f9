// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded at run time: the CPU backend must work where there is none.
#pragma once

#include <string>

#include <nvrtc.h>

#include <kagent/result.h>

namespace kagent::builder {

/// The functions we use, under NVRTC's own names. Loaded once, never unloaded.
struct NvrtcLibrary {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  std::string name;  // "nvrtc 13.0"

  /// `path`: libnvrtc.so.13. Its builtins library, which lies beside it, is loaded first, since the
  /// wheel's NVRTC has no path to it. The error says what to install.
  static Result<NvrtcLibrary> load(const std::string& path);
};

}  // namespace kagent::builder
