// SPDX-License-Identifier: Apache-2.0
// Which tier this machine can do is found out by running the launcher's self-test in it.
#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace kagent::sandbox {

/// What holds in a tier.
struct Holding {
  Tier tier = Tier::none;
  bool fresh_children = false;   // servers give each child namespaces (and as root a user) of its own
  bool control_group = false;    // memory and processes are limited for a whole tree
  int landlock_version = 0;
};

/// An Error says what does not hold in this very tier, in one line.
Result<Holding> probe(Tier tier);

/// The best tier that holds; the Error says of each why not, and what to do.
Result<Holding> probe_best();

}  // namespace kagent::sandbox
