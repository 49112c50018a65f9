// SPDX-License-Identifier: Apache-2.0
// From what a compiler left behind to what is known about it. Runs in the server, on bytes that a
// child which saw hostile source wrote.
#pragma once

#include <string>
#include <vector>

#include "builder/compile_unit.h"
#include "builder/request.h"

namespace kagent::builder {

/// Every kernel's entry, parameters and usage, out of the finished image. BuildResult's unit index
/// is left for the caller.
Checked<std::vector<KernelBuild>> inspect_image(const CompileUnit& unit, CompilerKind compiler,
                                                const std::string& image, const std::string& log);

/// The compiler said no: its first error, or which kernel's name the source does not have.
/// `hidden`: folders of ours, cut from the log.
Fault explain_failure(const CompileUnit& unit, CompilerKind compiler, const Sources& sources,
                      const std::string& log, const std::vector<std::string>& hidden);

}  // namespace kagent::builder
