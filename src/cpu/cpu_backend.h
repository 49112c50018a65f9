// SPDX-License-Identifier: Apache-2.0
// plan::Backend on this machine's processor: kernels are native code of the candidate, called
// directly. Everything that they could do to this process, they can; results carry trust:native.
#pragma once

#include "cpu/cpu_allocator.h"
#include "cpu/kernel_image.h"
#include "cpu/memory_mapping.h"
#include "plan/backend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kagent::cpu {

struct CpuBackendOptions {
  /// Arenas are private copies, compared with the shared ones after every launch.
  bool diagnostic = false;
  /// LibTorch's own allocator throughout: one exact-size block per tensor, for valgrind.
  bool plain_memory = false;
};

class CpuBackend final : public plan::Backend {
 public:
  /// Sets LibTorch's threads to the usable cores (or OMP_NUM_THREADS), as the reference does. Must
  /// not be called before the process forks: libgomp's pool does not survive that (pitfall 21).
  static Result<std::unique_ptr<CpuBackend>> create(const CpuBackendOptions& options);

  at::Device device() const override { return at::kCPU; }
  Result<void*> map_arena(sys::Fd memory, std::int64_t bytes, plan::Access access,
                          bool private_copy) override;
  Result<std::optional<Fault>> load(const BuildResult& build, std::vector<sys::Fd> images) override;
  std::variant<plan::PackedArgument, Fault> encode(const TensorMap& map,
                                                   const at::Tensor& tensor) override;
  std::optional<Fault> launch(const LaunchStep& step,
                              const std::vector<plan::PackedArgument>& arguments) override;
  std::optional<Fault> synchronize() override { return std::nullopt; }
  void poison_allocations(std::uint8_t pattern) override;
  void reuse_allocations() override;
  std::optional<Fault> check_guards() override;
  void protect(const std::vector<at::Tensor>& tensors) override;

 private:
  struct Kernel {
    KernelEntry entry = nullptr;
    std::vector<KernelParameter> parameters;
  };
  struct PrivateArena {
    MemoryMapping original;  // as the owner sees it
    sys::Fd memory;
    void* copy = nullptr;  // where the candidate's pointers go
    std::int64_t bytes = 0;
  };

  struct Modified {
    const unsigned char* arena = nullptr;  // the private copy
    const unsigned char* first = nullptr;  // its first changed byte
  };

  explicit CpuBackend(const CpuBackendOptions& options);
  Result<void*> map_private(sys::Fd memory, std::int64_t bytes);
  std::optional<Fault> inspect(const Kernel& kernel,
                               const std::vector<plan::PackedArgument>& arguments);
  std::optional<Modified> find_modified() const;

  CpuBackendOptions options_;
  CpuAllocator* allocator_ = nullptr;  // null: plain memory
  std::vector<MemoryMapping> arenas_;
  std::vector<PrivateArena> private_arenas_;
  std::vector<KernelImage> images_;
  std::vector<Kernel> kernels_;  // by index into Plan::kernels
  bool guarding_ = false;
};

}  // namespace kagent::cpu
