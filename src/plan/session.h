// SPDX-License-Identifier: Apache-2.0
// One evaluation in a runner's child: serves load, prepare, run, time and loop until the other side
// closes (docs/protocol.md, Runner).
#pragma once

#include "plan/device_program.h"
#include "plan/interpreter.h"
#include "plan/load_request.h"
#include "plan/outcome.h"
#include "plan/progress_page.h"
#include "wire/channel.h"
#include "wire/json.h"

#include <memory>
#include <vector>

namespace kagent::plan {

class Session {
 public:
  Session(wire::Channel channel, const DeviceProgram& program, ProgressPage& progress)
      : channel_(std::move(channel)), program_(program), progress_(progress) {}

  /// Returns when the other side has closed, or sent what is no frame.
  void serve();

 private:
  wire::Json answer(wire::Frame frame);
  Outcome handle(wire::Frame frame, wire::Json& ok);
  Outcome load(wire::Frame frame);
  Result<void> map_arenas();
  Result<NamedTensors> map_arena(const ArenaLayout& layout, sys::Fd memory, bool private_copy);
  Result<void> map_outputs();
  Outcome prepare(wire::Json& ok);
  Outcome run(const wire::Json& body);
  Outcome time(const wire::Json& body, wire::Json& ok);
  Outcome loop(wire::Frame frame);
  Outcome begin_call(const wire::Json& body);
  Outcome finish_call();

  wire::Channel channel_;
  const DeviceProgram& program_;
  ProgressPage& progress_;

  LoadRequest request_;
  std::unique_ptr<Backend> backend_;
  NamedTensors weights_;
  std::vector<NamedTensors> inputs_;
  std::vector<at::Tensor> outputs_;           // places in the output arena
  at::Tensor output_arena_;                   // all of it, as bytes
  std::unique_ptr<Interpreter> interpreter_;  // last: refers to what stands above
  bool prepared_ = false;
  std::vector<std::uint64_t> touched_memory_;  // kept from loop to loop
};

}  // namespace kagent::plan
