// SPDX-License-Identifier: Apache-2.0
// What a candidate's sources may name: each other and the toolkit's headers, never a file of this
// machine by its path. Checked before any compiler sees the text; the sandbox is the second wall.
#pragma once

#include <optional>
#include <string>

#include "builder/request.h"

namespace kagent::builder {

/// The sources with every include of another source spelled by its full name ("kernels/row.cuh"),
/// #line directives blanked (they would misname diagnostics) and line ends made "\n". Line numbers
/// stay. Fault forbidden_op at the first include that reaches outside; build_failed for a file that
/// is no text or beyond the caps (256 files, 16 MiB).
Checked<Sources> scan_sources(const Sources& sources);

/// Fault forbidden_op where a CUDA source names libdevice's own tables, the only device data that
/// images may hold, also in pieces of inline assembly.
std::optional<Fault> check_reserved_names(const Sources& sources);

/// `path` without "." and ".." parts; empty where it climbs above its start or is absolute.
std::string normal_path(const std::string& path);

}  // namespace kagent::builder
