// SPDX-License-Identifier: Apache-2.0
#include "wire/channel.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/json.h"

namespace kagent::wire {
namespace {

constexpr std::array<char, 4> kMagic{'K', 'G', 'T', '1'};
constexpr std::size_t kHeaderBytes = 12;

void put_u32(char* where, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) where[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t get_u32(const char* where) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(where[i])) << (8 * i);
  }
  return value;
}

Error send_error() {
  return Error{ErrorKind::environment, std::string("send to worker: ") + std::strerror(errno)};
}

/// Readable, or the reason why not.
std::optional<ReceiveFailure> wait_readable(int fd, int stop_fd,
                                            std::optional<Channel::Clock::time_point> deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          *deadline - Channel::Clock::now());
      timeout = left.count() < 0 ? 0 : static_cast<int>(left.count() + 1);
    }
    pollfd waits[2] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
    const int ready = ::poll(waits, stop_fd >= 0 ? 2 : 1, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return ReceiveFailure::closed;
    if (ready == 0) return ReceiveFailure::timeout;
    if ((waits[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) return std::nullopt;
    return ReceiveFailure::stopped;
  }
}

/// Takes the descriptors out of a message; true where none was cut off.
bool take_descriptors(msghdr& message, std::vector<sys::Fd>& descriptors) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
  return (message.msg_flags & MSG_CTRUNC) == 0;
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorKind::environment, std::string("socketpair: ") + std::strerror(errno)};
  }
  // A peer that stops reading must not hold us for ever; receiving has deadlines of its own.
  const timeval patience{30, 0};
  ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return std::pair<Channel, Channel>(Channel(sys::Fd(ends[0])), Channel(sys::Fd(ends[1])));
}

Result<void> Channel::send(const nlohmann::json& body, const std::vector<int>& descriptors) {
  const std::string text = dump(body);
  KAGENT_CHECK(text.size() <= kMaxFrameBytes && descriptors.size() <= kMaxFrameDescriptors);
  char header[kHeaderBytes];
  std::memcpy(header, kMagic.data(), kMagic.size());
  put_u32(header + 4, static_cast<std::uint32_t>(text.size()));
  put_u32(header + 8, static_cast<std::uint32_t>(descriptors.size()));

  iovec part{header, sizeof header};
  std::vector<char> control(descriptors.empty() ? 0 : CMSG_SPACE(descriptors.size() * sizeof(int)));
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return send_error();
  std::string rest(header + sent, sizeof header - static_cast<std::size_t>(sent));
  rest += text;
  std::size_t done = 0;
  while (done < rest.size()) {
    const ssize_t wrote = ::send(socket_.get(), rest.data() + done, rest.size() - done, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return send_error();
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

std::variant<Frame, ReceiveFailure> Channel::receive(std::optional<Clock::time_point> deadline,
                                                     int stop_fd) {
  Frame frame;
  std::string bytes;
  std::size_t wanted = kHeaderBytes;
  std::size_t descriptors = 0;
  bool have_header = false;
  std::vector<char> buffer(65536);
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFrameDescriptors * sizeof(int))];
  while (bytes.size() < wanted) {
    if (const auto failure = wait_readable(socket_.get(), stop_fd, deadline)) return *failure;
    iovec part{buffer.data(), std::min(buffer.size(), wanted - bytes.size())};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return bytes.empty() ? ReceiveFailure::closed : ReceiveFailure::malformed;
    if (!take_descriptors(message, frame.descriptors)) return ReceiveFailure::malformed;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (!have_header && bytes.size() == kHeaderBytes) {
      have_header = true;
      wanted += get_u32(bytes.data() + 4);
      descriptors = get_u32(bytes.data() + 8);
      if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0 ||
          wanted - kHeaderBytes > kMaxFrameBytes || descriptors > kMaxFrameDescriptors) {
        return ReceiveFailure::malformed;
      }
      bytes.reserve(std::min<std::size_t>(wanted, 1u << 20));
    }
  }
  if (frame.descriptors.size() != descriptors) return ReceiveFailure::malformed;
  auto body = parse_text(bytes.substr(kHeaderBytes), "frame");
  if (!body || !body->is_object()) return ReceiveFailure::malformed;
  frame.body = std::move(*body);
  return frame;
}

}  // namespace kagent::wire
