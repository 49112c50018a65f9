// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace kagent::llm {

/// When one endpoint may be asked again, for all conversations of this process that share it and
/// its key: what one of them was told to wait, all wait.
class EndpointGate {
 public:
  using Clock = std::chrono::steady_clock;

  /// The gate of this endpoint and key; the key is only hashed.
  static std::shared_ptr<EndpointGate> of(const std::string& url, const std::string& key);

  /// How long to wait still.
  std::chrono::milliseconds wait(Clock::time_point now) const;
  void close_until(Clock::time_point time);

 private:
  mutable std::mutex mutex_;
  Clock::time_point open_at_{};
};

}  // namespace kagent::llm
