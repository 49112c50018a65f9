// SPDX-License-Identifier: Apache-2.0
#include "cpu/kernel_image.h"

#include <cfenv>
#include <utility>

#include <dlfcn.h>

namespace kagent::cpu {
namespace {

std::string loader_message() {
  const char* message = ::dlerror();
  return message != nullptr ? message : "unknown error of the dynamic loader";
}

}  // namespace

KernelImage::KernelImage(KernelImage&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

KernelImage::~KernelImage() {
  // Never dlclose'd: OpenMP's threads may still stand in code of the object. The process ends soon.
  handle_ = nullptr;
}

Result<KernelImage> KernelImage::load(const sys::Fd& image, const std::string& source) {
  std::fenv_t modes;
  std::fegetenv(&modes);
  const std::string path = "/proc/self/fd/" + std::to_string(image.get());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::fesetenv(&modes);
  if (handle == nullptr) {
    return Error{ErrorKind::environment, "cannot load what was built from " + source + ": " +
                                             loader_message()};
  }
  return KernelImage(handle);
}

Result<KernelEntry> KernelImage::find(const std::string& symbol) const {
  void* address = ::dlsym(handle_, symbol.c_str());
  if (address == nullptr) {
    return Error{ErrorKind::internal, "no symbol " + symbol + ": " + loader_message()};
  }
  return reinterpret_cast<KernelEntry>(address);
}

}  // namespace kagent::cpu
