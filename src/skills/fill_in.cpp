// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "skills/skill.h"

#include <map>

namespace kagent::skills {

std::string fill_in(std::string text, const DeviceRecord& device) {
  const std::map<std::string, std::string> facts{
      {"card", base::one_line(device.name, 80)},
      {"architecture", base::one_line(device.architecture, 40)},
      {"sm_count", std::to_string(device.multiprocessors)},
      {"shared_kib_per_block", std::to_string(device.shared_bytes_per_block >> 10)},
      {"shared_kib_per_sm", std::to_string(device.shared_bytes_per_multiprocessor >> 10)},
      {"registers_per_sm", std::to_string(device.registers_per_multiprocessor)},
      {"max_threads_per_sm", std::to_string(device.max_threads_per_multiprocessor)},
      {"l2_mib", std::to_string(device.l2_bytes >> 20)},
      {"memory_gib", std::to_string(device.memory_bytes >> 30)}};
  for (std::size_t at = 0; (at = text.find("{{", at)) != std::string::npos;) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) break;
    const auto fact = facts.find(text.substr(at + 2, end - at - 2));
    if (fact == facts.end()) {
      at += 2;
      continue;
    }
    text.replace(at, end + 2 - at, fact->second);
    at += fact->second.size();
  }
  return text;
}

}  // namespace kagent::skills
