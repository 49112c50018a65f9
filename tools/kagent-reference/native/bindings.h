// SPDX-License-Identifier: Apache-2.0
// The parts of kagent_native; each adds its names to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace kagent::reference {

void bind_memory(pybind11::module_& module);    // arena_form, contiguous, lay_out, Arena
void bind_judging(pybind11::module_& module);   // apply_numerics, Judge
void bind_timing(pybind11::module_& module);    // call_loop, Meter, start_timeline, device_record

}  // namespace kagent::reference
