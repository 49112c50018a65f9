// SPDX-License-Identifier: Apache-2.0
// Starting the workers, opening the task, sharing memory, compiling the baselines.
#include "evaluator/secret.h"
#include "evaluator/session.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr auto kOpenTimeout = std::chrono::seconds(180);
constexpr auto kShareTimeout = std::chrono::seconds(180);
constexpr auto kCompileTimeout = std::chrono::seconds(600);
constexpr auto kBuildTimeout = std::chrono::seconds(120);
constexpr int kInputSets = 2;

}  // namespace

Error Session::in_task(Error error) const {
  if (error.kind == ErrorKind::task_invalid) error.message = task_.path.string() + error.message;
  return error;
}

void Session::tell(const std::string& phase) const {
  if (options_.progress) options_.progress(phase);
}

Result<std::unique_ptr<Session>> Session::open(const Task& task, SessionOptions options) {
  std::unique_ptr<Session> session(new Session(task, std::move(options)));
  const Backend backend = session->options_.settings.backend;
  if (backend == Backend::cuda && sandbox::gpu_device_nodes().empty()) {
    return Error{ErrorKind::environment,
                 "no GPU: there is no /dev/nvidia0; kagent doctor says more, --backend cpu judges "
                 "C++ kernels without one"};
  }
  KAGENT_TRY_VOID(session->start(backend));
  KAGENT_TRY_VOID(session->open_task(backend));
  if (backend == Backend::cuda) {
    KAGENT_TRY(session->instruments_, session->build_instruments());
  }
  KAGENT_TRY_VOID(session->runner_->warm_up());
  KAGENT_TRY(const Lease lease, session->take_lease());
  KAGENT_TRY_VOID(session->share());
  return session;
}

Result<std::unique_ptr<Session>> Session::open_for_recording(const Task& task,
                                                             SessionOptions options,
                                                             DeviceRecord device) {
  std::unique_ptr<Session> session(new Session(task, std::move(options)));
  KAGENT_TRY_VOID(session->start(Backend::cpu));
  KAGENT_TRY_VOID(session->open_task(Backend::cpu));
  if (session->options_.settings.backend == Backend::cuda) session->facts_.device = device;
  return session;
}

Result<void> Session::start(Backend reference_backend) {
  KAGENT_TRY(installation_, Installation::find());
  KAGENT_TRY(task_folder_, sys::TemporaryDirectory::create("kagent-task"));
  const auto copy = task_folder_->path() / task_.path.filename();
  KAGENT_TRY_VOID(sys::write_file_atomically(copy, task_.source));
  // task.py writes there: one task cannot leave compiled code for another.
  KAGENT_TRY_VOID(sys::make_directories(task_cache()));
  KAGENT_TRY_VOID(sys::make_directories(options_.candidates));
  KAGENT_TRY_VOID(sys::give_to_sandbox_user(task_cache()));
  KAGENT_TRY_VOID(sys::show_to_sandbox_user(options_.candidates));
  KAGENT_TRY_VOID(sys::show_to_sandbox_user(task_folder_->path()));

  const auto tier = options_.tier;
  const auto task_folder = task_mount(task_folder_->path(), tier);
  WorkerStart reference =
      reference_start(*installation_, reference_backend, task_folder, cache_mount(task_cache(), tier));
  reference.tier = tier;
  KAGENT_TRY(reference_, Worker::start(std::move(reference)));
  KAGENT_TRY_VOID(start_recorder());
  KAGENT_TRY_VOID(start_builder());
  WorkerStart runner = runner_start(*installation_, options_.settings.backend);
  runner.tier = tier;
  runner_ = std::make_unique<RunnerServer>(std::move(runner));
  return {};
}

Result<void> Session::start_recorder() {
  WorkerStart start = recorder_start(*installation_, candidates_mount(options_.candidates, options_.tier));
  start.tier = options_.tier;
  KAGENT_TRY(recorder_, Worker::start(std::move(start)));
  return {};
}

Result<void> Session::start_builder() {
  WorkerStart start = builder_start(*installation_);
  start.tier = options_.tier;
  KAGENT_TRY(builder_, Worker::start(std::move(start)));
  return {};
}

Result<void> Session::renew_servers() {
  if (options_.reuse_servers) return {};
  KAGENT_TRY_VOID(start_recorder());
  KAGENT_TRY_VOID(start_builder());
  runner_->stop();
  return runner_->warm_up();
}

Result<void> Session::open_task(Backend reference_backend) {
  // What ends before task.py was read is a matter of this machine: no torch, a library that does not load.
  KAGENT_TRY_VOID(expect_answer(reference_->ask({{"type", "hello"}}, {}, kOpenTimeout)));
  tell("open task");
  const auto& settings = options_.settings;
  const auto seen = task_mount(task_folder_->path(), options_.tier).theirs / task_.path.filename();
  auto outcome = reference_->ask({{"type", "open"},
                                  {"task", seen.string()},
                                  {"backend", wire::word(reference_backend)},
                                  {"mode", wire::word(settings.mode)},
                                  {"numerics", wire::word(settings.numerics)},
                                  {"cache", cache_mount(task_cache(), options_.tier).theirs.string()},
                                  {"device_index", 0},
                                  {"weights_seed", secret_number()}},
                                 {}, kOpenTimeout);
  if (const auto* breakdown = std::get_if<Breakdown>(&outcome)) {
    // Only task.py can end or stall this process while it is being opened.
    return in_task(Error{ErrorKind::task_invalid, ": could not be loaded: " + breakdown->message});
  }
  auto answer = expect_answer(std::move(outcome));
  if (!answer) return in_task(std::move(answer).error());
  const auto& ok = answer->ok;
  KAGENT_TRY(facts_.signature, wire::parse<TaskSignature>(ok.value("signature", wire::Json())));
  KAGENT_TRY(facts_.device, wire::parse<DeviceRecord>(ok.value("device", wire::Json())));
  facts_.versions = ok.value("versions", wire::Json::object());
  facts_.numerics = ok.value("numerics", wire::Json::object());
  collect_notes(ok, "notes", facts_.notes);
  return {};
}

Result<void> Session::share() {
  tell("share memory");
  auto answer = expect_answer(
      reference_->ask({{"type", "share"}, {"sets", kInputSets}}, {}, kShareTimeout));
  if (!answer) return in_task(std::move(answer).error());
  SharedMemory memory;
  const auto& ok = answer->ok;
  KAGENT_TRY(memory.weights, wire::parse<ArenaLayout>(ok.value("weights", wire::Json())));
  KAGENT_TRY(memory.outputs, wire::parse<ArenaLayout>(ok.value("outputs", wire::Json())));
  KAGENT_TRY(memory.output_tree, wire::parse<OutputTree>(ok.value("output_tree", wire::Json())));
  for (const auto& layout : ok.value("inputs", wire::Json::array())) {
    KAGENT_TRY(auto parsed, wire::parse<ArenaLayout>(layout));
    memory.inputs.push_back(std::move(parsed));
  }
  if (memory.inputs.size() != kInputSets || answer->descriptors.size() != kInputSets + 2) {
    return Error{ErrorKind::internal, "reference: share answered with the wrong number of arenas"};
  }
  collect_notes(ok, "notes", facts_.notes);
  for (const auto& name : ok.value("variants", wire::Json::array())) {
    if (name.is_string()) memory.variants.push_back(name.get<std::string>());
  }
  memory.descriptors = std::move(answer->descriptors);
  memory_ = std::move(memory);
  return {};
}

Result<sys::Fd> Session::build_instruments() {
  const auto path = installation_->share / "device/instruments.cu";
  KAGENT_TRY(const std::string source, sys::read_file(path, 1 << 20));
  const std::string name = "kernels/instruments.cu";
  auto answer = expect_answer(builder_->ask(
      {{"type", "build"},
       {"backend", "cuda"},
       {"architecture", facts_.device.architecture},
       {"compiler", "nvrtc"},
       {"sources", {{name, source}}},
       {"kernels", {{{"kernel", 0}, {"source", name}, {"name", "kagent_instrument_gate"}, {"options", wire::Json::array()}}}}},
      {}, kBuildTimeout));
  if (!answer) return std::move(answer).error().with_context("build " + path.string());
  if (answer->descriptors.size() != 1) {
    return Error{ErrorKind::internal, "builder: no image for the instruments"};
  }
  return std::move(answer->descriptors[0]);
}

Result<void> Session::compile_baselines() {
  if (compiled_) return {};
  tell("compile baselines");
  if (options_.settings.backend == Backend::cuda) {
    KAGENT_TRY_VOID(expect_answer(reference_->ask({{"type", "instruments"}}, {instruments_.get()},
                                                  kShareTimeout)));
  }
  auto answer = expect_answer(reference_->ask(
      {{"type", "compile"}, {"arms", {"eager", "compiled"}}}, {}, kCompileTimeout));
  if (!answer) return in_task(std::move(answer).error());
  for (const auto& arm : answer->ok.value("arms", wire::Json::array({"eager", "compiled"}))) {
    if (arm == "eager" || arm == "compiled") arms_.push_back(arm.get<std::string>());
  }
  std::vector<std::string> breaks;
  collect_notes(answer->ok, "graph_breaks", breaks);
  for (const auto& text : breaks) baseline_notes_.push_back("graph break: " + text);
  collect_notes(answer->ok, "notes", baseline_notes_);
  compiled_ = true;
  return {};
}

std::vector<int> Session::worker_ids() const {
  std::vector<int> ids;
  for (const auto* worker : {reference_.get(), recorder_.get(), builder_.get()}) {
    if (worker != nullptr) ids.push_back(worker->id());
  }
  return ids;
}

}  // namespace kagent::evaluator
