// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <string>

namespace kagent::plan {

/// Brings LibTorch into a state that children forked later inherit: libraries initialised on one
/// thread, the operator table resolved. Enters no parallel region, since libgomp's threads do not
/// survive a fork (pitfall 21), and touches no device. Operators
/// that this LibTorch lacks are named on stderr.
Result<void> warm_up();

/// "2.11.0".
std::string torch_version();

}  // namespace kagent::plan
