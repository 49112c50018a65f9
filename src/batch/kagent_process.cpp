// SPDX-License-Identifier: Apache-2.0
#include "batch/kagent_process.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sys/environment.h"
#include "sys/files.h"
#include "sys/subprocess.h"
#include "wire/members.h"

namespace kagent::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxOutputBytes = 256u << 20;
constexpr std::size_t kMaxLogBytes = 64u << 20;

double seconds_since(sys::Process::Clock::time_point start) {
  return std::chrono::duration<double>(sys::Process::Clock::now() - start).count();
}

std::string last_line(const fs::path& log) {
  const auto text = sys::read_file(log, kMaxLogBytes);
  if (!text) return "";
  const auto lines = base::split_lines(base::trim(*text));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->rfind("kagent: error: ", 0) == 0) return *line;
  }
  return lines.empty() ? "" : lines.back();   // what it was about to do
}

class KagentJob : public RunningJob {
 public:
  KagentJob(sys::Process process, fs::path output, fs::path log, fs::path runs)
      : process_(std::move(process)), output_(std::move(output)), log_(log), watch_(std::move(log), std::move(runs)) {}

  std::optional<JobEnd> ended() override {
    const auto status = process_.wait(sys::Process::Clock::now());
    if (!status) return std::nullopt;
    const int code = status->code ? *status->code : 128 + status->signal.value_or(9);
    auto text = sys::read_file(output_, kMaxOutputBytes);
    JobEnd end = read_end(code, seconds_since(start_), text ? *text : "", last_line(log_));
    const std::string run_folder = wire::text_member(end.facts, "run_folder");
    if (!run_folder.empty()) add_run_folder(end, run_folder);
    end.seconds = std::max(0.0, end.seconds - end.queue_seconds);
    return end;
  }

  void interrupt() override { process_.interrupt(); }
  JobStatus status() override { return watch_.look(); }

 private:
  sys::Process process_;
  sys::Process::Clock::time_point start_ = sys::Process::Clock::now();
  fs::path output_;
  fs::path log_;
  JobWatch watch_;
};

/// A job that needs no process to be judged.
class SettledJob : public RunningJob {
 public:
  explicit SettledJob(JobEnd end) : end_(std::move(end)) {}
  std::optional<JobEnd> ended() override { return end_; }
  void interrupt() override {}

 private:
  JobEnd end_;
};

class KagentProcesses : public JobStarter {
 public:
  explicit KagentProcesses(ProcessSettings settings) : settings_(std::move(settings)) {}

  Result<std::unique_ptr<RunningJob>> start(const Job& job, int slot) override {
    std::vector<std::string> arguments{settings_.kagent.string()};
    if (settings_.model.empty() && settings_.candidates.empty()) {
      arguments.insert(arguments.end(), {"baseline", job.task.path.string()});
    } else if (settings_.model.empty()) {
      const fs::path candidate = find_candidate(settings_.candidates, job.task, settings_.backend);
      if (candidate.empty()) return std::unique_ptr<RunningJob>(new SettledJob(without_candidate(job)));
      arguments.insert(arguments.end(), {"check", job.task.path.string(), candidate.string()});
    } else {
      KAGENT_TRY_VOID(add_optimize(job, arguments));
    }
    arguments.insert(arguments.end(), settings_.arguments.begin(), settings_.arguments.end());
    arguments.insert(arguments.end(), {"--json"});   // phases go to the log

    const fs::path output = settings_.folder / "output" / (job.id + ".jsonl");
    const fs::path log = settings_.folder / "logs" / (job.id + ".log");
    KAGENT_TRY(const sys::Fd output_file, sys::create_file(output));
    KAGENT_TRY(const sys::Fd log_file, sys::create_file(log));
    sys::SpawnRequest request;
    request.arguments = std::move(arguments);
    request.environment = environment(slot);   // kagent itself: it may have the key
    request.output = log_file.get();
    request.standard_output = output_file.get();
    auto process = sys::Process::spawn(request);
    if (!process) return std::move(process).error().with_context("start " + job.id);
    return std::unique_ptr<RunningJob>(new KagentJob(std::move(*process), output, log, settings_.model.empty() ? fs::path() : settings_.folder / "runs" / job.id));
  }

 private:
  JobEnd without_candidate(const Job& job) const {
    JobEnd end;
    end.exit_code = 1;
    end.outcome = "no_candidate";
    end.message = settings_.candidates.string() + ": no candidate for " + job.task.id;
    return end;
  }

  Result<void> add_optimize(const Job& job, std::vector<std::string>& arguments) const {
    const fs::path runs = settings_.folder / "runs" / job.id;
    KAGENT_TRY_VOID(sys::make_directories(runs));
    arguments.insert(arguments.end(), {"optimize", job.task.path.string(), "--model", settings_.model, "--out", runs.string()});
    std::error_code code;
    fs::path latest;
    for (const auto& entry : fs::directory_iterator(runs, code)) {
      const bool begun = fs::exists(entry.path() / "trajectory.jsonl", code);
      if (begun && (latest.empty() || latest < entry.path())) latest = entry.path();
    }
    if (!latest.empty()) arguments.insert(arguments.end(), {"--resume", latest.string()});
    return {};
  }

  std::vector<std::string> environment(int slot) const {
    auto all = sys::inherited_environment();
    if (settings_.backend == "cpu") {
      std::erase_if(all, [](const std::string& entry) { return entry.rfind("KAGENT_CPU_SLOT=", 0) == 0; });
      if (settings_.cpu_slots > 1) all.push_back("KAGENT_CPU_SLOT=" + std::to_string(slot % settings_.cpu_slots));
      return all;
    }
    if (settings_.gpus.empty()) return all;
    std::erase_if(all, [](const std::string& entry) { return entry.rfind("CUDA_VISIBLE_DEVICES=", 0) == 0; });
    all.push_back("CUDA_VISIBLE_DEVICES=" + settings_.gpus[static_cast<std::size_t>(slot) % settings_.gpus.size()]);
    return all;
  }

  ProcessSettings settings_;
};

}  // namespace

fs::path find_candidate(const fs::path& folder, const TaskFile& task, const std::string& backend) {
  std::vector<fs::path> names;
  if (!task.level.empty()) {
    names.push_back(fs::path(task.level) / task.name);
    names.emplace_back(task.level + "-" + task.name);
    if (task.number >= 0) names.emplace_back(task.level + "-" + std::to_string(task.number));
  }
  names.emplace_back(task.name);
  std::error_code code;
  for (const auto& name : names) {
    const fs::path path = folder / name;
    if (fs::exists(path / "model_new.py", code)) return path;
    if (fs::exists(path / backend / "model_new.py", code)) return path / backend;
    fs::path file = path;
    file += ".py";
    if (fs::is_regular_file(file, code)) return file;
  }
  return {};
}

std::unique_ptr<JobStarter> kagent_processes(ProcessSettings settings) {
  return std::make_unique<KagentProcesses>(std::move(settings));
}

}  // namespace kagent::batch
