// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_backend.h"

#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "gpu/arena_layout.h"
#include "gpu/block_pool.h"
#include "gpu/candidate_kernels.h"
#include "gpu/device_faults.h"
#include "gpu/measure.h"
#include "gpu/private_arenas.h"
#include "gpu/tensor_map.h"
#include "gpu/torch_allocator.h"
#include "sys/files.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace kagent::gpu {
namespace {

constexpr std::size_t kMaxImageBytes = 64u << 20;

/// What must outlive every tensor: torch's statics free memory at exit, so this is never destroyed.
struct CardMemory {
  CardMemory(PrimaryContext retained, Instruments loaded, std::uint32_t canary, CUstream stream)
      : context(std::move(retained)),
        instruments(std::move(loaded)),
        pool(context.driver(), context.device(), instruments, canary, stream) {}
  PrimaryContext context;
  Instruments instruments;
  BlockPool pool;
};

std::uint32_t random_word() {
  std::random_device device;
  return static_cast<std::uint32_t>(device());
}

TensorSpec spec_of(const at::Tensor& tensor, DType dtype) {
  return TensorSpec{dtype, tensor.sizes().vec(), tensor.strides().vec()};
}

std::optional<DType> dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return DType::float64;
    case at::kFloat: return DType::float32;
    case at::kHalf: return DType::float16;
    case at::kBFloat16: return DType::bfloat16;
    case at::kFloat8_e4m3fn: return DType::float8_e4m3fn;
    case at::kFloat8_e5m2: return DType::float8_e5m2;
    case at::kLong: return DType::int64;
    case at::kInt: return DType::int32;
    case at::kShort: return DType::int16;
    case at::kChar: return DType::int8;
    case at::kByte: return DType::uint8;
    case at::kBool: return DType::boolean;
    default: return std::nullopt;
  }
}

Fault bad_launch(std::string message) {
  Fault fault;
  fault.kind = FaultKind::bad_launch;
  fault.message = std::move(message);
  return fault;
}

class CardBackend final : public CudaBackend {
 public:
  CardBackend(CardMemory& memory, sys::Fd instruments, const CudaBackendOptions& options,
              CUstream stream)
      : memory_(memory),
        driver_(memory.context.driver()),
        instruments_file_(std::move(instruments)),
        options_(options),
        stream_(stream),
        kernels_(driver_),
        copies_(driver_, memory.instruments, stream) {}

  at::Device device() const override {
    return {at::kCUDA, static_cast<c10::DeviceIndex>(options_.device_index)};
  }

  Result<void*> map_arena(sys::Fd file, std::int64_t bytes, plan::Access access,
                          bool private_copy) override;
  Result<std::optional<Fault>> load(const BuildResult& build,
                                    std::vector<sys::Fd> images) override;
  std::variant<plan::PackedArgument, Fault> encode(const TensorMap& map,
                                                   const at::Tensor& tensor) override;
  std::optional<Fault> launch(const LaunchStep& step,
                              const std::vector<plan::PackedArgument>& arguments) override;
  std::optional<Fault> synchronize() override;
  void poison_allocations(std::uint8_t pattern) override;
  void reuse_allocations() override;
  std::optional<Fault> check_guards() override;
  void protect(const std::vector<at::Tensor>& tensors) override;
  Result<std::vector<Sample>> time(int samples, const std::function<void()>& before,
                                   const std::function<void()>& call,
                                   std::vector<std::string>& notes) override;

 private:
  std::optional<Fault> diagnose();
  /// What went wrong where nothing could be returned; told at the next chance.
  void remember(const Result<void>& result);

  CardMemory& memory_;
  const Driver& driver_;
  sys::Fd instruments_file_;
  CudaBackendOptions options_;
  CUstream stream_;
  std::vector<DeviceRange> arenas_;
  CandidateKernels kernels_;
  PrivateArenas copies_;
  std::vector<at::Tensor> protected_;   // alive as long as they are watched
  std::unique_ptr<Meter> meter_;
  std::optional<Fault> remembered_;
};

Result<void*> CardBackend::map_arena(sys::Fd file, std::int64_t bytes, plan::Access access,
                                 bool private_copy) {
  const Protection protection = access == plan::Access::read_only || private_copy
                                    ? Protection::read_only
                                    : Protection::read_write;
  const CUdevice card = memory_.context.device();
  KAGENT_TRY(DeviceRange range, DeviceRange::import(driver_, card, file, bytes, protection));
  CUdeviceptr address = range.address();
  if (private_copy) {
    KAGENT_TRY(DeviceRange copy, DeviceRange::allocate(driver_, card, bytes, Sharing::none));
    address = copy.address();
    KAGENT_TRY_VOID(copies_.add_copy(range.address(), std::move(copy)));
  }
  arenas_.push_back(std::move(range));
  return reinterpret_cast<void*>(address);
}

Result<std::optional<Fault>> CardBackend::load(const BuildResult& build, std::vector<sys::Fd> images) {
  if (images.size() != build.units.size()) {
    return Error{ErrorKind::internal, std::to_string(images.size()) + " kernel images came for " +
                                          std::to_string(build.units.size()) + " units"};
  }
  std::vector<std::string> bytes;
  for (const sys::Fd& image : images) {
    KAGENT_TRY(bytes.emplace_back(), sys::read_all(image.get(), kMaxImageBytes));
  }
  return kernels_.load(build, bytes);
}

std::variant<plan::PackedArgument, Fault> CardBackend::encode(const TensorMap& map,
                                                          const at::Tensor& tensor) {
  const auto dtype = dtype_of(tensor.scalar_type());
  if (!dtype) return bad_launch("tensor map: TMA has no such element type");
  auto tiled = translate(map, spec_of(tensor, *dtype));
  if (auto* text = std::get_if<std::string>(&tiled)) return bad_launch(std::move(*text));
  const auto address = reinterpret_cast<CUdeviceptr>(tensor.data_ptr());
  auto encoded = gpu::encode(driver_, std::get<TiledMap>(tiled), address);
  if (auto* text = std::get_if<std::string>(&encoded)) return bad_launch(std::move(*text));
  plan::PackedArgument packed{};
  static_assert(sizeof(CUtensorMap) == sizeof packed.bytes);
  std::memcpy(packed.bytes, &std::get<CUtensorMap>(encoded), sizeof packed.bytes);
  packed.size = sizeof packed.bytes;
  return packed;
}

std::optional<Fault> CardBackend::launch(const LaunchStep& step,
                                     const std::vector<plan::PackedArgument>& arguments) {
  std::vector<CandidateKernels::Parameter> parameters;
  parameters.reserve(arguments.size());
  for (const plan::PackedArgument& argument : arguments) {
    // The driver only reads; its interface predates const.
    parameters.push_back({const_cast<unsigned char*>(argument.bytes), argument.size});
  }
  if (auto fault = kernels_.launch(step, parameters, stream_)) return fault;
  return options_.diagnostic ? diagnose() : std::nullopt;
}

/// After one launch of a diagnostic run: whatever is wrong now, that kernel did.
std::optional<Fault> CardBackend::diagnose() {
  const CUresult code = driver_.cuCtxSynchronize();
  if (code != CUDA_SUCCESS) {
    Fault fault = device_fault(driver_, code);
    // Inputs are writable here, so an illegal address is none of them.
    if (code == CUDA_ERROR_ILLEGAL_ADDRESS) fault.kind = FaultKind::out_of_bounds;
    return fault;
  }
  return check_guards();
}

std::optional<Fault> CardBackend::synchronize() {
  const CUresult code = driver_.cuCtxSynchronize();
  if (code != CUDA_SUCCESS) return device_fault(driver_, code);
  return std::exchange(remembered_, std::nullopt);
}

void CardBackend::poison_allocations(std::uint8_t pattern) {
  memory_.pool.set_mode(options_.audit ? BlockPool::Mode::exact : BlockPool::Mode::guarded,
                        pattern);
  if (options_.audit) return;
  remember(memory_.instruments.scrub_shared(pattern * 0x01010101u, stream_));
  remember(copies_.refresh());
}

void CardBackend::reuse_allocations() {
  memory_.pool.set_mode(options_.audit ? BlockPool::Mode::exact : BlockPool::Mode::reused, 0);
}

void CardBackend::remember(const Result<void>& result) {
  if (result || remembered_) return;
  remembered_ = Fault{};
  remembered_->kind = FaultKind::crash;
  remembered_->message = "crashed: " + result.error().message;
}

/// Kept tensors become read-only; where they must stay writable (diagnostic runs) or the card will not
/// protect them, they are compared with a snapshot.
void CardBackend::protect(const std::vector<at::Tensor>& tensors) {
  copies_.forget_snapshots();
  protected_ = tensors;
  if (options_.audit) return;   // exact blocks; the tool around us watches
  for (const at::Tensor& tensor : protected_) {
    if (!tensor.defined() || tensor.numel() == 0) continue;
    const auto address = reinterpret_cast<CUdeviceptr>(tensor.data_ptr());
    const auto block = memory_.pool.block_of(address);
    if (!block) continue;   // weights in a shared arena, which is read-only already
    if (!options_.diagnostic && memory_.pool.protect(address)) continue;
    remember(copies_.add_snapshot(memory_.context.device(), block->begin, block->bytes));
  }
}

std::optional<Fault> CardBackend::check_guards() {
  if (auto fault = copies_.find_change()) return fault;
  auto violation = memory_.pool.check_guards();
  if (!violation) {
    if (auto fault = synchronize()) return fault;
    remember(std::move(violation).error());
    return std::exchange(remembered_, std::nullopt);
  }
  if (!violation->has_value()) return std::nullopt;
  return guard_fault((*violation)->block_bytes, (*violation)->offset);
}

Result<std::vector<Sample>> CardBackend::time(int samples, const std::function<void()>& before,
                                          const std::function<void()>& call,
                                          std::vector<std::string>& notes) {
  if (!options_.timeline) return Error{ErrorKind::internal, "this runner has no timeline"};
  if (meter_ == nullptr) {
    KAGENT_TRY(meter_, Meter::create(instruments_file_, stream_));
  }
  return meter_->measure(samples, before, call, kernels_.symbols(), notes);
}

}  // namespace

Result<std::unique_ptr<CudaBackend>> CudaBackend::create(const sys::Fd& instruments,
                                                         const CudaBackendOptions& options) {
  CudaBackendOptions kept = options;
  if (options.audit) kept.timeline = false;
  if (kept.timeline) KAGENT_TRY_VOID(start_timeline());
  KAGENT_TRY(PrimaryContext context, PrimaryContext::retain(options.device_index));
  sys::Fd file;
  Instruments loaded;
  if (!options.audit) {
    KAGENT_TRY(const std::string image, sys::read_all(instruments.get(), kMaxImageBytes));
    KAGENT_TRY(file, sys::sealed_memory_file("instruments", image));
    KAGENT_TRY(loaded, Instruments::load(context.driver(), file));
  }
  // Torch's current stream of a fresh process is the legacy default stream.
  CUstream stream = nullptr;
  auto* memory = new CardMemory(std::move(context), std::move(loaded), random_word(), stream);
  KAGENT_TRY_VOID(install_torch_allocator(memory->pool, options.device_index));
  try {
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(options.device_index));
    KAGENT_CHECK(c10::cuda::getCurrentCUDAStream().stream() == stream);
  } catch (const c10::Error& error) {
    return Error{ErrorKind::environment,
                 std::string("torch cannot use the GPU: ") + error.what_without_backtrace()};
  }
  return std::unique_ptr<CudaBackend>(
      std::make_unique<CardBackend>(*memory, std::move(file), kept, stream));
}

}  // namespace kagent::gpu
