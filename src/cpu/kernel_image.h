// SPDX-License-Identifier: Apache-2.0
// A shared object that the builder made of a candidate's C++ kernels (docs/protocol.md, "CPU
// images").
#pragma once

#include <kagent/result.h>

#include "sys/fd.h"

#include <cstdint>
#include <string>

namespace kagent::cpu {

/// arguments: one pointer to each parameter's bytes. Runs the whole grid, then returns.
using KernelEntry = void (*)(const void* const* arguments, const std::int64_t* grid);

class KernelImage {
 public:
  /// Runs the object's constructors, which is the candidate's code. The floating-point modes of
  /// this thread are kept: an object linked with -ffast-math would set flush-to-zero (pitfall 21).
  static Result<KernelImage> load(const sys::Fd& image, const std::string& source);

  KernelImage(KernelImage&& other) noexcept;
  KernelImage& operator=(KernelImage&&) = delete;
  ~KernelImage();

  Result<KernelEntry> find(const std::string& symbol) const;

 private:
  explicit KernelImage(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace kagent::cpu
