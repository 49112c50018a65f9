// SPDX-License-Identifier: Apache-2.0
// Server-sent events out of bytes that come in pieces of any size. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kagent::llm {

struct ServerEvent {
  std::string name;  // empty where the server names none
  std::string data;  // several data lines joined by "\n"
  bool operator==(const ServerEvent&) const = default;
};

class EventStream {
 public:
  using OnEvent = std::function<void(ServerEvent event)>;

  /// One event may hold at most this much; what is longer is cut off and overflowed() says so.
  static constexpr std::size_t kMaxEventBytes = 4u << 20;

  void feed(std::string_view bytes, const OnEvent& on_event);

  /// The stream has ended: an event whose last blank line is missing counts too.
  void finish(const OnEvent& on_event);

  bool overflowed() const { return overflowed_; }

 private:
  void end_line(const OnEvent& on_event);
  void dispatch(const OnEvent& on_event);

  std::string line_;
  ServerEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was CR: an LF belongs to it
  bool first_line_ = true;
  bool overflowed_ = false;
};

}  // namespace kagent::llm
