// SPDX-License-Identifier: Apache-2.0
// Calls that somebody else times from outside, by two eventfds (docs/protocol.md, "Timing on the
// CPU"): the clock is not in the process that runs hostile native code (pitfall 22).
#pragma once

#include "plan/outcome.h"
#include "sys/fd.h"

#include <cstdint>
#include <functional>
#include <span>

namespace kagent::plan {

struct HandshakeLoop {
  int calls = 0;
  std::span<std::uint64_t> touch;  // read and written ahead of each call, to empty the caches
  sys::Fd go;                      // waited on before each call
  sys::Fd signal;                  // written twice a call: ready, done
};

/// before() runs ahead of each call, untimed. The first Outcome of `call` that is not fine ends the
/// loop, without "done": the other side must also listen on the channel.
Outcome run_loop(const HandshakeLoop& loop, const std::function<void()>& before,
                 const std::function<Outcome()>& call);

}  // namespace kagent::plan
