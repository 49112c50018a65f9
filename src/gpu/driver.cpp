// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.h"

#include <dlfcn.h>

#include <utility>

namespace kagent::gpu {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

#define KAGENT_TEXT_OF(name) #name
#define KAGENT_SYMBOL(name) KAGENT_TEXT_OF(name)

Result<Driver> open_library() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // The loader's words tell a missing file from a broken one; the first is what users meet.
    const char* reason = ::dlerror();
    const std::string words = reason == nullptr ? "" : reason;
    if (words.find("No such file") != std::string::npos) {
      return Error{ErrorKind::environment, "no NVIDIA driver: libcuda.so.1 not found"};
    }
    return Error{ErrorKind::environment, "NVIDIA driver cannot be opened: " + words};
  }
  Driver driver;
#define KAGENT_FIND(name)                                                                       \
  driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(library, KAGENT_SYMBOL(name))); \
  if (driver.name == nullptr) {                                                                 \
    return Error{ErrorKind::environment, std::string("NVIDIA driver is too old: libcuda.so.1 "  \
                                                     "lacks ") +                                \
                                             KAGENT_SYMBOL(name) +                              \
                                             "; install a driver for CUDA 13"};                 \
  }
  KAGENT_DRIVER_FUNCTIONS(KAGENT_FIND)
#undef KAGENT_FIND
  return driver;
}

}  // namespace

Result<const Driver*> Driver::open() {
  static const Result<Driver> driver = open_library();
  if (!driver) return driver.error();
  return &*driver;
}

Result<const Driver*> Driver::initialize() {
  KAGENT_TRY(const Driver* driver, open());
  KAGENT_TRY_VOID(driver->check(driver->cuInit(0), "cuInit"));
  return driver;
}

std::string Driver::text(CUresult code) const {
  const char* name = nullptr;
  const char* words = nullptr;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &words);
  return std::string(name == nullptr ? "unknown CUDA error" : name) + " (" +
         std::to_string(static_cast<int>(code)) + ")" +
         (words == nullptr ? "" : std::string(": ") + words);
}

Result<void> Driver::check(CUresult code, const char* what) const {
  if (code == CUDA_SUCCESS) return {};
  return Error{ErrorKind::environment, std::string(what) + ": " + text(code)};
}

Result<PrimaryContext> PrimaryContext::retain(int device_index) {
  KAGENT_TRY(const Driver* driver, Driver::initialize());
  int count = 0;
  KAGENT_TRY_VOID(driver->check(driver->cuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (device_index < 0 || device_index >= count) {
    return Error{ErrorKind::environment, "no GPU number " + std::to_string(device_index) +
                                             ": the driver shows " + std::to_string(count)};
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  KAGENT_TRY_VOID(driver->check(driver->cuDeviceGet(&device, device_index), "cuDeviceGet"));
  KAGENT_TRY_VOID(driver->check(driver->cuDevicePrimaryCtxRetain(&context, device),
                                "cuDevicePrimaryCtxRetain"));
  PrimaryContext owner(driver, device, context);
  KAGENT_TRY_VOID(driver->check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent"));
  return owner;
}

PrimaryContext::PrimaryContext(PrimaryContext&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      device_(other.device_),
      context_(other.context_) {}

PrimaryContext::~PrimaryContext() {
  if (driver_ != nullptr) driver_->cuDevicePrimaryCtxRelease(device_);
}

}  // namespace kagent::gpu
