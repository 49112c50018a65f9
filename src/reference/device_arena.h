// SPDX-License-Identifier: Apache-2.0
// An arena on a card.
#pragma once

#include <memory>

#include "reference/arena.h"

namespace kagent::reference {

/// Contents are undefined. The context of the device must be current; the runner decides by its own
/// mapping whether it can write, so the descriptor does not.
Result<std::unique_ptr<Arena>> create_device_arena(int device_index, std::int64_t bytes);

}  // namespace kagent::reference
