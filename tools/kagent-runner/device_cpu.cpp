// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_backend.h"
#include "program.h"

namespace kagent::runner {
namespace {

Result<std::unique_ptr<plan::Backend>> make_backend(const plan::LoadRequest& request) {
  cpu::CpuBackendOptions options;
  options.diagnostic = request.diagnostic;
  options.plain_memory = request.audit;
  KAGENT_TRY(std::unique_ptr<plan::Backend> backend, cpu::CpuBackend::create(options));
  return backend;
}

}  // namespace

const plan::DeviceProgram& this_device() {
  static const plan::DeviceProgram program{kagent::Backend::cpu, make_backend, nullptr};
  return program;
}

}  // namespace kagent::runner
