// SPDX-License-Identifier: Apache-2.0
#include "gpu/instruments.h"

#include <algorithm>

#include "gpu/timeline_window.h"
#include "sys/files.h"

namespace kagent::gpu {
namespace {

constexpr std::size_t kMaxImageBytes = 16u << 20;
constexpr unsigned kThreads = 256;
constexpr std::size_t kCheckedAtOnce = 4096;   // regions in one guard check
constexpr unsigned kWaves = 8;   // blocks of kThreads on each SM for memory-bound kernels

}  // namespace

Result<Instruments> Instruments::load(const Driver& driver, const sys::Fd& cubin) {
  KAGENT_TRY(const std::string bytes, sys::read_all(cubin.get(), kMaxImageBytes));
  Instruments loaded;
  loaded.driver_ = &driver;
  auto image = KernelImage::load(driver, bytes);
  if (!image) return std::move(image).error().with_context("instruments");
  loaded.image_ = *std::move(image);
  const auto find = [&](CUfunction& slot, const char* name) -> Result<void> {
    KAGENT_TRY(slot, loaded.image_.function(std::string(kInstrumentPrefix) + name));
    return {};
  };
  KAGENT_TRY_VOID(find(loaded.open_, "open"));
  KAGENT_TRY_VOID(find(loaded.end_, "end"));
  KAGENT_TRY_VOID(find(loaded.gate_, "gate"));
  KAGENT_TRY_VOID(find(loaded.flush_write_, "flush_write"));
  KAGENT_TRY_VOID(find(loaded.flush_read_, "flush_read"));
  KAGENT_TRY_VOID(find(loaded.scrub_shared_, "scrub_shared"));
  KAGENT_TRY_VOID(find(loaded.check_, "check"));
  KAGENT_TRY_VOID(find(loaded.compare_, "compare"));
  KAGENT_TRY(loaded.sink_, DeviceBuffer::allocate(driver, 16));
  constexpr std::size_t per_region = sizeof(GuardRegion) + sizeof(std::uint64_t);
  KAGENT_TRY(loaded.check_table_, DeviceBuffer::allocate(driver, kCheckedAtOnce * per_region));

  CUdevice device = 0;
  int multiprocessors = 0;
  int shared = 0;
  KAGENT_TRY_VOID(driver.check(driver.cuCtxGetDevice(&device), "cuCtxGetDevice"));
  KAGENT_TRY_VOID(driver.check(
      driver.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                  device),
      "cuDeviceGetAttribute"));
  KAGENT_TRY_VOID(driver.check(
      driver.cuDeviceGetAttribute(
          &shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device),
      "cuDeviceGetAttribute"));
  loaded.multiprocessors_ = static_cast<unsigned>(multiprocessors);
  loaded.shared_bytes_ = static_cast<unsigned>(shared);
  KAGENT_TRY_VOID(driver.check(
      driver.cuFuncSetAttribute(loaded.scrub_shared_,
                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
      "cuFuncSetAttribute"));
  return loaded;
}

Result<void> Instruments::start(CUfunction function, unsigned blocks, unsigned threads,
                                unsigned shared_bytes, CUstream stream, void** parameters,
                                const char* what) const {
  LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  shape.shared_bytes = shared_bytes;
  return driver_->check(launch(*driver_, function, shape, stream, parameters), what);
}

Result<void> Instruments::open(std::uint32_t ticket, CUstream stream) const {
  return start(open_, 1, marker_threads(ticket), 0, stream, nullptr, "open marker");
}

Result<void> Instruments::end(std::uint32_t ticket, CUstream stream) const {
  return start(end_, 1, marker_threads(ticket), 0, stream, nullptr, "end marker");
}

Result<void> Instruments::gate(CUdeviceptr control, std::uint32_t ticket, std::uint64_t limit_ns,
                               CUstream stream) const {
  void* parameters[] = {&control, &ticket, &limit_ns};
  return start(gate_, 1, marker_threads(ticket), 0, stream, parameters, "gate");
}

Result<void> Instruments::flush_l2(const DeviceBuffer& written, const DeviceBuffer& read,
                                   std::uint32_t value, CUstream stream) const {
  CUdeviceptr target = written.address();
  std::uint64_t written_count = static_cast<std::uint64_t>(written.bytes()) / 16;
  void* write_parameters[] = {&target, &written_count, &value};
  const unsigned blocks = multiprocessors_ * kWaves;
  KAGENT_TRY_VOID(
      start(flush_write_, blocks, kThreads, 0, stream, write_parameters, "L2 flush"));
  CUdeviceptr source = read.address();
  std::uint64_t read_count = static_cast<std::uint64_t>(read.bytes()) / 16;
  CUdeviceptr sink = sink_.address();
  void* read_parameters[] = {&source, &read_count, &sink};
  return start(flush_read_, blocks, kThreads, 0, stream, read_parameters, "L2 flush");
}

Result<void> Instruments::scrub_shared(std::uint32_t word, CUstream stream) const {
  std::uint32_t bytes = shared_bytes_;
  CUdeviceptr sink = sink_.address();
  void* parameters[] = {&word, &bytes, &sink};
  // One block fills an SM; several for each SM, since the first to finish may be given another.
  return start(scrub_shared_, 4 * multiprocessors_, 1024, shared_bytes_, stream, parameters,
               "shared memory scrub");
}

Result<std::vector<std::uint64_t>> Instruments::check(const std::vector<GuardRegion>& regions,
                                                      std::uint32_t canary,
                                                      CUstream stream) const {
  std::vector<std::uint64_t> offenders(regions.size());
  for (std::size_t done = 0; done < regions.size(); done += kCheckedAtOnce) {
    const std::size_t count = std::min(kCheckedAtOnce, regions.size() - done);
    KAGENT_TRY_VOID(check_some(&regions[done], count, canary, stream, &offenders[done]));
  }
  return offenders;
}

Result<void> Instruments::check_some(const GuardRegion* regions, std::size_t count,
                                     std::uint32_t canary, CUstream stream,
                                     std::uint64_t* offenders) const {
  CUdeviceptr table = check_table_.address();
  CUdeviceptr results = table + kCheckedAtOnce * sizeof(GuardRegion);
  const std::size_t result_bytes = count * sizeof(std::uint64_t);
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuMemcpyHtoD(table, regions, count * sizeof(GuardRegion)), "guard check"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuMemsetD8Async(results, 0xff, result_bytes, stream),
                                 "guard check"));
  std::uint32_t region_count = static_cast<std::uint32_t>(count);
  void* parameters[] = {&table, &region_count, &canary, &results};
  KAGENT_TRY_VOID(start(check_, region_count, kThreads, 0, stream, parameters, "guard check"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuStreamSynchronize(stream), "guard check"));
  return driver_->check(driver_->cuMemcpyDtoH(offenders, results, result_bytes), "guard check");
}

Result<std::int64_t> Instruments::first_difference(CUdeviceptr left, CUdeviceptr right,
                                                   std::int64_t bytes, CUstream stream) const {
  KAGENT_CHECK(bytes % 16 == 0);
  CUdeviceptr result = check_table_.address();
  KAGENT_TRY_VOID(driver_->check(driver_->cuMemsetD8Async(result, 0xff, 8, stream),
                                 "cuMemsetD8Async"));
  std::uint64_t count = static_cast<std::uint64_t>(bytes) / 16;
  void* parameters[] = {&left, &right, &count, &result};
  KAGENT_TRY_VOID(start(compare_, multiprocessors_ * kWaves, kThreads, 0, stream, parameters,
                        "arena comparison"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuStreamSynchronize(stream), "arena comparison"));
  std::uint64_t first = 0;
  KAGENT_TRY_VOID(
      driver_->check(driver_->cuMemcpyDtoH(&first, result, 8), "cuMemcpyDtoH"));
  return first == ~std::uint64_t{0} ? -1 : static_cast<std::int64_t>(first) * 16;
}

}  // namespace kagent::gpu
