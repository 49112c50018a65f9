// SPDX-License-Identifier: Apache-2.0
// What the driver complains of, as the candidate's Fault. Messages are predicates: whoever knows
// the step puts its name in front ("model_new.py:14: kernel softmax failed: CUDA_ERROR_…").
#pragma once

#include <kagent/evaluation.h>
#include <kagent/plan.h>

#include "gpu/driver.h"

namespace kagent::gpu {

/// A launch that the driver refused, or that met an earlier kernel's crash.
Fault launch_fault(const Driver& driver, CUresult code, const LaunchStep& step);

/// What a synchronise brought up: crash, or out_of_memory.
Fault device_fault(const Driver& driver, CUresult code);

/// The card's context is lost: every later call gives the same code.
bool is_crash(CUresult code);

/// One that names what was overwritten. offset: bytes from the block's start.
Fault guard_fault(std::int64_t block_bytes, std::int64_t offset);

}  // namespace kagent::gpu
