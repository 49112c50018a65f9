// SPDX-License-Identifier: Apache-2.0
#include "builder/host_compiler.h"

#include <fstream>
#include <optional>
#include <string_view>

#include "builder/tool_run.h"
#include "sys/files.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

std::string wrapper_text(const CompileUnit& unit) {
  std::string text = "#include <kagent/cpu.h>\n#include \"" + unit.source + "\"\n" +
                     probe_text(unit, CompilerKind::host) + "#include <kagent/cpu_launch.h>\n";
  for (std::size_t i = 0; i < unit.kernels.size(); ++i) {
    text += fmt::format("KAGENT_LAUNCHER(kagent_launch_{}, {})\n", i, unit.kernels[i].request.name);
  }
  return text;
}

/// Directives of the assembler that read files or hide others that do. gcc writes "#APP" ahead of
/// every inline assembly that is not empty.
std::optional<Fault> check_assembly(const std::string& assembly, const std::string& source) {
  for (const char* word : {"#APP\n", ".incbin", ".include", ".macro", ".altmacro", ".irp"}) {
    if (assembly.find(word) == std::string::npos) continue;
    Fault fault;
    fault.kind = FaultKind::forbidden_op;
    fault.at.file = source;
    fault.message = fmt::format("{}: inline assembly is not allowed in C++ kernels", source);
    fault.hint = "use the compiler's intrinsics: #include <immintrin.h>";
    return fault;
  }
  return std::nullopt;
}

}  // namespace

Result<Checked<CompileReport>> compile_for_host(const CompilerPaths& paths, const CompileUnit& unit,
                                                const Sources& sources,
                                                const std::string& architecture,
                                                const std::filesystem::path& folder,
                                                std::chrono::steady_clock::time_point deadline) {
  if (paths.host_compiler.empty()) {
    return Error{ErrorKind::environment, "no C++ compiler: apt-get install g++, or set KAGENT_CXX"};
  }
  KAGENT_TRY_VOID(write_sources(sources, folder));
  std::ofstream(folder / "kagent_unit.cpp") << wrapper_text(unit);
  std::vector<std::string> arguments = {paths.host_compiler, "-S", "-fopenmp", "-fPIC",
                                        "-fvisibility=hidden", "-march=" + architecture, "-I.",
                                        "-isystem", paths.host_include};
  arguments.insert(arguments.end(), unit.checked.arguments.begin(), unit.checked.arguments.end());
  arguments.insert(arguments.end(), {"-o", "unit.s", "kagent_unit.cpp"});
  KAGENT_TRY(ToolRun compiled, run_tool(arguments, folder, deadline));
  CompileReport report;
  report.log = std::move(compiled.output);
  report.late = compiled.late;
  if (!compiled.ok) return Checked<CompileReport>(std::move(report));
  KAGENT_TRY(const std::string assembly, sys::read_file(folder / "unit.s", 256u << 20));
  if (auto fault = check_assembly(assembly, unit.source)) return Checked<CompileReport>(*fault);

  // Linked without -fopenmp, so that OpenMP's symbols come from the libgomp that torch has loaded,
  // and without -ffast-math, which would set flush-to-zero for the whole process (pitfall 21).
  KAGENT_TRY(ToolRun linked, run_tool({paths.host_compiler, "-shared", "-o", "unit.so", "unit.s"},
                                      folder, deadline));
  report.ok = linked.ok;
  report.late = linked.late;
  report.log += linked.output;
  if (report.ok) {
    KAGENT_TRY(report.image, sys::read_file(folder / "unit.so", 256u << 20));
  }
  return Checked<CompileReport>(std::move(report));
}

}  // namespace kagent::builder
