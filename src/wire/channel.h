// SPDX-License-Identifier: Apache-2.0
// Frames between processes: a JSON object and file descriptors over a Unix stream socket.
// docs/protocol.md has the bytes. Every frame from a child is hostile: sizes are capped before
// memory is taken, descriptors that nobody asked for are closed.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <kagent/result.h>

#include "sys/fd.h"

#include <nlohmann/json.hpp>

namespace kagent::wire {

struct Frame {
  nlohmann::json body;
  std::vector<sys::Fd> descriptors;
};

inline constexpr std::size_t kMaxFrameBytes = 96u << 20;
inline constexpr std::size_t kMaxFrameDescriptors = 250;
inline constexpr int kChannelDescriptor = 3;   // where a worker finds its end

/// Why nothing was received.
enum class ReceiveFailure { closed, timeout, malformed, stopped };

/// One end of a conversation. Not for use from several threads at once.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Channel(sys::Fd socket) : socket_(std::move(socket)) {}

  /// Both ends of a new socket pair, close-on-exec.
  static Result<std::pair<Channel, Channel>> pair();

  /// Descriptors are duplicated into the peer; the caller keeps its own.
  Result<void> send(const nlohmann::json& body, const std::vector<int>& descriptors = {});

  /// Waits until a whole frame is there. Without a deadline it waits for ever.
  /// stop_fd (or -1): returns ReceiveFailure::stopped once it becomes readable.
  std::variant<Frame, ReceiveFailure> receive(std::optional<Clock::time_point> deadline = {},
                                              int stop_fd = -1);

  int fd() const { return socket_.get(); }
  sys::Fd release() && { return std::move(socket_); }

 private:
  sys::Fd socket_;
};

}  // namespace kagent::wire
