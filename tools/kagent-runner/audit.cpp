// SPDX-License-Identifier: Apache-2.0
#include "audit.h"

#include "plan/faults.h"
#include "plan/interpreter.h"
#include "plan/tensors.h"
#include "plan_folder.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace kagent::runner {
namespace {

constexpr int kRan = 0;
constexpr int kFault = 1;
constexpr int kUsage = 2;
constexpr int kInternal = 70;
constexpr std::uint64_t kSeed = 20260101;

const ArenaEntry* find_entry(const ArenaFile& arena, const std::string& name) {
  for (const ArenaEntry& entry : arena.layout.entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

/// A tensor of its own in memory of exactly its size: recorded values where there are some, else
/// normal numbers for floating dtypes and zeros for the rest, which are valid as indices.
at::Tensor make_tensor(const TensorSpec& spec, const std::optional<ArenaFile>& arena,
                       const std::string& name, at::Device device) {
  const auto options = at::TensorOptions().dtype(plan::scalar_type(spec.dtype));
  at::Tensor host = at::empty_strided(spec.shape, spec.stride, options);
  const ArenaEntry* entry = arena ? find_entry(*arena, name) : nullptr;
  if (entry != nullptr && entry->spec == spec && host.numel() > 0) {
    std::memcpy(host.data_ptr(), arena->bytes.data() + entry->offset, host.storage().nbytes());
  } else if (spec.dtype == DType::float32 || spec.dtype == DType::float64) {
    host.normal_(0.0, 1.0);
  } else if (host.is_floating_point()) {
    host.copy_(at::empty_strided(spec.shape, spec.stride, at::kFloat).normal_(0.0, 1.0));
  } else {
    host.zero_();
  }
  return device.is_cpu() ? host : host.to(device);
}

void print_steps(const Plan& plan) {
  for (const auto& [name, steps] :
       {std::pair("prepare", &plan.prepare), {"forward", &plan.forward}}) {
    for (const Step& step : *steps) {
      std::fprintf(stderr, "%s %s: %s\n", name, plan::place(step.at).c_str(),
                   plan::step_name(step, plan).c_str());
    }
  }
}

void print_outputs(const std::vector<at::Tensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor values = outputs[i].to(at::kCPU, at::kDouble).flatten();
    std::printf("output %zu: %s: first", i, plan::describe(outputs[i]).c_str());
    for (std::int64_t j = 0; j < values.numel() && j < 4; ++j) {
      std::printf(" %.6g", values[j].item<double>());
    }
    const auto finite = values.isfinite().sum().item<std::int64_t>();
    std::printf(", not finite %lld of %lld\n", static_cast<long long>(values.numel() - finite),
                static_cast<long long>(values.numel()));
  }
}

plan::Outcome run_folder(PlanFolder content, const plan::DeviceProgram& device) {
  plan::LoadRequest& request = content.request;
  if (request.plan.backend != device.backend) {
    return Error{ErrorKind::usage,
                 "plan.json is for the other backend: take kagent-runner for cpu, "
                 "kagent-runner-cuda for cuda"};
  }
  KAGENT_TRY(const std::unique_ptr<plan::Backend> backend, device.make_backend(request));
  print_steps(request.plan);
  KAGENT_PASS(backend->load(request.build, std::move(request.images)));
  plan::NamedTensors weights;
  plan::NamedTensors inputs;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(kSeed);
  for (const PlanValue& value : request.plan.values) {
    const std::string input = std::to_string(value.input);
    if (value.origin == ValueOrigin::weight && weights.count(value.path) == 0) {
      weights[value.path] = make_tensor(value.spec, content.weights, value.path, backend->device());
    } else if (value.origin == ValueOrigin::input) {
      inputs[input] = make_tensor(value.spec, content.inputs, input, backend->device());
    }
  }
  plan::Interpreter interpreter(request.plan, request.build, *backend, nullptr);
  KAGENT_PASS(interpreter.compile());
  KAGENT_PASS(interpreter.bind_weights(weights));
  KAGENT_PASS(interpreter.prepare());
  KAGENT_TRY_VOID(interpreter.bind_inputs(inputs));
  KAGENT_PASS(interpreter.call(true));
  KAGENT_PASS_FAULT(backend->synchronize());
  print_outputs(interpreter.outputs());
  return std::nullopt;
}

}  // namespace

int audit(const std::filesystem::path& folder, const plan::DeviceProgram& device) {
  auto content = read_plan_folder(folder);
  if (!content) {
    std::fprintf(stderr, "kagent-runner audit: %s\n", content.error().message.c_str());
    return kUsage;
  }
  const plan::Outcome outcome = plan::catching(
      nullptr, content->request.plan, [&] { return run_folder(std::move(*content), device); });
  if (!outcome) {
    std::fprintf(stderr, "kagent-runner audit: %s\n", outcome.error().message.c_str());
    return outcome.error().kind == ErrorKind::usage ? kUsage : kInternal;
  }
  if (!outcome->has_value()) return kRan;
  std::printf("fault: %s\n%s", (*outcome)->message.c_str(), (*outcome)->detail.c_str());
  return kFault;
}

}  // namespace kagent::runner
