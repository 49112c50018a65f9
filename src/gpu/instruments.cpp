// SPDX-License-Identifier: Apache-2.0
#include "gpu/instruments.h"

#include <algorithm>

#include "gpu/timeline_window.h"
#include "sys/files.h"

namespace kagent::gpu {
namespace {

constexpr std::size_t kMaxImageBytes = 16u << 20;
constexpr unsigned kThreads = 256;
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
  const std::size_t count = regions.size();
  std::vector<std::uint64_t> offenders(count);
  if (count == 0) return offenders;
  const std::size_t table_bytes = count * sizeof(GuardRegion);
  const std::size_t result_bytes = count * sizeof(std::uint64_t);
  KAGENT_TRY(const DeviceBuffer table,
             DeviceBuffer::allocate(*driver_, static_cast<std::int64_t>(table_bytes)));
  KAGENT_TRY(const DeviceBuffer results,
             DeviceBuffer::allocate(*driver_, static_cast<std::int64_t>(result_bytes)));
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuMemcpyHtoD(table.address(), regions.data(), table_bytes), "cuMemcpyHtoD"));
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuMemsetD8Async(results.address(), 0xff, result_bytes, stream), "cuMemsetD8Async"));
  CUdeviceptr table_address = table.address();
  CUdeviceptr result_address = results.address();
  std::uint32_t region_count = static_cast<std::uint32_t>(count);
  void* parameters[] = {&table_address, &region_count, &canary, &result_address};
  const unsigned blocks = static_cast<unsigned>(std::min<std::size_t>(count, 65535));
  KAGENT_TRY_VOID(start(check_, blocks, kThreads, 0, stream, parameters, "guard check"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuStreamSynchronize(stream), "guard check"));
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuMemcpyDtoH(offenders.data(), results.address(), result_bytes), "cuMemcpyDtoH"));
  return offenders;
}

Result<std::int64_t> Instruments::first_difference(CUdeviceptr left, CUdeviceptr right,
                                                   std::int64_t bytes, CUstream stream) const {
  KAGENT_CHECK(bytes % 16 == 0);
  KAGENT_TRY(const DeviceBuffer result, DeviceBuffer::allocate(*driver_, 8));
  KAGENT_TRY_VOID(driver_->check(driver_->cuMemsetD8Async(result.address(), 0xff, 8, stream),
                                 "cuMemsetD8Async"));
  std::uint64_t count = static_cast<std::uint64_t>(bytes) / 16;
  CUdeviceptr result_address = result.address();
  void* parameters[] = {&left, &right, &count, &result_address};
  KAGENT_TRY_VOID(start(compare_, multiprocessors_ * kWaves, kThreads, 0, stream, parameters,
                        "arena comparison"));
  KAGENT_TRY_VOID(driver_->check(driver_->cuStreamSynchronize(stream), "arena comparison"));
  std::uint64_t first = 0;
  KAGENT_TRY_VOID(
      driver_->check(driver_->cuMemcpyDtoH(&first, result.address(), 8), "cuMemcpyDtoH"));
  return first == ~std::uint64_t{0} ? -1 : static_cast<std::int64_t>(first) * 16;
}

}  // namespace kagent::gpu
