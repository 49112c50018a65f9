// SPDX-License-Identifier: Apache-2.0
#include "plan/session.h"

#include "plan/faults.h"
#include "plan/handshake_loop.h"
#include "plan/numerics.h"
#include "plan/tensors.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace kagent::plan {
namespace {

constexpr std::uint8_t kPreparePoison = 0xFF;  // NaN in every floating dtype
constexpr std::int64_t kMaxCalls = 1'000'000;
constexpr std::int64_t kMaxTouchBytes = std::int64_t{4} << 30;

Error request_error(const std::string& message) { return Error{ErrorKind::internal, message}; }

/// A whole number of the request, from 0 to `limit`.
Result<std::int64_t> number(const wire::Json& body, const char* field, std::int64_t limit) {
  const auto found = body.find(field);
  if (found == body.end() || !found->is_number_unsigned() ||
      *found > static_cast<std::uint64_t>(limit)) {
    return request_error(std::string(field) + " must be a number from 0 to " +
                         std::to_string(limit));
  }
  return found->get<std::int64_t>();
}

/// Drops what a call left behind, however it ended.
class ReleaseAtEnd {
 public:
  explicit ReleaseAtEnd(Interpreter& interpreter) : interpreter_(interpreter) {}
  ReleaseAtEnd(const ReleaseAtEnd&) = delete;
  ReleaseAtEnd& operator=(const ReleaseAtEnd&) = delete;
  ~ReleaseAtEnd() { interpreter_.release(); }

 private:
  Interpreter& interpreter_;
};

}  // namespace

void Session::serve() {
  for (;;) {
    auto received = channel_.receive();
    auto* frame = std::get_if<wire::Frame>(&received);
    if (frame == nullptr) return;
    if (!channel_.send(answer(std::move(*frame)))) return;
  }
}

wire::Json Session::answer(wire::Frame frame) {
  wire::Json ok = wire::Json::object();
  const Outcome outcome =
      catching(nullptr, request_.plan, [&] { return handle(std::move(frame), ok); });
  if (!outcome) return {{"error", {{"message", outcome.error().message}}}};
  if (outcome->has_value()) return {{"fault", wire::to_json(**outcome)}};
  return {{"ok", std::move(ok)}};
}

Outcome Session::handle(wire::Frame frame, wire::Json& ok) {
  const auto found = frame.body.find("type");
  const std::string type =
      found != frame.body.end() && found->is_string() ? found->get<std::string>() : "";
  if (type == "load") return load(std::move(frame));
  if (type != "prepare" && type != "run" && type != "time" && type != "loop") {
    return request_error("a runner does not know the request '" + type + "'");
  }
  if (interpreter_ == nullptr) return request_error(type + ": nothing is loaded");
  if (type == "prepare") return prepare(ok);
  if (!prepared_) return request_error(type + ": prepare comes first");
  if (type == "run") return run(frame.body);
  if (type == "time") return time(frame.body, ok);
  return loop(std::move(frame));
}

Outcome Session::load(wire::Frame frame) {
  if (backend_ != nullptr) return request_error("load: this process has loaded a plan already");
  KAGENT_TRY(request_, parse_load_request(std::move(frame)));
  if (request_.plan.backend != program_.backend) {
    return request_error("load: the plan is for the other backend's runner");
  }
  KAGENT_TRY(backend_, program_.make_backend(request_));
  KAGENT_TRY(auto numerics, apply_numerics(request_.numerics));
  static_cast<void>(numerics);
  KAGENT_TRY_VOID(map_arenas());
  KAGENT_PASS(backend_->load(request_.build, std::move(request_.images)));
  auto interpreter =
      std::make_unique<Interpreter>(request_.plan, request_.build, *backend_, &progress_);
  interpreter->check_after_each_step(request_.diagnostic);
  KAGENT_PASS(interpreter->compile());
  backend_->poison_allocations(kPreparePoison);
  KAGENT_PASS(interpreter->bind_weights(weights_));
  for (const NamedTensors& set : inputs_) KAGENT_TRY_VOID(interpreter->bind_inputs(set));
  KAGENT_PASS_FAULT(backend_->synchronize());
  interpreter_ = std::move(interpreter);
  return std::nullopt;
}

Result<void> Session::map_arenas() {
  KAGENT_TRY(weights_,
             map_arena(request_.weights, std::move(request_.weights_memory), request_.diagnostic));
  for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
    KAGENT_TRY(NamedTensors set, map_arena(request_.inputs[i], std::move(request_.inputs_memory[i]),
                                           request_.diagnostic));
    inputs_.push_back(std::move(set));
  }
  return map_outputs();
}

Result<NamedTensors> Session::map_arena(const ArenaLayout& layout, sys::Fd memory,
                                        bool private_copy) {
  NamedTensors tensors;
  void* base = nullptr;
  if (layout.bytes > 0) {
    KAGENT_TRY(base, backend_->map_arena(std::move(memory), layout.bytes, Access::read_only,
                                         private_copy));
  }
  for (const ArenaEntry& entry : layout.entries) {
    tensors[entry.name] =
        tensor_over(static_cast<char*>(base) + entry.offset, entry.spec, backend_->device());
  }
  return tensors;
}

Result<void> Session::map_outputs() {
  const ArenaLayout& layout = request_.outputs;
  if (layout.entries.size() != output_tensors(request_.plan.outputs).size()) {
    return request_error("load: the plan has another number of output tensors than the reference");
  }
  if (layout.bytes == 0) return {};
  KAGENT_TRY(void* base, backend_->map_arena(std::move(request_.outputs_memory), layout.bytes,
                                             Access::read_write, false));
  output_arena_ =
      tensor_over(base, TensorSpec{DType::uint8, {layout.bytes}, {1}}, backend_->device());
  for (const ArenaEntry& entry : layout.entries) {
    outputs_.push_back(
        tensor_over(static_cast<char*>(base) + entry.offset, entry.spec, backend_->device()));
  }
  return {};
}

Outcome Session::prepare(wire::Json& ok) {
  prepared_ = false;
  backend_->poison_allocations(kPreparePoison);
  const auto start = std::chrono::steady_clock::now();
  KAGENT_PASS(interpreter_->prepare());
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  KAGENT_PASS_FAULT(backend_->check_guards());
  backend_->protect(interpreter_->kept_tensors());
  ok["prepare_us"] = request_.plan.prepare.empty() ? 0.0 : spent.count();
  prepared_ = true;
  return std::nullopt;
}

/// Input set of a request bound; its number checked.
Outcome Session::begin_call(const wire::Json& body) {
  KAGENT_TRY(const std::int64_t set,
             number(body, "set", static_cast<std::int64_t>(inputs_.size()) - 1));
  KAGENT_TRY_VOID(interpreter_->bind_inputs(inputs_[static_cast<std::size_t>(set)]));
  return std::nullopt;
}

/// Outputs into the arena. An output may be an input, a view of one, or overlap another output:
/// each is copied on its own.
Outcome Session::finish_call() {
  const std::vector<at::Tensor> made = interpreter_->outputs();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (made[i].scalar_type() != outputs_[i].scalar_type() ||
        made[i].sizes() != outputs_[i].sizes()) {
      return request_error("output " + std::to_string(i) + " is " + describe(made[i]) +
                           " and the reference's is " + describe(outputs_[i]));
    }
    outputs_[i].copy_(made[i]);
  }
  KAGENT_PASS_FAULT(backend_->synchronize());
  return std::nullopt;
}

Outcome Session::run(const wire::Json& body) {
  KAGENT_TRY(const std::int64_t poison, number(body, "poison", 255));
  backend_->poison_allocations(static_cast<std::uint8_t>(poison));
  if (output_arena_.defined()) output_arena_.fill_(poison);
  KAGENT_PASS(begin_call(body));
  const ReleaseAtEnd release(*interpreter_);
  KAGENT_PASS(interpreter_->call(true));
  KAGENT_PASS_FAULT(backend_->synchronize());
  KAGENT_PASS_FAULT(backend_->check_guards());
  return finish_call();
}

Outcome Session::time(const wire::Json& body, wire::Json& ok) {
  if (program_.time == nullptr) return request_error("time: this backend is timed by loop");
  KAGENT_TRY(const std::int64_t samples, number(body, "samples", kMaxCalls));
  KAGENT_PASS(begin_call(body));
  const ReleaseAtEnd release(*interpreter_);
  backend_->reuse_allocations();
  Outcome outcome = std::optional<Fault>();
  auto before = [&] { interpreter_->release(); };
  auto call = [&] {
    if (outcome && !outcome->has_value()) outcome = interpreter_->call(false);
  };
  std::vector<std::string> notes;
  auto measured = program_.time(*backend_, static_cast<int>(samples), before, call, notes);
  KAGENT_PASS(std::move(outcome));
  if (!measured) {
    KAGENT_PASS_FAULT(backend_->synchronize());  // a kernel may have crashed while it was timed
    return std::move(measured).error();
  }
  ok["samples"] = wire::Json::array();
  for (const Sample& sample : *measured) ok["samples"].push_back(wire::to_json(sample));
  ok["notes"] = notes;
  return finish_call();
}

Outcome Session::loop(wire::Frame frame) {
  if (frame.descriptors.size() != 2) return request_error("loop: two eventfds must come along");
  HandshakeLoop loop;
  KAGENT_TRY(const std::int64_t calls, number(frame.body, "calls", kMaxCalls));
  KAGENT_TRY(const std::int64_t touch, number(frame.body, "touch", kMaxTouchBytes));
  loop.calls = static_cast<int>(calls);
  const std::size_t words = static_cast<std::size_t>(touch) / sizeof(std::uint64_t);
  if (touched_memory_.size() < words) touched_memory_.resize(words, 1);
  loop.touch = std::span(touched_memory_).first(words);
  loop.go = std::move(frame.descriptors[0]);
  loop.signal = std::move(frame.descriptors[1]);
  KAGENT_PASS(begin_call(frame.body));
  const ReleaseAtEnd release(*interpreter_);
  backend_->reuse_allocations();
  auto call = [&]() -> Outcome {
    KAGENT_PASS(interpreter_->call(false));
    KAGENT_PASS_FAULT(backend_->synchronize());
    return std::nullopt;
  };
  KAGENT_PASS(run_loop(
      loop, [&] { interpreter_->release(); }, call));
  return loop.calls > 0 ? finish_call() : Outcome(std::nullopt);
}

}  // namespace kagent::plan
