// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <variant>

#include <sys/wait.h>
#include <unistd.h>

namespace kagent::test {
namespace {

struct Peer {
  pid_t pid;
  wire::Channel channel;
};

std::vector<Peer>& peers() {
  static std::vector<Peer> all;
  return all;
}

[[noreturn]] void be_peer(wire::Channel channel) {
  peers().clear();   // the ends of those forked before
  auto received = channel.receive();
  if (auto* frame = std::get_if<wire::Frame>(&received)) {
    const auto answer = perform(frame->body.at("part"), frame->body.at("details"),
                                std::move(frame->descriptors));
    static_cast<void>(channel.send(answer));
  }
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace

void start_peers(int count) {
  for (int i = 0; i < count; ++i) {
    auto ends = wire::Channel::pair();
    KAGENT_CHECK(static_cast<bool>(ends));
    std::fflush(stdout);
    const pid_t pid = ::fork();
    KAGENT_CHECK(pid >= 0);
    if (pid == 0) {
      wire::Channel mine = std::move(ends->second);
      { const wire::Channel other = std::move(ends->first); }
      be_peer(std::move(mine));
    }
    peers().push_back({pid, std::move(ends->first)});
  }
}

nlohmann::json play(const std::string& part, const nlohmann::json& details,
                    const std::vector<int>& descriptors) {
  KAGENT_CHECK(!peers().empty());
  Peer peer = std::move(peers().back());
  peers().pop_back();
  const auto sent = peer.channel.send({{"part", part}, {"details", details}}, descriptors);
  nlohmann::json answer = {{"error", "the peer did not answer"}};
  if (sent) {
    auto received = peer.channel.receive(std::chrono::steady_clock::now() + std::chrono::seconds(90));
    if (auto* frame = std::get_if<wire::Frame>(&received)) answer = std::move(frame->body);
  }
  {
    // Closing the channel ends a peer that still waits.
    const wire::Channel closed = std::move(peer.channel);
  }
  int status = 0;
  ::waitpid(peer.pid, &status, 0);
  if (WIFSIGNALED(status)) answer["signal"] = WTERMSIG(status);
  return answer;
}

}  // namespace kagent::test
