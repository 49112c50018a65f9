// SPDX-License-Identifier: Apache-2.0
#include "builder/engine.h"

#include <poll.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "builder/compile_unit.h"
#include "builder/compiler_log.h"
#include "builder/file_access.h"
#include "builder/forked_call.h"
#include "builder/host_compiler.h"
#include "builder/nvcc_compiler.h"
#include "builder/nvrtc_compiler.h"
#include "builder/nvrtc_library.h"
#include "builder/scratch_folder.h"
#include "builder/source_scan.h"
#include "builder/tool_run.h"
#include "builder/unit_check.h"
#include "sys/files.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

using Clock = ForkedCall::Clock;
constexpr std::size_t kMaxImage = 256u << 20;
constexpr std::size_t kMaxReport = 4u << 20;
constexpr std::size_t kMaxUnits = 64;

Fault refuse(FaultKind kind, const SourceLine& at, std::string message, std::string hint = {}) {
  Fault fault;
  fault.kind = kind;
  fault.at = at;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

/// Kernels with the same source and options share a unit, in order of first appearance.
Checked<std::vector<CompileUnit>> group(const BuildRequest& request, CompilerKind compiler) {
  std::vector<CompileUnit> units;
  for (const KernelToBuild& kernel : request.kernels) {
    const KernelRequest& wanted = kernel.request;
    if (request.sources.count(wanted.source) == 0) {
      std::vector<std::string> names;
      for (const auto& [name, text] : request.sources) names.push_back(name);
      return refuse(FaultKind::build_failed, wanted.at,
                    fmt::format("there is no source '{}'", base::one_line(wanted.source, 80)),
                    names.empty() ? "kernels/ is empty"
                                  : "there are: " + base::one_line(base::join(names, ", "), 300));
    }
    if (auto name = check_name(wanted); std::holds_alternative<Fault>(name)) {
      return std::get<Fault>(name);
    }
    auto checked = check_options(wanted, compiler);
    if (const auto* fault = std::get_if<Fault>(&checked)) return *fault;
    auto unit = std::find_if(units.begin(), units.end(), [&](const CompileUnit& other) {
      return other.source == wanted.source && other.options == wanted.options;
    });
    if (unit == units.end()) {
      units.push_back({wanted.source, wanted.options, std::get<CheckedOptions>(checked), {}});
      unit = units.end() - 1;
    }
    unit->kernels.push_back(kernel);
  }
  if (units.size() > kMaxUnits) {
    return refuse(FaultKind::build_failed, {},
                  fmt::format("{} pairs of source and options; {} are allowed", units.size(), kMaxUnits));
  }
  return units;
}

/// One unit on its way: the child, and the memory it writes into.
struct Running {
  std::size_t unit = 0;
  std::filesystem::path folder;
  sys::Fd image;
  sys::Fd report;
  Clock::time_point start;
  std::optional<ForkedCall> call;
};

/// What a child tells besides the image.
struct ChildReport {
  bool ok = false;
  bool late = false;
  std::string log;
  std::string error;               // ours: no compiler, no space
  std::optional<Fault> fault;      // refused before the image was made
};

std::string encode(const ChildReport& report) {
  wire::Json json{{"ok", report.ok}, {"late", report.late}, {"log", base::cap(report.log, kMaxReport / 4)}, {"error", report.error}};
  if (report.fault) json["fault"] = wire::to_json(*report.fault);
  return wire::dump(json);
}

std::optional<ChildReport> decode(const std::string& text) {
  const auto json = wire::parse_text(text, "a compiler's report");
  if (!json || !json->is_object() || !json->contains("ok") || !(*json)["ok"].is_boolean()) return {};
  ChildReport report;
  report.ok = (*json)["ok"].get<bool>();
  report.late = json->contains("late") && (*json)["late"].is_boolean() && (*json)["late"].get<bool>();
  for (const auto& [name, field] : {std::pair("log", &report.log), std::pair("error", &report.error)}) {
    if (json->contains(name) && (*json)[name].is_string()) *field = (*json)[name].get<std::string>();
  }
  if (json->contains("fault")) {
    auto fault = wire::parse<Fault>((*json)["fault"]);
    if (fault) report.fault = std::move(*fault);
  }
  return report;
}

}  // namespace

struct Engine::State {
  CompilerPaths paths;
  EngineLimits limits;
  ScratchFolder scratch;
  std::optional<NvrtcLibrary> nvrtc;
  std::string nvrtc_error;
  std::map<CompilerKind, std::string> names;

  sandbox::FreshNest nest = sandbox::FreshNest::open();

  State(CompilerPaths p, EngineLimits l, ScratchFolder s)
      : paths(std::move(p)), limits(l), scratch(std::move(s)) {}

  Result<void> load_nvrtc();
  std::string name(CompilerKind compiler);
  ChildReport compile(const CompileUnit& unit, CompilerKind compiler, const BuildRequest& request,
                      const Sources& sources, const std::filesystem::path& folder, std::string& image);
  Result<std::unique_ptr<Running>> start(const std::vector<CompileUnit>& units, std::size_t index,
                                         CompilerKind compiler, const BuildRequest& request,
                                         const Sources& sources);
  /// The unit's part of the result, or the Fault.
  Result<std::optional<Fault>> collect(Running& running, const CompileUnit& unit,
                                       CompilerKind compiler, const Sources& sources,
                                       Built& built);
  Result<BuildOutcome> run_all(const std::vector<CompileUnit>& units, CompilerKind compiler,
                               const BuildRequest& request, const Sources& sources);
};

Result<void> Engine::State::load_nvrtc() {
  if (nvrtc) return {};
  if (nvrtc_error.empty()) {
    auto library = NvrtcLibrary::load(paths.nvrtc);
    if (library) {
      nvrtc = std::move(*library);
      return {};
    }
    nvrtc_error = library.error().message;
  }
  return Error{ErrorKind::environment, nvrtc_error};
}

std::string Engine::State::name(CompilerKind compiler) {
  if (const auto known = names.find(compiler); known != names.end()) return known->second;
  std::string found;
  if (compiler == CompilerKind::nvrtc) {
    if (load_nvrtc()) found = nvrtc->name;
  } else if (compiler == CompilerKind::nvcc && !paths.nvcc.empty()) {
    // "Cuda compilation tools, release 13.0, V13.0.88"
    const auto run = run_tool({paths.nvcc, "--version"}, "/", Clock::now() + std::chrono::seconds(20));
    std::smatch match;
    static const std::regex release("release ([0-9.]+)");
    if (run && std::regex_search(run->output, match, release)) found = "nvcc " + match.str(1);
  } else if (compiler == CompilerKind::host && !paths.host_compiler.empty()) {
    const std::string version = first_line_of({paths.host_compiler, "-dumpfullversion", "-dumpversion"});
    if (!version.empty()) found = "g++ " + version;
  }
  return names[compiler] = found;
}

ChildReport Engine::State::compile(const CompileUnit& unit, CompilerKind compiler,
                                   const BuildRequest& request, const Sources& sources,
                                   const std::filesystem::path& folder, std::string& image) {
  ChildReport report;
  const auto deadline = Clock::now() + std::chrono::seconds(limits.unit_seconds - 1);
  const auto take = [&](CompileReport made) {
    report.ok = made.ok;
    report.late = made.late;
    report.log = std::move(made.log);
    image = std::move(made.image);
  };
  if (compiler == CompilerKind::nvrtc) {
    take(compile_with_nvrtc(*nvrtc, paths, unit, sources, request.architecture));
  } else if (compiler == CompilerKind::nvcc) {
    auto made = compile_with_nvcc(paths, unit, sources, request.architecture, folder, deadline);
    made ? take(std::move(*made)) : void(report.error = made.error().message);
  } else {
    auto made = compile_for_host(paths, unit, sources, request.architecture, folder, deadline);
    if (!made) {
      report.error = made.error().message;
    } else if (auto* fault = std::get_if<Fault>(&*made)) {
      report.fault = *fault;
    } else {
      take(std::get<CompileReport>(std::move(*made)));
    }
  }
  return report;
}

Result<std::unique_ptr<Running>> Engine::State::start(const std::vector<CompileUnit>& units,
                                                      std::size_t index, CompilerKind compiler,
                                                      const BuildRequest& request,
                                                      const Sources& sources) {
  auto running = std::make_unique<Running>();
  running->unit = index;
  KAGENT_TRY(running->image, memory_file("kagent-image"));
  KAGENT_TRY(running->report, memory_file("kagent-report"));
  if (compiler != CompilerKind::nvrtc) {
    KAGENT_TRY(running->folder, scratch.folder(nest.next_user()));
  }
  running->start = Clock::now();
  const auto work = [&] {
    std::string image;
    ChildReport report = compile(units[index], compiler, request, sources, running->folder, image);
    if (report.ok && !sys::write_all(running->image.get(), image)) {
      report = {};
      report.error = "no memory for an image of " + std::to_string(image.size()) + " bytes";
    }
    [[maybe_unused]] const auto told = sys::write_all(running->report.get(), encode(report));
  };
  const sandbox::FileAccess access = file_access(paths, compiler, running->folder);
  sandbox::Confinement confinement;
  confinement.programs = compiler != CompilerKind::nvrtc;
  if (!running->folder.empty()) confinement.kept_folders = {running->folder.string()};
  confinement.files = &access;
  KAGENT_TRY(auto call, ForkedCall::start(work, {running->image.get(), running->report.get()},
                                          std::chrono::seconds(limits.unit_seconds), nest, confinement));
  running->call.emplace(std::move(call));
  return running;
}

Result<std::optional<Fault>> Engine::State::collect(Running& running, const CompileUnit& unit,
                                                    CompilerKind compiler, const Sources& sources,
                                                    Built& built) {
  const bool late = Clock::now() >= running.call->deadline();
  const sys::ExitStatus status = running.call->finish();
  running.call.reset();
  std::vector<std::string> hidden = paths.cuda_includes;
  std::sort(hidden.begin(), hidden.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (!running.folder.empty()) {
    scratch.remove(running.folder);
    hidden.insert(hidden.begin(), running.folder.string());
  }
  const SourceLine at{unit.source, 0};
  const Fault too_long = refuse(FaultKind::build_failed, at,
                                fmt::format("{} took longer than {} s to compile", unit.source,
                                            limits.unit_seconds),
                                "fewer or smaller template instantiations, less unrolling");
  if (late && status.code != 0) return std::optional(too_long);
  if (status.code != 0 || !seal(running.report) || !seal(running.image)) {
    return std::optional(refuse(FaultKind::build_failed, at,
                                fmt::format("the compiler did not survive {}: {}", unit.source,
                                            status.describe()),
                                "make the source simpler; fewer template instantiations"));
  }
  KAGENT_TRY(const std::string text, sys::read_all(running.report.get(), kMaxReport));
  const auto report = decode(text);
  if (!report) return Error{ErrorKind::internal, "a compiling child left no report"};
  if (!report->error.empty()) return Error{ErrorKind::environment, report->error};
  if (report->fault) return std::optional(*report->fault);
  if (report->late) return std::optional(too_long);
  if (!report->ok) {
    Fault fault = explain_failure(unit, compiler, sources, report->log, hidden);
    if (compiler == CompilerKind::nvrtc && paths.nvcc.empty()) {
      const std::size_t advice = fault.hint.find("; --compiler nvcc");
      if (advice != std::string::npos) fault.hint.resize(advice);
    }
    return std::optional(std::move(fault));
  }
  KAGENT_TRY(const std::string image, sys::read_all(running.image.get(), kMaxImage));
  auto kernels = inspect_image(unit, compiler, image, report->log);
  if (auto* fault = std::get_if<Fault>(&kernels)) return std::optional(std::move(*fault));
  for (KernelBuild& kernel : std::get<std::vector<KernelBuild>>(kernels)) {
    kernel.unit = static_cast<int>(running.unit);
    built.result.kernels.push_back(std::move(kernel));
  }
  BuildUnit& result = built.result.units[running.unit];
  result.source = unit.source;
  result.options = unit.options;
  result.hash = base::sha256_hex(image);
  result.log = readable_log(report->log, hidden);
  result.build_ms = std::chrono::duration<double, std::milli>(Clock::now() - running.start).count();
  built.images[running.unit] = std::move(running.image);
  return std::optional<Fault>();
}

Result<BuildOutcome> Engine::State::run_all(const std::vector<CompileUnit>& units,
                                            CompilerKind compiler, const BuildRequest& request,
                                            const Sources& sources) {
  Built built;
  built.result.compiler = name(compiler);
  built.result.units.resize(units.size());
  built.images.resize(units.size());
  std::vector<std::unique_ptr<Running>> running;
  std::map<std::size_t, Fault> faults;  // the first unit's is told, whichever ended first
  std::size_t next = 0;
  while (next < units.size() || !running.empty()) {
    while (faults.empty() && next < units.size() &&
           running.size() < static_cast<std::size_t>(limits.parallel_units)) {
      KAGENT_TRY(auto started, start(units, next++, compiler, request, sources));
      running.push_back(std::move(started));
    }
    if (running.empty()) break;
    std::vector<pollfd> waits;
    auto deadline = running.front()->call->deadline();
    for (const auto& one : running) {
      waits.push_back({one->call->pidfd(), POLLIN, 0});
      deadline = std::min(deadline, one->call->deadline());
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    ::poll(waits.data(), waits.size(), static_cast<int>(std::max<std::int64_t>(left.count() + 1, 0)));
    for (std::size_t i = running.size(); i-- > 0;) {
      if (waits[i].revents == 0 && Clock::now() < running[i]->call->deadline()) continue;
      const std::unique_ptr<Running> done = std::move(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      KAGENT_TRY(auto fault, collect(*done, units[done->unit], compiler, sources, built));
      if (fault) faults.emplace(done->unit, std::move(*fault));
    }
  }
  if (!faults.empty()) return BuildOutcome(faults.begin()->second);
  std::sort(built.result.kernels.begin(), built.result.kernels.end(),
            [](const KernelBuild& a, const KernelBuild& b) { return a.kernel < b.kernel; });
  return BuildOutcome(std::move(built));
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::create(CompilerPaths paths, EngineLimits limits) {
  KAGENT_TRY(ScratchFolder scratch, ScratchFolder::create());
  return std::unique_ptr<Engine>(
      new Engine(std::make_unique<State>(std::move(paths), limits, std::move(scratch))));
}

void Engine::warm_up() {
  if (state_->load_nvrtc()) warm_up_nvrtc(*state_->nvrtc, state_->paths);
}

std::vector<std::string> Engine::compilers() {
  std::vector<std::string> result;
  for (const CompilerKind compiler : {CompilerKind::nvrtc, CompilerKind::nvcc, CompilerKind::host}) {
    if (std::string found = state_->name(compiler); !found.empty()) result.push_back(std::move(found));
  }
  return result;
}

Result<BuildOutcome> Engine::build(const BuildRequest& request) {
  static const std::regex cuda_architecture("sm_[0-9]{2,3}[af]?");
  const bool cuda = request.backend == Backend::cuda;
  if (cuda ? !std::regex_match(request.architecture, cuda_architecture)
           : request.architecture != "native") {
    return Error{ErrorKind::internal, "build: no architecture '" + base::one_line(request.architecture, 40) + "'"};
  }
  const bool host = request.compiler == Compiler::host;
  if (request.compiler != Compiler::automatic && host == cuda) {
    return Error{ErrorKind::usage, cuda ? "--compiler host is for --backend cpu"
                                        : "--compiler nvrtc and nvcc are for --backend cuda"};
  }
  const CompilerKind compiler = !cuda                                 ? CompilerKind::host
                                : request.compiler == Compiler::nvcc ? CompilerKind::nvcc
                                                                     : CompilerKind::nvrtc;
  if (compiler == CompilerKind::nvrtc) KAGENT_TRY_VOID(state_->load_nvrtc());
  auto sources = scan_sources(request.sources);
  if (const auto* fault = std::get_if<Fault>(&sources)) return BuildOutcome(*fault);
  if (cuda) {
    if (auto fault = check_reserved_names(std::get<Sources>(sources))) return BuildOutcome(*fault);
  }
  auto units = group(request, compiler);
  if (const auto* fault = std::get_if<Fault>(&units)) return BuildOutcome(*fault);
  return state_->run_all(std::get<std::vector<CompileUnit>>(units), compiler, request,
                         std::get<Sources>(sources));
}

}  // namespace kagent::builder
