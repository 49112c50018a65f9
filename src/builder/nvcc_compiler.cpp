// SPDX-License-Identifier: Apache-2.0
#include "builder/nvcc_compiler.h"

#include <fstream>

#include "builder/tool_run.h"
#include "sys/files.h"

namespace kagent::builder {

Result<CompileReport> compile_with_nvcc(const CompilerPaths& paths, const CompileUnit& unit,
                                        const Sources& sources, const std::string& architecture,
                                        const std::filesystem::path& folder,
                                        std::chrono::steady_clock::time_point deadline) {
  if (paths.nvcc.empty()) {
    return Error{ErrorKind::environment,
                 "no nvcc on this machine: install the CUDA toolkit and build kagent again, or use "
                 "--compiler nvrtc"};
  }
  KAGENT_TRY_VOID(write_sources(sources, folder));
  const std::filesystem::path wrapper = folder / "kagent_unit.cu";
  std::ofstream(wrapper) << "#include \"" << unit.source << "\"\n"
                         << probe_text(unit, CompilerKind::nvcc);
  std::vector<std::string> arguments = {
      paths.nvcc, "-cubin", "-arch=" + architecture, "--ptxas-options=-v", "-lineinfo", "-DNDEBUG",
      "-I" + folder.string(), "-ccbin", paths.host_compiler};
  for (const std::string& argument : unit.checked.arguments) {
    if (argument != "-lineinfo") arguments.push_back(argument);
  }
  arguments.insert(arguments.end(), {"-o", "unit.cubin", wrapper.string()});
  KAGENT_TRY(ToolRun run, run_tool(arguments, folder, deadline));
  CompileReport report;
  report.ok = run.ok;
  report.late = run.late;
  report.log = std::move(run.output);
  if (report.ok) {
    KAGENT_TRY(report.image, sys::read_file(folder / "unit.cubin", 256u << 20));
  }
  return report;
}

}  // namespace kagent::builder
