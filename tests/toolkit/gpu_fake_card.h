// SPDX-License-Identifier: Apache-2.0
// A driver whose device memory is the host's: enough to test who owns which block when. Kernels do
// nothing, but for the guard check, which is done here.
#pragma once

#include <cstdint>

#include "gpu/driver.h"

namespace kagent::test {

struct FakeCard {
  std::int64_t capacity = 0;   // bytes
  std::int64_t used = 0;
  CUresult state = CUDA_SUCCESS;                             // what synchronising says
  CUmemAccess_flags protection = CU_MEM_ACCESS_FLAGS_PROT_NONE;   // last one set
};

/// The one card behind fake_driver(); empty and healthy again after reset.
FakeCard& fake_card();
void reset_fake_card(std::int64_t capacity);

const gpu::Driver& fake_driver();

}  // namespace kagent::test
