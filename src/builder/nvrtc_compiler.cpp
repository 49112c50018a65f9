// SPDX-License-Identifier: Apache-2.0
#include "builder/nvrtc_compiler.h"

#include <memory>
#include <type_traits>

#include "builder/shims.h"

namespace kagent::builder {
namespace {

/// The one owner of an nvrtcProgram.
class Program {
 public:
  Program(const NvrtcLibrary& nvrtc, const std::string& name, const std::string& text,
          const std::vector<std::pair<std::string, std::string>>& headers)
      : nvrtc_(nvrtc) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [header, content] : headers) {
      names.push_back(header.c_str());
      texts.push_back(content.c_str());
    }
    status_ = nvrtc_.create(&program_, text.c_str(), name.c_str(), static_cast<int>(headers.size()),
                            texts.data(), names.data());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy(&program_);
  }

  CompileReport compile(const std::vector<std::string>& arguments) {
    CompileReport report;
    if (status_ == NVRTC_SUCCESS) {
      std::vector<const char*> pointers;
      for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
      status_ = nvrtc_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
      report.log = text(nvrtc_.log_size, nvrtc_.log);
    }
    report.ok = status_ == NVRTC_SUCCESS;
    if (report.ok) report.image = text(nvrtc_.cubin_size, nvrtc_.cubin);
    while (!report.log.empty() && report.log.back() == '\0') report.log.pop_back();
    if (!report.ok && report.log.empty()) report.log = nvrtc_.error_string(status_);
    return report;
  }

 private:
  template <typename Size, typename Get>
  std::string text(Size size, Get get) const {
    std::size_t bytes = 0;
    if (size(program_, &bytes) != NVRTC_SUCCESS) return {};
    std::string result(bytes, '\0');
    return get(program_, result.data()) == NVRTC_SUCCESS ? result : std::string();
  }

  const NvrtcLibrary& nvrtc_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult status_ = NVRTC_SUCCESS;
};

/// cooperative_groups.h drags in a second's worth of <cuda/atomic>, and needs CCCL for it, unless told
/// not to. Only sources that use libcu++ anyway notice.
bool uses_libcudacxx(const Sources& sources) {
  for (const auto& [name, text] : sources) {
    for (const char* word : {"cuda/", "cuda::", "cub/", "cub::", "thrust", "cute", "cutlass"}) {
      if (text.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

std::vector<std::string> arguments_for(const CompilerPaths& paths, const CheckedOptions& checked,
                                       const std::string& architecture, bool libcudacxx) {
  std::vector<std::string> arguments = {
      "-arch=" + architecture, "--ptxas-options=-v", "-lineinfo", "-DNDEBUG",
      std::string("-include=") + kPrelude,
      "-diag-suppress=47"};  // "incompatible redefinition": sources that define INFINITY themselves
  if (!libcudacxx) arguments.emplace_back("-D_CG_LIMIT_INCLUDED_DEPENDENCIES");
  for (const std::string& folder : paths.cuda_includes) arguments.push_back("-I" + folder);
  for (const std::string& argument : checked.arguments) {
    if (argument != "-lineinfo") arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace

CompileReport compile_with_nvrtc(const NvrtcLibrary& nvrtc, const CompilerPaths& paths,
                                 const CompileUnit& unit, const Sources& sources,
                                 const std::string& architecture) {
  std::vector<std::pair<std::string, std::string>> headers = shim_headers(!paths.has_nv_target);
  for (const auto& [name, text] : sources) headers.emplace_back(name, text);
  const std::string text = sources.at(unit.source) + probe_text(unit, CompilerKind::nvrtc);
  Program program(nvrtc, unit.source, text, headers);
  return program.compile(arguments_for(paths, unit.checked, architecture, uses_libcudacxx(sources)));
}

void warm_up_nvrtc(const NvrtcLibrary& nvrtc, const CompilerPaths& paths) {
  const std::string source = "kernels/warm_up.cu";
  const Sources sources = {
      {source,
       "#include <cuda_fp16.h>\n#include <cstdint>\n"
       "template <int N> __global__ void rows(const float* x, __half* y, int n) {\n"
       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  if (i < n) y[i] = __float2half(expf(x[i]) * N);\n}\n"}};
  CompileUnit unit;
  unit.source = source;
  unit.checked.arguments = {"-std=c++20"};
  KernelToBuild kernel;
  kernel.request.source = source;
  kernel.request.name = "rows<4>";
  unit.kernels.push_back(kernel);
  compile_with_nvrtc(nvrtc, paths, unit, sources, "sm_90a");
}

}  // namespace kagent::builder
