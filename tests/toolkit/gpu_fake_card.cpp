// SPDX-License-Identifier: Apache-2.0
#include "gpu_fake_card.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "gpu/instruments.h"

namespace kagent::test {
namespace {

constexpr std::size_t kGranularity = 2 << 20;

std::map<std::uintptr_t, std::size_t>& sizes() {   // of buffers and handles
  static std::map<std::uintptr_t, std::size_t> all;
  return all;
}

CUresult take(std::size_t bytes) {
  FakeCard& card = fake_card();
  if (card.state != CUDA_SUCCESS) return card.state;
  if (card.used + static_cast<std::int64_t>(bytes) > card.capacity) return CUDA_ERROR_OUT_OF_MEMORY;
  card.used += static_cast<std::int64_t>(bytes);
  return CUDA_SUCCESS;
}

void give(std::uintptr_t what) {
  fake_card().used -= static_cast<std::int64_t>(sizes().at(what));
  sizes().erase(what);
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void fake_memory(gpu::Driver& driver) {
  driver.cuMemAlloc = [](CUdeviceptr* address, std::size_t bytes) {
    if (const CUresult code = take(bytes); code != CUDA_SUCCESS) return code;
    *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
    sizes()[*address] = bytes;
    return CUDA_SUCCESS;
  };
  driver.cuMemFree = [](CUdeviceptr address) {
    give(address);
    std::free(host(address));
    return CUDA_SUCCESS;
  };
  driver.cuMemsetD8Async = [](CUdeviceptr to, unsigned char byte, std::size_t count, CUstream) {
    std::memset(host(to), byte, count);
    return CUDA_SUCCESS;
  };
  driver.cuMemsetD32Async = [](CUdeviceptr to, unsigned word, std::size_t count, CUstream) {
    for (std::size_t i = 0; i < count; ++i) static_cast<unsigned*>(host(to))[i] = word;
    return CUDA_SUCCESS;
  };
  driver.cuMemcpyHtoD = [](CUdeviceptr to, const void* from, std::size_t bytes) {
    std::memcpy(host(to), from, bytes);
    return CUDA_SUCCESS;
  };
  driver.cuMemcpyDtoH = [](void* to, CUdeviceptr from, std::size_t bytes) {
    std::memcpy(to, host(from), bytes);
    return CUDA_SUCCESS;
  };
}

void fake_mappings(gpu::Driver& driver) {
  driver.cuMemGetAllocationGranularity = [](std::size_t* bytes, const CUmemAllocationProp*,
                                            CUmemAllocationGranularity_flags) {
    *bytes = kGranularity;
    return CUDA_SUCCESS;
  };
  driver.cuMemCreate = [](CUmemGenericAllocationHandle* handle, std::size_t bytes,
                          const CUmemAllocationProp*, unsigned long long) {
    static CUmemGenericAllocationHandle next = 1;
    if (const CUresult code = take(bytes); code != CUDA_SUCCESS) return code;
    *handle = next++;
    sizes()[*handle] = bytes;
    return CUDA_SUCCESS;
  };
  driver.cuMemRelease = [](CUmemGenericAllocationHandle handle) {
    give(handle);
    return CUDA_SUCCESS;
  };
  driver.cuMemAddressReserve = [](CUdeviceptr* address, std::size_t bytes, std::size_t,
                                  CUdeviceptr, unsigned long long) {
    *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(kGranularity, bytes));
    return CUDA_SUCCESS;
  };
  driver.cuMemAddressFree = [](CUdeviceptr address, std::size_t) {
    std::free(host(address));
    return CUDA_SUCCESS;
  };
  driver.cuMemMap = [](CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                       unsigned long long) { return CUDA_SUCCESS; };
  driver.cuMemUnmap = [](CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
  driver.cuMemSetAccess = [](CUdeviceptr, std::size_t, const CUmemAccessDesc* access, std::size_t) {
    fake_card().protection = access->flags;
    return CUDA_SUCCESS;
  };
}

/// The guard check as instruments.cu does it.
void check(void** parameters) {
  const auto* regions =
      static_cast<const gpu::GuardRegion*>(host(*static_cast<CUdeviceptr*>(parameters[0])));
  const auto count = *static_cast<std::uint32_t*>(parameters[1]);
  const auto canary = *static_cast<std::uint32_t*>(parameters[2]);
  auto* offenders = static_cast<std::uint64_t*>(host(*static_cast<CUdeviceptr*>(parameters[3])));
  for (std::uint32_t r = 0; r < count; ++r) {
    const auto* bytes = static_cast<const unsigned char*>(host(regions[r].address));
    for (std::uint64_t i = 0; i < regions[r].bytes; ++i) {
      const auto lane = static_cast<unsigned>((regions[r].address + i) & 3);
      if (bytes[i] == static_cast<unsigned char>(canary >> (8 * lane))) continue;
      offenders[r] = i;
      break;
    }
  }
}

void fake_kernels(gpu::Driver& driver) {
  driver.cuLibraryLoadData = [](CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                                CUlibraryOption*, void**, unsigned) {
    *library = reinterpret_cast<CUlibrary>(1);
    return CUDA_SUCCESS;
  };
  driver.cuLibraryUnload = [](CUlibrary) { return CUDA_SUCCESS; };
  driver.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary, const char* name) {
    static std::set<std::string> names;
    *kernel = reinterpret_cast<CUkernel>(const_cast<char*>(names.insert(name).first->c_str()));
    return CUDA_SUCCESS;
  };
  driver.cuKernelGetFunction = [](CUfunction* function, CUkernel kernel) {
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  };
  driver.cuFuncLoad = [](CUfunction) { return CUDA_SUCCESS; };
  driver.cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; };
  driver.cuLaunchKernelEx = [](const CUlaunchConfig*, CUfunction function, void** parameters,
                               void**) {
    const std::string name = reinterpret_cast<const char*>(function);
    if (name == "kagent_instrument_check") check(parameters);
    return fake_card().state;
  };
}

}  // namespace

FakeCard& fake_card() {
  static FakeCard card;
  return card;
}

void reset_fake_card(std::int64_t capacity) { fake_card() = FakeCard{.capacity = capacity}; }

const gpu::Driver& fake_driver() {
  static const gpu::Driver driver = [] {
    gpu::Driver made;
    fake_memory(made);
    fake_mappings(made);
    fake_kernels(made);
    made.cuCtxGetDevice = [](CUdevice* device) {
      *device = 0;
      return CUDA_SUCCESS;
    };
    made.cuDeviceGetAttribute = [](int* value, CUdevice_attribute, CUdevice) {
      *value = 64;
      return CUDA_SUCCESS;
    };
    made.cuCtxSynchronize = [] { return fake_card().state; };
    made.cuStreamSynchronize = [](CUstream) { return fake_card().state; };
    made.cuGetErrorName = [](CUresult, const char** name) {
      *name = "CUDA_ERROR_OF_THE_FAKE";
      return CUDA_SUCCESS;
    };
    made.cuGetErrorString = [](CUresult, const char** text) {
      *text = "as told";
      return CUDA_SUCCESS;
    };
    return made;
  }();
  return driver;
}

}  // namespace kagent::test
