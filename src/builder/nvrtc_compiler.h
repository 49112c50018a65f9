// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "builder/compile_unit.h"
#include "builder/nvrtc_library.h"

namespace kagent::builder {

/// Compiles for a real architecture ("sm_90a"). `sources` came out of scan_sources.
CompileReport compile_with_nvrtc(const NvrtcLibrary& nvrtc, const CompilerPaths& paths,
                                 const CompileUnit& unit, const Sources& sources,
                                 const std::string& architecture);

/// Compiles something small, so that children forked later find everything loaded.
void warm_up_nvrtc(const NvrtcLibrary& nvrtc, const CompilerPaths& paths);

}  // namespace kagent::builder
