// SPDX-License-Identifier: Apache-2.0
#include "builder/unit_check.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/text.h"
#include "builder/compiler_log.h"
#include "builder/cubin_check.h"
#include "builder/elf.h"
#include "builder/parameters.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

struct Probes {
  std::map<int, std::vector<std::string>> signatures;  // parameter types by kernel of the unit
  std::map<int, std::string> entries;                  // symbol by kernel of the unit
};

/// "f(float*)" and "ns::f(float*)" -> "f": what an extern "C" function's symbol is.
std::string bare_name(const std::string& demangled) {
  const std::string head = demangled.substr(0, demangled.find('('));
  const std::size_t colon = head.rfind("::");
  return colon == std::string::npos ? head : head.substr(colon + 2);
}

/// NVRTC spells kernels of unnamed namespaces without their parameters inside a probe. The symbol of
/// the only function that is `name` up to them, or "".
std::string without_parameters(const std::map<std::string, std::string>& by_demangled,
                               const std::string& name) {
  std::string found;
  for (auto at = by_demangled.lower_bound(name + "("); at != by_demangled.end(); ++at) {
    if (at->first.compare(0, name.size() + 1, name + "(") != 0) break;
    if (!found.empty()) return {};
    found = at->second;
  }
  return found;
}

Probes find_probes(const ElfFile& image) {
  Probes probes;
  std::map<int, std::string> wanted;
  std::map<std::string, std::string> by_demangled;
  std::map<std::string, bool> plain;
  for (const ElfSymbol& symbol : image.symbols()) {
    if (symbol.section == SHN_UNDEF) continue;
    const std::string name = demangle(symbol.name);
    if (auto probe = read_probe(name)) {
      probes.signatures[probe->number] = std::move(probe->parameters);
      wanted[probe->number] = std::move(probe->kernel);
    } else if (symbol.type != STT_FUNC) {
      continue;
    } else if (name == symbol.name) {
      plain[name] = true;
    } else {
      by_demangled[name] = symbol.name;
    }
  }
  for (const auto& [kernel, name] : wanted) {
    if (const auto found = by_demangled.find(name); found != by_demangled.end()) {
      probes.entries[kernel] = found->second;
    } else if (const std::string symbol = without_parameters(by_demangled, name); !symbol.empty()) {
      probes.entries[kernel] = symbol;
    } else if (plain.count(bare_name(name)) > 0) {
      probes.entries[kernel] = bare_name(name);
    }
  }
  return probes;
}

Fault broken(const KernelRequest& kernel, const std::string& problem) {
  Fault fault;
  fault.kind = FaultKind::build_failed;
  fault.at = kernel.at;
  fault.message = fmt::format("{}: kernel {} {}", kernel.source, base::one_line(kernel.name, 80), problem);
  return fault;
}

/// The image's own sizes must agree with what the probe said: a runner packs by them.
bool sizes_agree(const std::vector<KernelParameter>& parameters, const std::vector<int>& sizes) {
  return std::equal(parameters.begin(), parameters.end(), sizes.begin(), sizes.end(),
                    [](const KernelParameter& a, int b) { return a.bytes == b; });
}

Checked<KernelBuild> inspect_kernel(const KernelToBuild& kernel, int position, const Probes& probes,
                                    CompilerKind compiler, const ElfFile& image) {
  KernelBuild build;
  build.kernel = kernel.kernel;
  const auto signature = probes.signatures.find(position);
  const auto entry = probes.entries.find(position);
  if (signature == probes.signatures.end() || (entry == probes.entries.end() &&
                                               compiler != CompilerKind::host)) {
    return broken(kernel.request, "was compiled, but no entry of that name came out");
  }
  for (std::size_t i = 0; i < signature->second.size(); ++i) {
    auto parameter = classify(signature->second[i], static_cast<int>(i), kernel.request);
    if (const auto* fault = std::get_if<Fault>(&parameter)) return *fault;
    build.parameters.push_back(std::get<KernelParameter>(parameter));
  }
  if (compiler == CompilerKind::host) {
    build.entry = fmt::format("kagent_launch_{}", position);
    return build;
  }
  build.entry = entry->second;
  const auto sizes = parameter_sizes(image, build.entry);
  if (!sizes || !sizes_agree(build.parameters, *sizes)) {
    return broken(kernel.request, "has other parameters in the image than in the source");
  }
  return build;
}

/// The kernel whose probe line the first error names.
std::optional<std::pair<std::size_t, std::string>> failed_probe(const std::string& log,
                                                                std::size_t kernels) {
  for (const std::string& line : base::split_lines(log)) {
    if (line.rfind(kProbeFile, 0) != 0 || line.find("error") == std::string::npos) continue;
    const std::size_t start = std::string(kProbeFile).size() + 1;
    int number = 0;
    if (line.size() <= start) continue;
    std::from_chars(line.data() + start, line.data() + line.size(), number);
    if (number < 1 || static_cast<std::size_t>(number) > kernels) continue;
    const std::size_t words = line.find(": ", line.find("error"));
    return std::pair(static_cast<std::size_t>(number - 1),
                     words == std::string::npos ? line : line.substr(words + 2));
  }
  return std::nullopt;
}

Fault missing_kernel(const CompileUnit& unit, CompilerKind compiler, const Sources& sources,
                     const KernelRequest& kernel, const std::string& words) {
  const Backend backend = compiler == CompilerKind::host ? Backend::cpu : Backend::cuda;
  std::vector<std::string> names;
  for (const auto& [file, text] : sources) {
    for (const std::string& name : kernel_names(text, backend)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  const std::string bare = bare_name(kernel.name.substr(0, kernel.name.find('<')));
  const std::string wanted(base::trim(bare));
  Fault fault = broken(kernel, "");
  if (std::find(names.begin(), names.end(), wanted) != names.end()) {
    fault.message = fmt::format("{}: kernel {} does not fit what the source defines: {}", unit.source,
                                base::one_line(kernel.name, 80), base::one_line(words, 200));
    fault.hint = "give template arguments in full, and the namespace: ops::rows<float, 4>";
    return fault;
  }
  names.resize(std::min<std::size_t>(names.size(), 20));
  fault.message = fmt::format("{} has no kernel {}", unit.source, base::one_line(kernel.name, 80));
  fault.hint = names.empty()
                   ? std::string("it defines no kernel at all: ") +
                         (backend == Backend::cuda ? "__global__ void name(...)" : "void name(...)")
                   : "it has: " + base::one_line(base::join(names, ", "), 300);
  return fault;
}

}  // namespace

Checked<std::vector<KernelBuild>> inspect_image(const CompileUnit& unit, CompilerKind compiler,
                                                const std::string& image, const std::string& log) {
  const auto file = ElfFile::read(image);
  if (!file) {
    Fault fault;
    fault.kind = FaultKind::build_failed;
    fault.at.file = unit.source;
    fault.message = unit.source + ": the compiler left no readable image";
    return fault;
  }
  if (compiler != CompilerKind::host) {
    if (auto fault = check_cubin(*file, unit.source)) return *fault;
  }
  const Probes probes = find_probes(*file);
  const std::map<std::string, Usage> usage = resource_usage(log);
  std::vector<KernelBuild> builds;
  for (std::size_t i = 0; i < unit.kernels.size(); ++i) {
    auto build = inspect_kernel(unit.kernels[i], static_cast<int>(i), probes, compiler, *file);
    if (const auto* fault = std::get_if<Fault>(&build)) return *fault;
    builds.push_back(std::get<KernelBuild>(std::move(build)));
    if (const auto used = usage.find(builds.back().entry); used != usage.end()) {
      builds.back().registers = used->second.registers;
      builds.back().spill_store_bytes = used->second.spill_store_bytes;
      builds.back().spill_load_bytes = used->second.spill_load_bytes;
      builds.back().shared_bytes = used->second.shared_bytes;
    }
  }
  return builds;
}

Fault explain_failure(const CompileUnit& unit, CompilerKind compiler, const Sources& sources,
                      const std::string& log, const std::vector<std::string>& hidden) {
  const std::string readable = readable_log(log, hidden);
  const Fault fault = compile_fault(readable, unit.source);
  // Where the source itself is fine, a probe failed: the name does not fit.
  if (const auto probe = failed_probe(log, unit.kernels.size());
      probe && !has_error(readable)) {
    return missing_kernel(unit, compiler, sources, unit.kernels[probe->first].request, probe->second);
  }
  return fault;
}

}  // namespace kagent::builder
