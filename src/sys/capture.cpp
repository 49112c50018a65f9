// SPDX-License-Identifier: Apache-2.0
#include "sys/capture.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kagent::sys {

Result<std::unique_ptr<OutputCapture>> OutputCapture::start(std::size_t head_bytes,
                                                            std::size_t tail_bytes, int log_fd,
                                                            std::size_t log_bytes) {
  std::unique_ptr<OutputCapture> capture(
      new OutputCapture(head_bytes, tail_bytes, log_fd, log_bytes));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorKind::environment, std::string("pipe: ") + std::strerror(errno)};
  }
  capture->reader_ = Fd(ends[0]);
  capture->writer_ = Fd(ends[1]);
  capture->wake_ = Fd(::eventfd(0, EFD_CLOEXEC));
  capture->thread_ = std::thread([self = capture.get()] { self->drain(); });
  return capture;
}

OutputCapture::~OutputCapture() {
  writer_.reset();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void OutputCapture::drain() {
  char buffer[65536];
  for (;;) {
    pollfd waits[2] = {{reader_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) break;
    if ((waits[0].revents & (POLLIN | POLLHUP)) == 0) {
      if ((waits[1].revents & POLLIN) != 0) break;
      continue;
    }
    const ssize_t got = ::read(reader_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    if (log_fd_ >= 0 && log_left_ > 0) {
      const ssize_t logged = ::write(log_fd_, buffer, std::min(size, log_left_));
      log_left_ = logged < 0 ? 0 : log_left_ - static_cast<std::size_t>(logged);
    }
    const std::lock_guard lock(mutex_);
    total_ += size;
    const std::size_t to_head = std::min(size, head_limit_ - head_.size());
    head_.append(buffer, to_head);
    tail_.append(buffer + to_head, size - to_head);
    if (tail_.size() > 2 * tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

std::string OutputCapture::text() const {
  const std::lock_guard lock(mutex_);
  const std::string_view tail =
      std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), tail_limit_));
  const std::size_t left_out = total_ - head_.size() - tail.size();
  if (left_out == 0) return head_ + std::string(tail);
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", head_, left_out, tail);
}

std::size_t OutputCapture::total_bytes() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

void OutputCapture::finish(int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < deadline) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace kagent::sys
