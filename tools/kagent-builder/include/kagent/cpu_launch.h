// SPDX-License-Identifier: Apache-2.0
// How a kernel becomes an entry of the image; only the builder's generated code includes this.
#pragma once

#include <cstdint>
#include <utility>

#include <kagent/cpu.h>

namespace kagent::launch {

template <auto* Kernel, typename... Parameters, std::size_t... I>
inline void call(void (*)(Parameters...), const void* const* arguments, std::index_sequence<I...>) {
  Kernel(*static_cast<const std::remove_reference_t<Parameters>*>(arguments[I])...);
}

template <typename... Parameters>
constexpr auto indices(void (*)(Parameters...)) {
  return std::index_sequence_for<Parameters...>();
}

/// One call for each block. schedule(static): a thread gets one contiguous run of blocks, the same
/// every time. A grid of one block runs outside any parallel region, so that the kernel can open
/// its own.
template <auto* Kernel>
void grid(const void* const* arguments, const std::int64_t* size) {
  const std::int64_t blocks = size[0] * size[1] * size[2];
  const auto one = [&](std::int64_t block) {
    gridDim = {size[0], size[1], size[2]};
    blockIdx = {block % size[0], block / size[0] % size[1], block / (size[0] * size[1])};
    call<Kernel>(Kernel, arguments, indices(Kernel));
  };
  if (blocks == 1) return one(0);
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < blocks; ++block) one(block);
}

}  // namespace kagent::launch

#define KAGENT_LAUNCHER(entry, ...)                                                              \
  extern "C" __attribute__((visibility("default"))) void entry(const void* const* arguments,     \
                                                               const std::int64_t* grid_size) {  \
    ::kagent::launch::grid<&__VA_ARGS__>(arguments, grid_size);                                  \
  }
