// SPDX-License-Identifier: Apache-2.0
// A cubin in the driver, and launches of its kernels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "gpu/driver.h"

namespace kagent::gpu {

/// Owner of a loaded image. The context must be current. Move-only.
class KernelImage {
 public:
  /// bytes: a cubin for this card; copied by the driver.
  static Result<KernelImage> load(const Driver& driver, const std::string& bytes);
  KernelImage() = default;
  KernelImage(KernelImage&& other) noexcept;
  KernelImage& operator=(KernelImage&& other) noexcept;
  ~KernelImage();

  /// The function, brought onto the card at once: lazy loading inside a gated call would
  /// synchronise (pitfall 29).
  Result<CUfunction> function(const std::string& symbol) const;
  /// Symbols of all kernels in the image.
  Result<std::vector<std::string>> symbols() const;

 private:
  const Driver* driver_ = nullptr;
  CUlibrary library_ = nullptr;
};

/// Shape of one launch; attributes as cuLaunchKernelEx knows them.
struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::optional<std::array<unsigned, 3>> cluster;
  bool cooperative = false;
  bool programmatic = false;
};

/// Queues the kernel. parameters: one address per parameter, each of its size.
CUresult launch(const Driver& driver, CUfunction function, const LaunchShape& shape,
                CUstream stream, void** parameters);

}  // namespace kagent::gpu
