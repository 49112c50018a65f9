// SPDX-License-Identifier: Apache-2.0
#include "cpu/kernel_image.h"

#include <dlfcn.h>

#include <cfenv>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kagent::cpu {
namespace {

std::string loader_message() {
  const char* message = ::dlerror();
  return message != nullptr ? message : "unknown error of the dynamic loader";
}

/// A regular file by its own name, so that debuggers find its symbols; a memory file by descriptor.
std::string image_path(const sys::Fd& image) {
  const std::string link = "/proc/self/fd/" + std::to_string(image.get());
  std::error_code code;
  const std::filesystem::path file = std::filesystem::read_symlink(link, code);
  return !code && std::filesystem::equivalent(file, link, code) ? file.string() : link;
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
  void* handle = ::dlopen(image_path(image).c_str(), RTLD_NOW | RTLD_LOCAL);
  std::fesetenv(&modes);
  if (handle == nullptr) {
    return Error{ErrorKind::environment,
                 "cannot load what was built from " + source + ": " + loader_message()};
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
