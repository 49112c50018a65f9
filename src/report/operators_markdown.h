// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kagent::report {

/// docs/operators.md: the operator table as a page. scripts/update-operators-doc writes it, and a
/// test compares.
std::string operators_markdown();

}  // namespace kagent::report
