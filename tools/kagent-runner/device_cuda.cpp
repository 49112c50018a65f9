// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_backend.h"
#include "program.h"

namespace kagent::runner {
namespace {

Result<std::unique_ptr<plan::Backend>> make_backend(const plan::LoadRequest& request) {
  gpu::CudaBackendOptions options;
  options.device_index = request.device_index;
  options.diagnostic = request.diagnostic;
  options.audit = request.audit;
  KAGENT_TRY(std::unique_ptr<plan::Backend> backend,
             gpu::CudaBackend::create(request.instruments, options));
  return backend;
}

Result<std::vector<Sample>> time(plan::Backend& backend, int samples,
                                 const std::function<void()>& before,
                                 const std::function<void()>& call,
                                 std::vector<std::string>& notes) {
  // make_backend above is the only maker of backends in this program.
  return static_cast<gpu::CudaBackend&>(backend).time(samples, before, call, notes);
}

}  // namespace

const plan::DeviceProgram& this_device() {
  static const plan::DeviceProgram program{kagent::Backend::cuda, make_backend, time};
  return program;
}

}  // namespace kagent::runner
