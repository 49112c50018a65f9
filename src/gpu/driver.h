// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, opened at run time: programs that link this start on machines without one and
// say so only when a card is really asked for.
#pragma once

#include <cstdint>
#include <string>

#include <kagent/result.h>

#include <cuda.h>

namespace kagent::gpu {

// Every driver function that kagent calls. cuda.h renames some of them to versioned symbols
// (cuMemAlloc is cuMemAlloc_v2); the macros below see the names after that.
#define KAGENT_DRIVER_FUNCTIONS(X)  \
  X(cuInit)                         \
  X(cuDriverGetVersion)             \
  X(cuGetErrorName)                 \
  X(cuGetErrorString)               \
  X(cuDeviceGet)                    \
  X(cuDeviceGetCount)               \
  X(cuDeviceGetName)                \
  X(cuDeviceGetUuid)                \
  X(cuDeviceGetAttribute)           \
  X(cuDeviceTotalMem)               \
  X(cuDevicePrimaryCtxRetain)       \
  X(cuDevicePrimaryCtxRelease)      \
  X(cuCtxGetCurrent)                \
  X(cuCtxSetCurrent)                \
  X(cuCtxGetDevice)                 \
  X(cuCtxSynchronize)               \
  X(cuCtxResetPersistingL2Cache)    \
  X(cuMemAlloc)                     \
  X(cuMemFree)                      \
  X(cuMemHostAlloc)                 \
  X(cuMemFreeHost)                  \
  X(cuMemHostGetDevicePointer)      \
  X(cuMemcpyHtoD)                   \
  X(cuMemcpyDtoH)                   \
  X(cuMemcpyDtoDAsync)              \
  X(cuMemsetD8)                     \
  X(cuMemsetD8Async)                \
  X(cuMemsetD32Async)               \
  X(cuMemGetAllocationGranularity)  \
  X(cuMemCreate)                    \
  X(cuMemRelease)                   \
  X(cuMemAddressReserve)            \
  X(cuMemAddressFree)               \
  X(cuMemMap)                       \
  X(cuMemUnmap)                     \
  X(cuMemSetAccess)                 \
  X(cuMemExportToShareableHandle)   \
  X(cuMemImportFromShareableHandle) \
  X(cuStreamCreate)                 \
  X(cuStreamDestroy)                \
  X(cuStreamSynchronize)            \
  X(cuStreamWaitEvent)              \
  X(cuEventCreate)                  \
  X(cuEventDestroy)                 \
  X(cuEventRecord)                  \
  X(cuLibraryLoadData)              \
  X(cuLibraryUnload)                \
  X(cuLibraryGetKernel)             \
  X(cuLibraryGetKernelCount)        \
  X(cuLibraryEnumerateKernels)      \
  X(cuKernelGetFunction)            \
  X(cuKernelGetName)                \
  X(cuFuncLoad)                     \
  X(cuFuncGetAttribute)             \
  X(cuFuncSetAttribute)             \
  X(cuFuncGetParamInfo)             \
  X(cuLaunchKernelEx)               \
  X(cuTensorMapEncodeTiled)

/// Functions of libcuda.so.1, all present. One for the whole process, never unloaded.
struct Driver {
#define KAGENT_DECLARE(name) decltype(&::name) name = nullptr;
  KAGENT_DRIVER_FUNCTIONS(KAGENT_DECLARE)
#undef KAGENT_DECLARE

  /// Opens the library and looks all functions up; initialises nothing, so that CUPTI can still
  /// subscribe first. Error (environment): "no NVIDIA driver: libcuda.so.1 not found".
  static Result<const Driver*> open();
  /// open(), then cuInit.
  static Result<const Driver*> initialize();

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  std::string text(CUresult code) const;
  /// Error of kind environment, "cuMemCreate: CUDA_ERROR_…", unless code is CUDA_SUCCESS.
  Result<void> check(CUresult code, const char* what) const;
};

/// A card's primary context, the one that torch works in, current on the calling thread.
class PrimaryContext {
 public:
  /// Retains it and makes it current.
  static Result<PrimaryContext> retain(int device_index);
  PrimaryContext(PrimaryContext&& other) noexcept;
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext();

  const Driver& driver() const { return *driver_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }

 private:
  PrimaryContext(const Driver* driver, CUdevice device, CUcontext context)
      : driver_(driver), device_(device), context_(context) {}
  const Driver* driver_;
  CUdevice device_;
  CUcontext context_;
};

}  // namespace kagent::gpu
