// SPDX-License-Identifier: Apache-2.0
// What compilers say: resource usage out of ptxas' lines, the first error as a Fault, and a log fit
// for a model to read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/request.h"

namespace kagent::builder {

struct Usage {
  int registers = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  std::int64_t shared_bytes = 0;
};

/// Kernel symbol -> what ptxas said about it (--ptxas-options=-v).
std::map<std::string, Usage> resource_usage(const std::string& log);

/// Without ptxas' info lines (they are in the table of usage) and lines about our own probes, with
/// `hidden` (folders of ours) cut from paths, capped.
std::string readable_log(const std::string& log, const std::vector<std::string>& hidden);

/// Some line of it is an error.
bool has_error(const std::string& readable);

/// build_failed from a log with errors; `source` stands in where no line names a file.
Fault compile_fault(const std::string& readable, const std::string& source);

/// Names of the kernels that the sources define, as far as their text tells.
std::vector<std::string> kernel_names(const std::string& text, Backend backend);

}  // namespace kagent::builder
