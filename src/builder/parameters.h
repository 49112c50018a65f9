// SPDX-License-Identifier: Apache-2.0
// A kernel's parameters as C++ declares them (pitfall 9). The compiler instantiates a variable
// template over &kernel and decltype(&kernel); its mangled name, taken apart here, spells every type.
// That works for extern "C" kernels and for templates alike, and costs no code in the image.
#pragma once

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

/// What one probe's name says.
struct Probe {
  int number = 0;
  std::string kernel;                   // as its own symbol demangles: "void rows<4>(float*)"; an
                                        // extern "C" kernel may carry a namespace and parameters
  std::vector<std::string> parameters;  // "float const*", "int"
};

/// From "kagent_probe::kernel<0, &(void rows<4>(float*)), void (*)(float*)>".
std::optional<Probe> read_probe(const std::string& demangled);

/// What one C++ type is; the Fault (build_failed) says which parameter cannot be filled and why.
Checked<KernelParameter> classify(const std::string& type, int position, const KernelRequest& kernel);

}  // namespace kagent::builder
