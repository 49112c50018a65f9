// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_backend.h"

#include <ATen/Parallel.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace kagent::cpu {
namespace {

Fault make_fault(FaultKind kind, std::string message, std::string hint) {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

int thread_count() {
  if (const char* wanted = std::getenv("OMP_NUM_THREADS"); wanted != nullptr) {
    const int threads = std::atoi(wanted);
    if (threads > 0) return threads;
  }
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
}

/// Four fifths of what the machine has left.
std::size_t memory_limit() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  std::size_t kibibytes = 0;
  while (meminfo >> word) {
    if (word == "MemAvailable:" && meminfo >> kibibytes) return kibibytes / 5 * 4 * 1024;
  }
  return std::size_t{8} << 30;
}

/// The argument with the greatest pointer in [first, last]; -1 where none points there.
int argument_in(const void* first, const void* last, const std::vector<KernelParameter>& parameters,
                const std::vector<plan::PackedArgument>& arguments) {
  int best = -1;
  auto nearest = reinterpret_cast<std::uintptr_t>(first);
  for (std::size_t i = 0; i < arguments.size() && i < parameters.size(); ++i) {
    if (parameters[i].kind != ParameterKind::pointer) continue;
    std::uintptr_t pointer = 0;
    std::memcpy(&pointer, arguments[i].bytes, sizeof pointer);
    if (pointer > reinterpret_cast<std::uintptr_t>(last) || pointer < nearest) continue;
    nearest = pointer;
    best = static_cast<int>(i);
  }
  return best;
}

std::string describe(const Overrun& overrun) {
  const std::string range =
      overrun.nearest == overrun.farthest
          ? "byte " + std::to_string(overrun.nearest)
          : "bytes " + std::to_string(overrun.nearest) + " to " + std::to_string(overrun.farthest);
  return range + (overrun.before ? " before the start" : " past the end") + " of a tensor of " +
         std::to_string(overrun.tensor_bytes) + " bytes";
}

constexpr const char* kBoundsHint = "compare every index with the size before it is used";

Fault modified_fault(const std::string& argument) {
  return make_fault(FaultKind::input_modified, "wrote to " + argument + "an input or weight",
                    "let it write to a tensor of its own");
}

}  // namespace

Result<std::unique_ptr<CpuBackend>> CpuBackend::create(const CpuBackendOptions& options) {
  at::set_num_threads(thread_count());
  return std::unique_ptr<CpuBackend>(new CpuBackend(options));
}

CpuBackend::CpuBackend(const CpuBackendOptions& options) : options_(options) {
  if (options.plain_memory) return;
  allocator_ = &CpuAllocator::install();
  allocator_->set_limit(memory_limit());
}

Result<void*> CpuBackend::map_arena(sys::Fd memory, std::int64_t bytes, plan::Access access,
                                    bool private_copy) {
  if (private_copy) return map_private(std::move(memory), bytes);
  const auto mode = access == plan::Access::read_only ? MemoryMapping::Mode::shared_read_only
                                                      : MemoryMapping::Mode::shared_read_write;
  KAGENT_TRY(MemoryMapping arena, MemoryMapping::of_file(memory, bytes, mode));
  void* address = arena.data() + page_bytes();  // behind the guard page
  arenas_.push_back(std::move(arena));
  return address;
}

Result<void*> CpuBackend::map_private(sys::Fd memory, std::int64_t bytes) {
  PrivateArena arena;
  KAGENT_TRY(arena.original,
             MemoryMapping::of_file(memory, bytes, MemoryMapping::Mode::shared_read_only));
  KAGENT_TRY(MemoryMapping copy,
             MemoryMapping::of_file(memory, bytes, MemoryMapping::Mode::private_copy));
  arena.memory = std::move(memory);
  arena.copy = copy.data() + page_bytes();
  arena.bytes = bytes;
  void* address = arena.copy;
  arenas_.push_back(std::move(copy));
  private_arenas_.push_back(std::move(arena));
  return address;
}

Result<std::optional<Fault>> CpuBackend::load(const BuildResult& build,
                                              std::vector<sys::Fd> images) {
  if (images.size() != build.units.size()) {
    return Error{ErrorKind::internal, "the build has " + std::to_string(build.units.size()) +
                                          " units, and " + std::to_string(images.size()) +
                                          " images came"};
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    auto image = KernelImage::load(images[i], build.units[i].source);
    if (!image) {
      return std::optional<Fault>(
          make_fault(FaultKind::build_failed, image.error().message,
                     "define every function and variable that the kernel uses in kernels/"));
    }
    images_.push_back(*std::move(image));
  }
  for (const KernelBuild& kernel : build.kernels) {
    if (kernel.unit < 0 || static_cast<std::size_t>(kernel.unit) >= images_.size() ||
        kernel.kernel < 0) {
      return Error{ErrorKind::internal, "the build names a unit that it does not have"};
    }
    const auto index = static_cast<std::size_t>(kernel.kernel);
    if (kernels_.size() <= index) kernels_.resize(index + 1);
    KAGENT_TRY(kernels_[index].entry,
               images_[static_cast<std::size_t>(kernel.unit)].find(kernel.entry));
    kernels_[index].parameters = kernel.parameters;
  }
  return std::optional<Fault>();
}

std::variant<plan::PackedArgument, Fault> CpuBackend::encode(const TensorMap&, const at::Tensor&) {
  return make_fault(FaultKind::bad_launch, "takes a tensor map, which only a card has",
                    "pass the tensor itself");
}

std::optional<Fault> CpuBackend::launch(const LaunchStep& step,
                                        const std::vector<plan::PackedArgument>& arguments) {
  const auto index = static_cast<std::size_t>(step.kernel);
  KAGENT_CHECK(index < kernels_.size() && kernels_[index].entry != nullptr);
  const Kernel& kernel = kernels_[index];
  std::vector<const void*> pointers;
  pointers.reserve(arguments.size());
  for (const plan::PackedArgument& argument : arguments) pointers.push_back(argument.bytes);
  kernel.entry(pointers.data(), step.grid.data());
  return guarding_ ? inspect(kernel, arguments) : std::nullopt;
}

std::optional<Fault> CpuBackend::inspect(const Kernel& kernel,
                                         const std::vector<plan::PackedArgument>& arguments) {
  if (const auto modified = find_modified()) {
    const int argument =
        argument_in(modified->arena, modified->first, kernel.parameters, arguments);
    return modified_fault(argument < 0 ? "" : "its argument " + std::to_string(argument) + ", ");
  }
  const std::optional<Overrun> overrun = allocator_ != nullptr ? allocator_->check() : std::nullopt;
  if (!overrun) return std::nullopt;
  std::string message = "wrote " + describe(*overrun);
  const auto* first = static_cast<const unsigned char*>(overrun->tensor);
  const int argument =
      argument_in(first, first + overrun->tensor_bytes, kernel.parameters, arguments);
  if (argument >= 0) message += " (argument " + std::to_string(argument) + ")";
  return make_fault(FaultKind::out_of_bounds, std::move(message), kBoundsHint);
}

/// The first byte of an input or weight that is not what its owner put there, and its arena.
std::optional<CpuBackend::Modified> CpuBackend::find_modified() const {
  for (const PrivateArena& arena : private_arenas_) {
    const auto* now = static_cast<const unsigned char*>(arena.copy);
    const unsigned char* before = arena.original.data() + page_bytes();
    const auto bytes = static_cast<std::size_t>(arena.bytes);
    if (std::memcmp(now, before, bytes) == 0) continue;
    return Modified{now, std::mismatch(now, now + bytes, before).first};
  }
  return std::nullopt;
}

void CpuBackend::poison_allocations(std::uint8_t pattern) {
  guarding_ = allocator_ != nullptr || options_.diagnostic;
  if (allocator_ != nullptr) allocator_->guard(pattern);
  for (PrivateArena& arena : private_arenas_) {
    // A fresh copy-on-write mapping in the same place: whatever was written there is forgotten.
    void* again = ::mmap(arena.copy, round_up(static_cast<std::size_t>(arena.bytes), page_bytes()),
                         PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, arena.memory.get(), 0);
    KAGENT_CHECK(again == arena.copy);
  }
}

void CpuBackend::reuse_allocations() {
  guarding_ = false;
  if (allocator_ != nullptr) allocator_->stop_guarding();
}

std::optional<Fault> CpuBackend::check_guards() {
  if (find_modified()) return modified_fault("");
  const std::optional<Overrun> overrun = allocator_ != nullptr ? allocator_->check() : std::nullopt;
  if (!overrun) return std::nullopt;
  return make_fault(FaultKind::out_of_bounds, "wrote " + describe(*overrun), kBoundsHint);
}

void CpuBackend::protect(const std::vector<at::Tensor>& tensors) {
  if (allocator_ == nullptr || options_.diagnostic) return;
  for (const at::Tensor& tensor : tensors) allocator_->make_read_only(tensor.storage().data());
}

}  // namespace kagent::cpu
