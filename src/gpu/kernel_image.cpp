// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernel_image.h"

#include <utility>

namespace kagent::gpu {

Result<KernelImage> KernelImage::load(const Driver& driver, const std::string& bytes) {
  // The driver reads sizes from the ELF header; it must at least be one.
  if (bytes.size() < 64 || bytes.compare(0, 4, "\177ELF") != 0) {
    return Error{ErrorKind::internal, "kernel image is no cubin"};
  }
  KernelImage image;
  KAGENT_TRY_VOID(driver.check(driver.cuLibraryLoadData(&image.library_, bytes.data(), nullptr,
                                                        nullptr, 0, nullptr, nullptr, 0),
                               "cuLibraryLoadData"));
  image.driver_ = &driver;
  return image;
}

KernelImage::KernelImage(KernelImage&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), library_(other.library_) {}

KernelImage& KernelImage::operator=(KernelImage&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(library_, other.library_);
  return *this;
}

KernelImage::~KernelImage() {
  if (driver_ != nullptr) driver_->cuLibraryUnload(library_);
}

Result<CUfunction> KernelImage::function(const std::string& symbol) const {
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuLibraryGetKernel(&kernel, library_, symbol.c_str()),
      ("cuLibraryGetKernel of " + symbol).c_str()));
  KAGENT_TRY_VOID(
      driver_->check(driver_->cuKernelGetFunction(&function, kernel), "cuKernelGetFunction"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuFuncLoad(function), "cuFuncLoad"));
  return function;
}

Result<std::vector<std::string>> KernelImage::symbols() const {
  unsigned count = 0;
  KAGENT_TRY_VOID(driver_->check(driver_->cuLibraryGetKernelCount(&count, library_),
                                 "cuLibraryGetKernelCount"));
  std::vector<CUkernel> kernels(count);
  if (count > 0) {
    KAGENT_TRY_VOID(
        driver_->check(driver_->cuLibraryEnumerateKernels(kernels.data(), count, library_),
                       "cuLibraryEnumerateKernels"));
  }
  std::vector<std::string> names;
  for (const CUkernel kernel : kernels) {
    const char* name = nullptr;
    KAGENT_TRY_VOID(driver_->check(driver_->cuKernelGetName(&name, kernel), "cuKernelGetName"));
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

CUresult launch(const Driver& driver, CUfunction function, const LaunchShape& shape,
                CUstream stream, void** parameters) {
  std::array<CUlaunchAttribute, 3> attributes{};
  unsigned count = 0;
  if (shape.cluster) {
    CUlaunchAttribute& attribute = attributes[count++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = (*shape.cluster)[0];
    attribute.value.clusterDim.y = (*shape.cluster)[1];
    attribute.value.clusterDim.z = (*shape.cluster)[2];
  }
  if (shape.cooperative) {
    CUlaunchAttribute& attribute = attributes[count++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
  }
  if (shape.programmatic) {
    CUlaunchAttribute& attribute = attributes[count++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = count > 0 ? attributes.data() : nullptr;
  config.numAttrs = count;
  return driver.cuLaunchKernelEx(&config, function, parameters, nullptr);
}

}  // namespace kagent::gpu
