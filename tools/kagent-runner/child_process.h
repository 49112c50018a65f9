// SPDX-License-Identifier: Apache-2.0
// What a freshly forked child does to itself before it touches anything of a candidate.
#pragma once

#include "sys/fd.h"

namespace kagent::runner {

/// Whether native code of a candidate will run in the child.
enum class ChildCode { device_only, native };

/// Dies with its parent; holds no descriptor but 0–2 and `socket`; leaves no core file. With native
/// code it can neither signal nor inspect other processes (its siblings and the server run as the
/// same user, pitfall 19), start programs, or open sockets. False where the parent is gone already.
bool isolate_child(int parent, const sys::Fd& socket, ChildCode code);

/// No other process of this user may look into this one.
void hide_from_siblings();

}  // namespace kagent::runner
