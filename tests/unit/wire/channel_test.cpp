// SPDX-License-Identifier: Apache-2.0
#include "wire/channel.h"

#include <thread>

#include "sys/files.h"

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

auto soon() { return Channel::Clock::now() + seconds(5); }

std::pair<Channel, Channel> pair() { return std::move(*Channel::pair()); }

void write_raw(const Channel& channel, const std::string& bytes) {
  ASSERT_EQ(::send(channel.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

std::string header(std::uint32_t size, std::uint32_t descriptors, const std::string& magic = "KGT1") {
  std::string bytes = magic;
  for (const std::uint32_t value : {size, descriptors}) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

TEST(Channel, CarriesJsonAndDescriptors) {
  auto [left, right] = pair();
  const auto file = sys::sealed_memory_file("test", "contents");
  ASSERT_TRUE(left.send({{"type", "load"}, {"n", 1}}, {file->get(), file->get()}));
  ASSERT_TRUE(left.send({{"type", "next"}}));
  auto first = right.receive(soon());
  auto& frame = std::get<Frame>(first);
  EXPECT_EQ(frame.body["type"], "load");
  ASSERT_EQ(frame.descriptors.size(), 2u);
  EXPECT_EQ(*sys::read_all(frame.descriptors[1].get(), 100), "contents");
  auto second = right.receive(soon());
  EXPECT_TRUE(std::get<Frame>(second).descriptors.empty());
}

TEST(Channel, CarriesMoreThanASocketBuffer) {
  auto [left, right] = pair();
  const std::string text(8 << 20, 'x');
  std::thread sender([&left = left, &text] { EXPECT_TRUE(left.send({{"text", text}})); });
  auto received = right.receive(soon());
  sender.join();
  EXPECT_EQ(std::get<Frame>(received).body["text"], text);
}

TEST(Channel, TellsWhyNothingCame) {
  auto [left, right] = pair();
  EXPECT_EQ(std::get<ReceiveFailure>(right.receive(Channel::Clock::now() + milliseconds(50))),
            ReceiveFailure::timeout);
  left = Channel(sys::Fd());
  EXPECT_EQ(std::get<ReceiveFailure>(right.receive(soon())), ReceiveFailure::closed);
}

TEST(Channel, ADripFedFrameEndsAtTheDeadline) {
  auto [left, right] = pair();
  write_raw(left, header(100, 0) + "{");
  EXPECT_EQ(std::get<ReceiveFailure>(right.receive(Channel::Clock::now() + milliseconds(100))),
            ReceiveFailure::timeout);
}

TEST(Channel, RefusesFramesThatLie) {
  for (const std::string& bytes :
       {header(2, 0, "KGT2") + "{}", header(0xffffffffu, 0), header(2, 251) + "{}",
        header(2, 1) + "{}", header(2, 0) + "[]", header(2, 0) + "{x", header(0, 0)}) {
    auto [left, right] = pair();
    write_raw(left, bytes);
    EXPECT_EQ(std::get<ReceiveFailure>(right.receive(soon())), ReceiveFailure::malformed);
  }
  auto [left, right] = pair();
  write_raw(left, header(10, 0) + "{");
  left = Channel(sys::Fd());
  EXPECT_EQ(std::get<ReceiveFailure>(right.receive(soon())), ReceiveFailure::malformed);
}

TEST(Channel, ClosesDescriptorsThatNobodyAskedFor) {
  auto [left, right] = pair();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_TRUE(left.send({{"type", "gift"}}, {ends[1]}));
  ::close(ends[1]);
  right.receive(soon());  // frame dropped at once
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // end of file: nobody holds the writing end
  ::close(ends[0]);
}

}  // namespace
}  // namespace kagent::wire
