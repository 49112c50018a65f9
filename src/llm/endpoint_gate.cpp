// SPDX-License-Identifier: Apache-2.0
#include "llm/endpoint_gate.h"

#include "base/hash.h"

#include <algorithm>
#include <map>

namespace kagent::llm {

std::shared_ptr<EndpointGate> EndpointGate::of(const std::string& url, const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<EndpointGate>> gates;
  base::Sha256 hash;
  hash.update(url + '\n' + key);
  const std::lock_guard lock(mutex);
  auto& gate = gates[hash.hex()];
  if (!gate) gate = std::make_shared<EndpointGate>();
  return gate;
}

std::chrono::milliseconds EndpointGate::wait(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(open_at_ - now);
  return std::max(left, std::chrono::milliseconds(0));
}

void EndpointGate::close_until(Clock::time_point time) {
  const std::lock_guard lock(mutex_);
  open_at_ = std::max(open_at_, time);
}

}  // namespace kagent::llm
