// SPDX-License-Identifier: Apache-2.0
// Makes torch take its CUDA memory from a BlockPool.
#pragma once

#include "gpu/block_pool.h"

namespace kagent::gpu {

/// Puts an allocator over `pool` in the place of torch's own; before torch first touches CUDA, and
/// once. The pool must live as long as the process: torch's statics give memory back at exit.
/// Where the card is full, torch throws c10::OutOfMemoryError; where it is broken, c10::Error.
Result<void> install_torch_allocator(BlockPool& pool, int device_index);

}  // namespace kagent::gpu
