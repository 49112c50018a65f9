// SPDX-License-Identifier: Apache-2.0
// What the model is told before its first turn. Pure.
#pragma once

#include <kagent/device.h>
#include <kagent/settings.h>
#include <kagent/task.h>

#include <string>

namespace kagent::agent {

/// Who it is, and the skill (SKILL.md of the backend) word for word.
std::string system_prompt(const std::string& skill);

/// The first user message: the operator's source, the machine, and what counts as success.
std::string opening_message(const Task& task, const JudgeSettings& settings,
                            const DeviceRecord& device);

}  // namespace kagent::agent
