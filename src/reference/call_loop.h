// SPDX-License-Identifier: Apache-2.0
// Timing on the CPU backend, worker side: the worker makes calls, kagent holds the clock
// (docs/protocol.md, "Timing on the CPU").
#pragma once

#include <cstdint>
#include <functional>

#include <kagent/result.h>

namespace kagent::reference {

struct CallLoop {
  int wait_fd = -1;              // eventfd: kagent says "go"
  int signal_fd = -1;            // eventfd: this side says "ready" and "done"
  int calls = 0;
  std::int64_t touch_bytes = 0;  // read and written before "ready", to push older data out
};

/// For each call: before(), touch, "ready", wait, call(), "done". What before() and call() throw
/// passes through. Error where the other side is gone.
Result<void> run(const CallLoop& loop, const std::function<void()>& before,
                 const std::function<void()>& call);

}  // namespace kagent::reference
