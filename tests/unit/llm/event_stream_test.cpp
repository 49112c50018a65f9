// SPDX-License-Identifier: Apache-2.0
#include "llm/event_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace kagent::llm {
namespace {

std::vector<ServerEvent> events_of(const std::string& text, std::size_t cut) {
  EventStream stream;
  std::vector<ServerEvent> events;
  const auto keep = [&](ServerEvent event) { events.push_back(std::move(event)); };
  stream.feed(std::string_view(text).substr(0, cut), keep);
  stream.feed(std::string_view(text).substr(cut), keep);
  stream.finish(keep);
  return events;
}

TEST(EventStream, IsTheSameWhereverItIsCut) {
  const std::string text =
      "\xEF\xBB\xBF: comment\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nevent: skipped\n\n"
      "data: \xC3\xBC\n\nid: 7\rdata:  x\r\rdata\n\nevent: b\ndata: last";
  const std::vector<ServerEvent> expected{
      {"a", "1\n2"}, {"", "\xC3\xBC"}, {"", " x"}, {"", ""}, {"b", "last"}};
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(events_of(text, cut), expected) << cut;
}

TEST(EventStream, HoldsNoMoreThanItsCap) {
  EventStream stream;
  std::size_t bytes = 0;
  const std::string piece(1u << 20, 'x');
  stream.feed("data: ", [](ServerEvent) {});
  for (int i = 0; i < 8; ++i) stream.feed(piece, [](ServerEvent) {});
  stream.feed("\n\n", [&](ServerEvent event) { bytes = event.data.size(); });
  EXPECT_TRUE(stream.overflowed());
  EXPECT_LE(bytes, EventStream::kMaxEventBytes);
}

}  // namespace
}  // namespace kagent::llm
