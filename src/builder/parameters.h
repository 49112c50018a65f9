// SPDX-License-Identifier: Apache-2.0
// A kernel's parameters as C++ declares them (pitfall 9). The compiler instantiates a template over
// decltype(&kernel); its mangled name, taken apart here, spells every type. That works for
// extern "C" kernels and for templates alike.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kagent/build.h>

#include "builder/request.h"

namespace kagent::builder {

/// Where the probes live; symbols under it are ours, not the candidate's.
inline constexpr const char* kProbeNamespace = "kagent_probe";

/// The C++ spelling of a mangled symbol; the symbol itself where it is none.
std::string demangle(const std::string& symbol);

/// Probe number -> parameter list, e.g. 0 -> {"float const*", "int"}, from
/// "void kagent_probe::signature<0, void (*)(float const*, int)>()".
std::optional<std::pair<int, std::vector<std::string>>> signature_probe(
    const std::string& demangled);

/// Probe number -> kernel, from "void kagent_probe::entry<0, &(void rows<4>(float*))>()". The
/// kernel is spelled as its own symbol demangles, but an extern "C" one carries its parameters.
std::optional<std::pair<int, std::string>> entry_probe(const std::string& demangled);

/// What one C++ type is; the Fault (build_failed) says which parameter cannot be filled and why.
Checked<KernelParameter> classify(const std::string& type, int position, const KernelRequest& kernel);

}  // namespace kagent::builder
