// SPDX-License-Identifier: Apache-2.0
#include "agent/prompt.h"

#include <gtest/gtest.h>

namespace kagent::agent {
namespace {

TEST(Prompt, HoldsTheSkillWordForWord) {
  const std::string skill = "# Skill\n\n- one\n";
  EXPECT_NE(system_prompt(skill).find(skill), std::string::npos);
}

TEST(Prompt, TellsTaskMachineAndTarget) {
  Task task;
  task.source = "class Model: pass";
  JudgeSettings settings;
  settings.min_gain = 0.1;
  settings.over = Baselines::eager;
  DeviceRecord device;
  device.name = "NVIDIA H200";
  device.multiprocessors = 132;
  const std::string cuda = opening_message(task, settings, device);
  EXPECT_NE(cuda.find("```python\nclass Model: pass\n```\n"), std::string::npos);
  EXPECT_NE(cuda.find("NVIDIA H200"), std::string::npos);
  EXPECT_NE(cuda.find("132 SMs"), std::string::npos);
  EXPECT_NE(cuda.find("at least 10 % of the time saved against eager PyTorch.\n"),
            std::string::npos);
  EXPECT_NE(cuda.find("gemm, conv"), std::string::npos);
  settings.backend = Backend::cpu;
  EXPECT_NE(opening_message(task, settings, device).find("say nothing about a GPU"),
            std::string::npos);
}

}  // namespace
}  // namespace kagent::agent
