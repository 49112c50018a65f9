// SPDX-License-Identifier: Apache-2.0
// A reply put together from the events of its stream. Pure; one implementation a wire format.
#pragma once

#include <kagent/chat.h>

#include "llm/event_stream.h"
#include "llm/trouble.h"

#include <cstddef>
#include <optional>
#include <string>

namespace kagent::llm {

/// What of one reply is held: prose, reasoning and arguments together. 128k tokens are about half
/// a MiB; a model that writes more has lost its way.
inline constexpr std::size_t kMaxReplyBytes = 2u << 20;

/// What one event was.
enum class Heard {
  nothing,   // a ping, an unknown type: says only that the connection lives
  progress,  // part of the reply
  trouble,   // an error; trouble() says which
  too_much,  // the reply is longer than kMaxReplyBytes: stop reading
};

class ReplyStream {
 public:
  virtual ~ReplyStream() = default;

  virtual Heard take(const ServerEvent& event) = 0;

  /// An answer that came as one JSON object although a stream was asked for.
  virtual Heard take_whole(const std::string& body) = 0;

  /// The end frame came; without it the stream was cut off, and nothing of it counts.
  virtual bool ended() const = 0;

  /// Nothing of use can follow: not even the usage, which may come after the end frame.
  virtual bool complete() const = 0;

  /// What was heard so far, as a reply. After too_much: a short one that says it was cut off.
  virtual Reply reply() const = 0;

  const std::optional<Trouble>& trouble() const { return trouble_; }
  std::size_t bytes() const { return bytes_; }  // of the reply, so far

 protected:
  Heard fail(Trouble trouble) {
    trouble_ = std::move(trouble);
    return Heard::trouble;
  }
  Heard count(std::size_t bytes) {
    bytes_ += bytes;
    return bytes_ > kMaxReplyBytes ? Heard::too_much : Heard::progress;
  }

 private:
  std::optional<Trouble> trouble_;
  std::size_t bytes_ = 0;
};

}  // namespace kagent::llm
