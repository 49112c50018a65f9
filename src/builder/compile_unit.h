// SPDX-License-Identifier: Apache-2.0
// One unit: one source with one set of options, and the kernels wanted of it. What each compiler
// makes of it, before anything is believed.
#pragma once

#include <string>
#include <vector>

#include "builder/compiler_paths.h"
#include "builder/options.h"
#include "builder/request.h"

namespace kagent::builder {

struct CompileUnit {
  std::string source;
  std::vector<std::string> options;        // as the candidate wrote them
  CheckedOptions checked;
  std::vector<KernelToBuild> kernels;
};

struct CompileReport {
  bool ok = false;
  bool late = false;   // took too long
  std::string log;     // raw
  std::string image;   // cubin or shared object, where ok
};

/// The file that diagnostics about probes name: line i + 1 belongs to kernel i, and an error there
/// means that its name does not fit.
inline constexpr const char* kProbeFile = "kagent_probe";

/// A template and its instantiations that make the compiler spell every kernel's symbol and
/// parameter types (parameters.h), each kernel on a line of its own. Goes after the source.
std::string probe_text(const CompileUnit& unit, CompilerKind compiler);

}  // namespace kagent::builder
