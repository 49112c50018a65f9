// SPDX-License-Identifier: Apache-2.0
// Judges candidates of one task with four warm workers: reference, recorder, builder, runner.
// The steps of evaluate() are the story: record -> allowed? -> build -> launches fit? -> load ->
// trials under secret seeds -> interleaved timing -> score.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kagent/device.h>
#include <kagent/evaluator.h>
#include <kagent/settings.h>
#include <kagent/task.h>

#include "evaluator/programs.h"
#include "evaluator/runner.h"
#include "evaluator/worker.h"
#include "sys/files.h"
#include "sys/lock_file.h"

namespace kagent::evaluator {

enum class Artifacts { forget, keep };   // plan.json and build.log beside the candidate's source

struct SessionOptions {
  JudgeSettings settings;
  sandbox::Tier tier = sandbox::Tier::bubblewrap;
  bool reuse_servers = true;             // false: recorder, builder and runner are started anew for each candidate
  std::filesystem::path candidates;      // every candidate's folder lies below it
  std::filesystem::path cache;           // inductor's and Triton's caches, a folder for each task, kept between sessions
  Artifacts artifacts = Artifacts::forget;
  Progress progress;                     // may be empty
};

/// What the reference said about the task and the machine.
struct TaskFacts {
  TaskSignature signature;
  DeviceRecord device;
  nlohmann::json versions;               // torch, cuda, python, driver
  nlohmann::json numerics;               // as read back from torch
  std::vector<std::string> notes;
};

/// Arenas that the reference shares; descriptors are passed on to each runner.
struct SharedMemory {
  ArenaLayout weights;
  std::vector<ArenaLayout> inputs;
  ArenaLayout outputs;
  OutputTree output_tree;
  std::vector<sys::Fd> descriptors;      // weights, inputs..., outputs
  std::vector<std::string> variants;     // families of hidden values that the task allows
};

/// An answer that computes nothing, and what it would be taken for.
struct NullModel {
  std::string name;                      // zeros, constant, another input's output, input copy
  bool passed = false;                   // on the task's own inputs
  double error_ratio = 0;
  std::string refuted_by;                // hidden family that it fails on; empty: none
};

struct TaskAudit {
  std::vector<NullModel> null_models;
  bool degenerate = false;               // one passes, and nothing refutes it
};

// What a step came to, or what the candidate did wrong there.
using Recorded = std::variant<Plan, Fault>;
using Built = std::variant<BuildResult, Fault>;
using Measured = std::variant<Measurement, Fault>;

class Session : public Evaluator {
 public:
  /// Starts the workers and opens the task; an Error of kind task_invalid names its line.
  static Result<std::unique_ptr<Session>> open(const Task& task, SessionOptions options);

  /// Only the reference and the recorder, on the CPU: enough for record().
  static Result<std::unique_ptr<Session>> open_for_recording(const Task& task,
                                                             SessionOptions options,
                                                             DeviceRecord device);

  Result<Evaluation> evaluate(const Candidate& candidate) override;

  /// The plan alone.
  Result<Recorded> record(const Candidate& candidate);

  /// Builds the plan's kernels and writes all that the runner's audit mode needs (docs/audit-mode.md);
  /// plan.json comes last. A Fault is what kept the candidate from being built.
  Result<std::optional<Fault>> write_plan_folder(const Candidate& candidate, const Plan& plan,
                                                  const std::filesystem::path& folder);

  /// Eager and torch.compile alone, in the same rounds.
  Result<Measurement> measure_baselines();

  /// Null models, once for a session. Families of hidden variants that apply: facts().notes.
  Result<TaskAudit> audit_task();
  const std::vector<std::string>& variants() const { return memory_->variants; }

  const TaskFacts& facts() const { return facts_; }
  const SessionOptions& options() const { return options_; }

  /// Process ids of the workers, for tests and benchmarks.
  std::vector<int> worker_ids() const;

 private:
  Session(Task task, SessionOptions options) : task_(std::move(task)), options_(std::move(options)) {}

  class Clock;   // fills Evaluation::stage_ms
  Result<void> start(Backend reference_backend);
  Result<void> start_recorder();
  Result<void> start_builder();
  /// Where children share a server's user and processes, a server that saw hostile code is not used again.
  Result<void> renew_servers();
  Result<void> open_task(Backend reference_backend);
  Result<void> share();
  /// Holds the device as long as it lives; one that was made while another lives holds nothing itself.
  class Lease {
   public:
    explicit Lease(Session* session) : session_(session) {}
    Lease(Lease&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (session_ != nullptr) session_->lease_.reset();
    }

   private:
    Session* session_;
  };
  Result<Lease> take_lease();
  /// How long leases were waited for since the last call, in milliseconds.
  double take_queue_ms();
  Result<void> compile_baselines();
  Result<sys::Fd> build_instruments();

  Result<Evaluation> judge(const Candidate& candidate);
  Result<Built> build(const Candidate& candidate, const Plan& plan, std::vector<sys::Fd>& images);
  Result<std::optional<Fault>> load(RunnerChild& child, const Plan& plan, const BuildResult& build,
                                    const std::vector<sys::Fd>& images, bool diagnostic);
  Result<std::optional<Fault>> run_trials(RunnerChild& child, Verdict& verdict);
  Result<std::optional<Fault>> run_trial(RunnerChild& child, int number, Trial& trial);
  /// The task's structure under other values: only for candidates that passed the trials.
  Result<std::optional<Fault>> run_variants(RunnerChild& child, Verdict& verdict);
  Result<std::optional<Fault>> run_variant(RunnerChild& child, const std::string& family, bool& ran);
  Result<std::optional<Fault>> end_variants(RunnerChild& child);
  std::vector<std::string> draw_families() const;
  Result<Fault> diagnose(const Plan& plan, const BuildResult& build,
                         const std::vector<sys::Fd>& images, Fault fault, int set);
  Result<Measured> measure(RunnerChild* child);
  void tell(const std::string& phase) const;
  Error in_task(Error error) const;
  std::filesystem::path task_cache() const { return options_.cache / "tasks" / task_.hash; }

  Task task_;
  SessionOptions options_;
  std::optional<Installation> installation_;
  std::optional<sys::TemporaryDirectory> task_folder_;
  std::unique_ptr<Worker> reference_;
  std::unique_ptr<Worker> recorder_;
  std::unique_ptr<Worker> builder_;
  std::unique_ptr<RunnerServer> runner_;
  std::optional<sys::LockFile> lease_;  // held by a Lease
  double queue_ms_ = 0;                 // not yet told in a stage_ms
  double judge_queue_ms_ = 0;           // of the evaluation that runs
  TaskFacts facts_;
  std::optional<SharedMemory> memory_;
  std::optional<TaskAudit> audit_;
  sys::Fd instruments_;                 // CUDA only
  bool compiled_ = false;
  std::vector<std::string> arms_;       // "eager", "compiled": those that work
  std::vector<std::string> baseline_notes_;
  int last_set_ = 0;                    // input set of the last run or timed call
  double prepare_us_ = 0;
};

}  // namespace kagent::evaluator
