// SPDX-License-Identifier: Apache-2.0
#include "llm/event_stream.h"

#include <utility>

namespace kagent::llm {

void EventStream::feed(std::string_view bytes, const OnEvent& on_event) {
  for (const char byte : bytes) {
    const bool second_half = after_return_ && byte == '\n';
    after_return_ = byte == '\r';
    if (second_half) continue;
    if (byte == '\r' || byte == '\n') {
      end_line(on_event);
    } else if (line_.size() + event_.data.size() < kMaxEventBytes) {
      line_ += byte;
    } else {
      overflowed_ = true;
    }
  }
}

void EventStream::finish(const OnEvent& on_event) {
  if (!line_.empty()) end_line(on_event);
  dispatch(on_event);
}

void EventStream::end_line(const OnEvent& on_event) {
  std::string_view line = line_;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (first_line_ && line.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    line.remove_prefix(kByteOrderMark.size());
  }
  first_line_ = false;
  if (line.empty()) {
    line_.clear();
    dispatch(on_event);
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  }  // comments have an empty field; id and retry say nothing to us
  line_.clear();
}

void EventStream::dispatch(const OnEvent& on_event) {
  ServerEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false)) on_event(std::move(event));
}

}  // namespace kagent::llm
