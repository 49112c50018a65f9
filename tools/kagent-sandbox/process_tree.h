// SPDX-License-Identifier: Apache-2.0
// Nothing of a program's tree outlives it, or us, or whoever started us.
#pragma once

#include <functional>

#include <kagent/result.h>

namespace kagent::sandbox {

using Step = std::function<Result<void>()>;

/// The next fork opens a PID namespace (unshare has been called): its first process does `prepare`,
/// starts the program and reaps whatever is left to it. With that first process the whole tree ends.
/// program ends in exec; it returns only what kept it from that.
Result<int> keep_tree(const Step& prepare, const Step& program);

/// This process adopts every orphan of the program and kills them all at its end, on SIGTERM, and when its own
/// parent dies, at whatever moment that is: bubblewrap alone leaves a child behind that waits for ever where it is
/// killed between its fork and its first word. The status goes to kStatusDescriptor.
Result<int> guard_tree(const Step& program);

/// The same around a command that tells the status itself.
Result<int> guard_command(char** arguments);

}  // namespace kagent::sandbox
