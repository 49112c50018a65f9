// SPDX-License-Identifier: Apache-2.0
// The builder's side of docs/protocol.md, "Builder".
#pragma once

#include "builder/engine.h"
#include "wire/channel.h"

namespace kagent::builder {

/// Answers requests until the other side closes. Returns the exit code: 0, or 1 after a frame that
/// breaks the protocol.
int serve(Engine& engine, wire::Channel& channel);

}  // namespace kagent::builder
