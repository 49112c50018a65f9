// SPDX-License-Identifier: Apache-2.0
// The real kagent-runner, spoken to as kagent does.
#pragma once

#include <kagent/build.h>
#include <kagent/plan.h>
#include <kagent/tensor.h>

#include "sys/capture.h"
#include "sys/fd.h"
#include "sys/subprocess.h"
#include "wire/channel.h"
#include "wire/json.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace kagent::testing {

using wire::Json;

/// A memory file with a layout, as the reference makes them.
class Arena {
 public:
  /// Adds an entry with these bytes (or room for them); before create().
  void add(const std::string& name, const TensorSpec& spec, const std::string& bytes = {});
  void create();

  template <typename T>
  std::vector<T> read(std::size_t entry) const {
    const std::string bytes = read_bytes(entry);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
    return values;
  }
  std::string read_bytes(std::size_t entry) const;
  void write_bytes(std::size_t entry, const std::string& bytes);

  const ArenaLayout& layout() const { return layout_; }
  int writable() const { return memory_.get(); }
  /// A descriptor of its own, opened read-only.
  sys::Fd read_only() const;

 private:
  ArenaLayout layout_;
  std::string content_;
  sys::Fd memory_;
};

/// A plan with everything that `load` needs.
struct Evaluation {
  Plan plan;
  BuildResult build;
  std::vector<sys::Fd> images;
  Arena weights;
  std::vector<Arena> inputs = std::vector<Arena>(1);
  Arena outputs;
};

class RunnerServer {
 public:
  /// Starts the program and waits for its first answer.
  RunnerServer();
  ~RunnerServer();

  Json ask(const Json& request, const std::vector<int>& descriptors = {});
  wire::Channel& channel() { return *channel_; }
  int process_id() const { return process_->id(); }
  std::string log() const { return capture_->text(); }

 private:
  std::unique_ptr<sys::OutputCapture> capture_;
  std::unique_ptr<wire::Channel> channel_;
  std::unique_ptr<sys::Process> process_;
};

class RunnerChild {
 public:
  explicit RunnerChild(RunnerServer& server);

  /// The answer, or {"closed": true}, {"timeout": true}.
  Json ask(const Json& request, const std::vector<int>& descriptors = {},
           std::chrono::milliseconds patience = std::chrono::seconds(60));
  void send(const Json& request, const std::vector<int>& descriptors = {});
  Json receive(std::chrono::milliseconds patience);

  Json load(const Evaluation& evaluation, bool diagnostic = false);
  /// load and prepare; fails the test where one does not answer ok.
  void start(const Evaluation& evaluation, bool diagnostic = false);
  Json run(int set = 0, int poison = 0xA5) {
    return ask({{"type", "run"}, {"set", set}, {"poison", poison}});
  }

  void close() { channel_.reset(); }
  Json wait();
  int process_id() const { return pid_; }
  int channel_fd() const { return channel_->fd(); }

 private:
  RunnerServer& server_;
  std::unique_ptr<wire::Channel> channel_;
  int pid_ = -1;
};

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Path of kagent-runner in the build folder.
std::string runner_program();

}  // namespace kagent::testing
