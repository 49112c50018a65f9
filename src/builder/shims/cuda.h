// SPDX-License-Identifier: Apache-2.0
// Stands in for the driver API's header, which wants the host's C library. Kernels need it only for
// the TMA descriptor, 128 opaque bytes that the runner encodes.
#pragma once

struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
