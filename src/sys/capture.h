// SPDX-License-Identifier: Apache-2.0
// A child's output, read to its end so that it never blocks, kept only at head and tail.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::sys {

class OutputCapture {
 public:
  /// Keeps the first head_bytes and the last tail_bytes. log_fd (or -1): gets the first
  /// log_bytes of everything; it is not owned.
  static Result<std::unique_ptr<OutputCapture>> start(std::size_t head_bytes, std::size_t tail_bytes,
                                                      int log_fd = -1,
                                                      std::size_t log_bytes = 16u << 20);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// Where the child writes; close_writer() once it has its copy.
  int writer() const { return writer_.get(); }
  void close_writer() { writer_.reset(); }

  /// What is there so far: head, a line saying how much was left out, tail.
  std::string text() const;
  std::size_t total_bytes() const;

  /// Waits until every writer has closed its end, at most this long.
  void finish(int milliseconds);

 private:
  OutputCapture(std::size_t head, std::size_t tail, int log_fd, std::size_t log_bytes)
      : head_limit_(head), tail_limit_(tail), log_fd_(log_fd), log_left_(log_bytes) {}
  void drain();

  std::size_t head_limit_;
  std::size_t tail_limit_;
  int log_fd_;
  std::size_t log_left_;
  Fd reader_;
  Fd writer_;
  Fd wake_;
  mutable std::mutex mutex_;
  std::string head_;
  std::string tail_;
  std::size_t total_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace kagent::sys
