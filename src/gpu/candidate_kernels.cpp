// SPDX-License-Identifier: Apache-2.0
#include "gpu/candidate_kernels.h"

#include <climits>
#include <utility>

#include "gpu/device_faults.h"
#include "gpu/timeline_window.h"

namespace kagent::gpu {
namespace {

constexpr std::size_t kMaxParameters = 64;       // the plan format's cap on arguments
constexpr unsigned kPortableClusterBlocks = 8;   // more must be allowed kernel by kernel

Fault fault_of(FaultKind kind, std::string message, std::string hint = "") {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

/// The plan's numbers as the driver takes them; false where one is out of range.
bool narrow(const std::array<std::int64_t, 3>& from, std::array<unsigned, 3>& to) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (from[i] < 1 || from[i] > INT_MAX) return false;
    to[i] = static_cast<unsigned>(from[i]);
  }
  return true;
}

std::optional<LaunchShape> shape_of(const LaunchStep& step) {
  LaunchShape shape;
  shape.cooperative = step.cooperative;
  shape.programmatic = step.programmatic;
  if (!narrow(step.grid, shape.grid) || !narrow(step.block, shape.block)) return std::nullopt;
  if (step.shared_bytes < 0 || step.shared_bytes > INT_MAX) return std::nullopt;
  shape.shared_bytes = static_cast<unsigned>(step.shared_bytes);
  if (step.cluster && !narrow(*step.cluster, shape.cluster.emplace())) return std::nullopt;
  return shape;
}

}  // namespace

Result<std::optional<Fault>> CandidateKernels::load(const BuildResult& build,
                                                    const std::vector<std::string>& images) {
  KAGENT_CHECK(images.size() == build.units.size());
  const std::size_t first_image = images_.size();
  for (std::size_t i = 0; i < images.size(); ++i) {
    KAGENT_TRY(std::optional<Fault> fault, load_image(build.units[i], images[i]));
    if (fault) return fault;
  }
  for (const KernelBuild& kernel : build.kernels) {
    KAGENT_TRY(std::optional<Fault> fault, find_kernel(kernel, first_image));
    if (fault) return fault;
  }
  return std::optional<Fault>();
}

Result<std::optional<Fault>> CandidateKernels::load_image(const BuildUnit& unit,
                                                          const std::string& bytes) {
  auto image = KernelImage::load(driver_, bytes);
  if (!image) {
    return std::optional<Fault>(
        fault_of(FaultKind::build_failed,
                 unit.source + ": the card refuses the image: " + image.error().message));
  }
  KAGENT_TRY(const std::vector<std::string> names, image->symbols());
  for (const std::string& name : names) {
    if (!name.starts_with(kInstrumentPrefix)) continue;
    return std::optional<Fault>(
        fault_of(FaultKind::tampering,
                 unit.source + ": kernel " + name + " has a name that kagent's clock keeps for itself",
                 "give the kernel another name"));
  }
  images_.push_back(*std::move(image));
  return std::optional<Fault>();
}

Result<std::optional<Fault>> CandidateKernels::find_kernel(const KernelBuild& build,
                                                            std::size_t first_image) {
  const std::size_t image = first_image + static_cast<std::size_t>(build.unit);
  if (build.unit < 0 || image >= images_.size()) {
    return Error{ErrorKind::internal, "kernel " + build.entry + " has no unit"};
  }
  Kernel kernel;
  auto function = images_[image].function(build.entry);
  if (!function) {
    return std::optional<Fault>(
        fault_of(FaultKind::build_failed, "kernel " + build.entry + " cannot be brought onto the "
                                              "card: " + function.error().message));
  }
  kernel.function = *function;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  while (kernel.parameter_bytes.size() < kMaxParameters &&
         driver_.cuFuncGetParamInfo(kernel.function, kernel.parameter_bytes.size(), &offset,
                                    &bytes) == CUDA_SUCCESS) {
    kernel.parameter_bytes.push_back(bytes);
  }
  KAGENT_TRY_VOID(driver_.check(
      driver_.cuFuncGetAttribute(&kernel.dynamic_shared_bytes,
                                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.function),
      "cuFuncGetAttribute"));
  symbols_.push_back(build.entry);
  kernels_[build.kernel] = std::move(kernel);
  return std::optional<Fault>();
}

std::optional<Fault> CandidateKernels::launch(const LaunchStep& step,
                                              const std::vector<Parameter>& parameters,
                                              CUstream stream) {
  const auto found = kernels_.find(step.kernel);
  if (found == kernels_.end()) return fault_of(FaultKind::bad_launch, "was not built");
  Kernel& kernel = found->second;
  const auto shape = shape_of(step);
  if (!shape) {
    return fault_of(FaultKind::bad_launch, "has a grid, block, cluster or shared memory size that "
                                           "is not in 1..2147483647");
  }
  // The driver copies as many bytes as the kernel declares from each address.
  if (parameters.size() != kernel.parameter_bytes.size()) {
    return fault_of(FaultKind::bad_launch,
                    "takes " + std::to_string(kernel.parameter_bytes.size()) + " arguments, not " +
                        std::to_string(parameters.size()));
  }
  std::array<void*, kMaxParameters> addresses{};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (static_cast<std::size_t>(parameters[i].size) != kernel.parameter_bytes[i]) {
      return fault_of(FaultKind::bad_launch,
                      "takes " + std::to_string(kernel.parameter_bytes[i]) + " bytes as argument " +
                          std::to_string(i) + ", not " + std::to_string(parameters[i].size));
    }
    addresses[i] = parameters[i].bytes;
  }
  if (auto fault = allow(kernel, step, *shape)) return fault;
  const CUresult code = gpu::launch(driver_, kernel.function, *shape, stream, addresses.data());
  if (code != CUDA_SUCCESS) return launch_fault(driver_, code, step);
  return std::nullopt;
}

/// Raises the function's limits to what the launch needs; done once, so never inside a gate.
std::optional<Fault> CandidateKernels::allow(Kernel& kernel, const LaunchStep& step,
                                             const LaunchShape& shape) {
  const int bytes = static_cast<int>(shape.shared_bytes);
  if (bytes > kernel.dynamic_shared_bytes) {
    const CUresult code = driver_.cuFuncSetAttribute(
        kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    if (code != CUDA_SUCCESS) {
      Fault fault = launch_fault(driver_, code, step);
      if (fault.hint.empty()) fault.hint = "the card has less shared memory for one block than that";
      return fault;
    }
    kernel.dynamic_shared_bytes = bytes;
  }
  const auto& cluster = shape.cluster;
  const std::uint64_t blocks =
      cluster ? std::uint64_t{(*cluster)[0]} * (*cluster)[1] * (*cluster)[2] : 1;
  if (blocks > kPortableClusterBlocks && !kernel.large_clusters) {
    const CUresult code = driver_.cuFuncSetAttribute(
        kernel.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (code != CUDA_SUCCESS) return launch_fault(driver_, code, step);
    kernel.large_clusters = true;
  }
  return std::nullopt;
}

}  // namespace kagent::gpu
