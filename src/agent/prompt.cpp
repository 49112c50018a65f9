// SPDX-License-Identifier: Apache-2.0
#include "agent/prompt.h"

#include "base/text.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::agent {
namespace {

std::string device_lines(const DeviceRecord& device, Backend backend) {
  if (backend == Backend::cpu) {
    return fmt::format(
        "Machine: {}, {} cores. Kernels are C++ functions; figures of this backend say "
        "nothing about a GPU.\n",
        base::one_line(device.name), device.multiprocessors);
  }
  return fmt::format(
      "Card: {} ({}), {} SMs, {} KiB of shared memory a block, {} registers an SM, {} MiB of L2, "
      "{} "
      "GiB of memory.\n",
      base::one_line(device.name), base::one_line(device.architecture), device.multiprocessors,
      device.shared_bytes_per_block >> 10, device.registers_per_multiprocessor,
      device.l2_bytes >> 20, device.memory_bytes >> 30);
}

const char* baselines(Baselines over) {
  switch (over) {
    case Baselines::both:
      return "eager PyTorch and torch.compile";
    case Baselines::eager:
      return "eager PyTorch";
    case Baselines::compile:
      return "torch.compile";
  }
  return "";
}

}  // namespace

std::string system_prompt(const std::string& skill) {
  return "You make one PyTorch operator faster by writing kernels for it. You work in a folder "
         "through "
         "tools; a judge that you cannot reach builds, checks and times what you write. Only what "
         "the "
         "judge measured counts. Work in small steps: write, evaluate, read what it says, mend "
         "that "
         "first.\n\n" +
         skill;
}

std::string opening_message(const Task& task, const JudgeSettings& settings,
                            const DeviceRecord& device) {
  std::string text = "The operator (task.py):\n```python\n" + task.source;
  if (text.back() != '\n') text += '\n';
  text += "```\n" + device_lines(device, settings.backend);
  text += fmt::format("Success: correct, and at least {:.0f} % of the time saved against {}.\n",
                      100 * settings.min_gain, baselines(settings.over));
  text += fmt::format("Numerics: {}. Mode: {}. Library operators allowed in forward: {}.\n",
                      wire::word(settings.numerics), wire::word(settings.mode),
                      base::join(settings.allow_ops, ", "));
  return text + "Write model_new.py and kernels/, then call evaluate.\n";
}

}  // namespace kagent::agent
