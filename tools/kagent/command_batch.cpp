// SPDX-License-Identifier: Apache-2.0
// kagent batch DIR|FILE...: a whole benchmark in one command.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.h"
#include "batch/batch_folder.h"
#include "batch/journal.h"
#include "batch/kagent_process.h"
#include "batch/summary.h"
#include "ci_output.h"
#include "batch_table.h"
#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "report/evaluation_text.h"
#include "report/render.h"
#include "status_line.h"
#include "sys/environment.h"
#include "sandbox/policy.h"
#include "sys/stop.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFailOn = "invalid,crash,cheat,environment";

struct BatchOptions {
  std::vector<std::string> paths;
  std::string candidates;   // --check
  std::string model;
  bool baseline = false;
  batch::TaskChoice choice;
  std::string shard;
  int samples = 1;
  int jobs = 1;
  std::string gpus;
  int cpu_slots = 1;
  std::string out = ".kagent/batches";
  std::string resume;
  int max_minutes = 0;
  std::string fail_on = kDefaultFailOn;
  std::string junit;
  bool dry_run = false;
  JudgeOptions judge;
  int max_turns = 0;        // of each optimize job; 0: its own default
};

Result<void> read_shard(BatchOptions& options) {
  if (options.shard.empty()) return {};
  const auto parts = base::split(options.shard, '/');
  const auto number = [](const std::string& text) {
    return text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos ? 0 : std::stoi(text);
  };
  if (parts.size() == 2) {
    options.choice.shard = number(parts[0]);
    options.choice.shards = number(parts[1]);
  }
  if (parts.size() == 2 && options.choice.shard >= 1 && options.choice.shard <= options.choice.shards) return {};
  return Error{ErrorKind::usage, "--shard " + options.shard + ": write i/n with 1 <= i <= n, such as 1/4"};
}

Result<batch::BatchSettings> new_settings(const BatchOptions& options) {
  if (options.paths.empty()) return Error{ErrorKind::usage, "name task files or folders, or --resume a batch"};
  if ((options.candidates.empty() ? 0 : 1) + (options.model.empty() ? 0 : 1) + (options.baseline ? 1 : 0) != 1) {
    return Error{ErrorKind::usage, "say what to do with the tasks: one of --check CANDIDATES or --model PROVIDER/MODEL or --baseline"};
  }
  std::error_code code;
  if (!options.candidates.empty() && !fs::is_directory(options.candidates, code)) {
    return Error{ErrorKind::usage, options.candidates + ": no such folder of candidates"};
  }
  batch::BatchSettings settings;
  settings.arguments = options.judge.arguments();
  if (options.max_turns > 0) {
    if (options.model.empty()) return Error{ErrorKind::usage, "--max-turns is for --model"};
    settings.arguments.insert(settings.arguments.end(), {"--max-turns", std::to_string(options.max_turns)});
  }
  settings.backend = wire::word(options.judge.settings.backend);
  settings.model = options.model;
  settings.baseline = options.baseline;
  if (!options.candidates.empty()) settings.candidates = fs::absolute(options.candidates, code).string();
  settings.samples = options.samples;
  const std::vector<fs::path> paths(options.paths.begin(), options.paths.end());
  KAGENT_TRY(const auto tasks, batch::find_tasks(paths, options.choice));
  KAGENT_TRY(settings.jobs, batch::make_jobs(tasks, options.samples));
  return settings;
}

/// The journal first, then people.
class Teller : public batch::JobObserver {
 public:
  Teller(batch::Journal& journal, std::map<std::string, wire::Json>& results, std::size_t all, bool quiet)
      : journal_(journal), results_(results), all_(all), quiet_(quiet),
        table_(StatusLine::style_for(quiet) == StatusLine::Style::terminal) {
    for (const auto& [id, result] : results_) count_cost(result);
  }

  Result<void> started(const batch::Job& job) override {
    KAGENT_TRY_VOID(journal_.started(job));
    if (!quiet_ && !table_.is_live()) table_.say(job.id + " begins");   // the table shows it
    return {};
  }

  Result<void> ended(const batch::Job& job, const batch::JobEnd& end) override {
    const wire::Json result = batch::to_json(job, end);
    KAGENT_TRY_VOID(journal_.ended(result));
    results_[job.id] = result;
    count_cost(result);
    if (quiet_) return {};
    std::string line = fmt::format("[{}/{}] {} {}", results_.size(), all_, job.id, end.outcome);
    if (end.speedup_over_eager > 0) line += fmt::format(", eager {:.2f}x", end.speedup_over_eager);
    if (end.candidate_us <= 0 && end.eager_us > 0) line += ", eager " + report::duration(end.eager_us);
    if (end.candidate_us <= 0 && end.compiled_us > 0) line += ", torch.compile " + report::duration(end.compiled_us);
    if (end.speedup_over_compiled > 0) line += fmt::format(", torch.compile {:.2f}x", end.speedup_over_compiled);
    if (!end.correct && !end.message.empty()) {
      line += ": " + (end.at.empty() ? "" : end.at + ": ") + base::one_line(end.message, 160);
    }
    line += fmt::format(" ({:.1f} s", end.seconds);
    if (end.queue_seconds >= 1) line += fmt::format(", {:.1f} s in the queue", end.queue_seconds);
    table_.say(line + ")");
    return {};
  }

  bool watches() const override { return table_.is_live(); }
  void running(const std::vector<Running>& jobs) override {
    const auto [columns, lines] = terminal_size();
    table_.draw(batch_table(jobs, results_.size(), all_, cost_usd_, columns, lines - 1));
  }

 private:
  void count_cost(const wire::Json& result) {
    const auto parsed = batch::parse_result(result);
    if (!parsed) return;
    const wire::Json& cost = wire::member(wire::member(parsed->end.facts, "usage"), "cost_usd");
    if (cost.is_number()) cost_usd_ += cost.get<double>();
  }

  batch::Journal& journal_;
  std::map<std::string, wire::Json>& results_;
  std::size_t all_;
  bool quiet_;
  double cost_usd_ = 0;   // of the jobs that have ended
  LiveTable table_;
};

/// An end that was nobody's verdict is still to do when a batch is resumed.
bool is_final(const wire::Json& result) {
  const auto parsed = batch::parse_result(result);
  if (!parsed) return false;
  const auto kind = batch::kind_of(parsed->end);
  return kind != batch::EndKind::environment && kind != batch::EndKind::network;
}

Result<void> publish(const BatchOptions& options, const batch::BatchFolder& folder,
                     const std::vector<batch::JobResult>& results, const std::set<batch::EndKind>& fail_on) {
  const bool baseline = folder.settings().baseline;
  const auto rows = batch::summarise(results);
  const auto times = batch::baseline_table(batch::summarise_baselines(results));
  KAGENT_TRY_VOID(publish_to_ci(results, fail_on, options.junit,
                                "### kagent batch\n\n" + (baseline ? report::markdown_of(times) + "\n" : batch::summary_markdown(rows))));
  if (options.judge.json) {
    wire::Json json = wire::Json::array();
    if (baseline) {
      for (const auto& row : batch::summarise_baselines(results)) json.push_back(batch::to_json(row));
    } else {
      for (const auto& row : rows) json.push_back(batch::to_json(row));
    }
    fmt::print("{}\n", wire::dump({{"schema", "kagent.batch-summary/1"},
                                   {"outcome", results.size() == folder.settings().jobs.size() ? "success" : "unfinished"},
                                   {"folder", folder.path().string()},
                                   {"jobs", folder.settings().jobs.size()},
                                   {"ended", results.size()},
                                   {"rows", std::move(json)}}));
  } else {
    fmt::print("{}", baseline ? report::text_of(times) : batch::summary_text(rows));
    fmt::print("{} of {} jobs ended; results in {}\n", results.size(), folder.settings().jobs.size(), folder.path().string());
  }
  return {};
}

void print_dry_run(const batch::BatchSettings& settings) {
  for (const auto& job : settings.jobs) {
    std::string what = "optimize with " + settings.model;
    if (settings.baseline) {
      what = "baseline";
    } else if (settings.model.empty()) {
      const auto candidate = batch::find_candidate(settings.candidates, job.task, settings.backend);
      what = candidate.empty() ? "no candidate" : "check " + candidate.string();
    }
    fmt::print("{}: {}\n", job.id, what);
  }
  fmt::print("{} jobs\n", settings.jobs.size());
}

/// A resumed batch does what batch.json says: whatever would say otherwise is refused, not ignored.
Result<void> refuse_new_settings(const BatchOptions& options) {
  const BatchOptions usual;
  const bool asked = !options.paths.empty() || !options.model.empty() || !options.candidates.empty() || options.baseline ||
                     !options.choice.filter.empty() || !options.shard.empty() || options.samples != usual.samples ||
                     options.max_turns != usual.max_turns || options.out != usual.out || options.dry_run ||
                     options.judge.arguments() != usual.judge.arguments();
  if (!asked) return {};
  return Error{ErrorKind::usage, "--resume goes on with what the batch was begun with; beside it only --jobs, --gpus, --cpu-slots, "
                                 "--max-minutes, --fail-on, --junit, --json and --quiet can be given"};
}

Result<batch::BatchFolder> new_folder(const BatchOptions& options, const batch::BatchSettings& settings) {
  const std::string name = options.paths.size() == 1 ? fs::absolute(options.paths[0]).lexically_normal().stem().string() : "batch";
  return batch::BatchFolder::create(options.out, name.empty() ? "batch" : name, settings);
}

/// --gpus, else what CUDA_VISIBLE_DEVICES lists, else every GPU of the host; empty where there is but one to use.
std::vector<std::string> gpus_to_use(const std::string& asked) {
  const std::string visible = sys::variable("CUDA_VISIBLE_DEVICES");
  std::vector<std::string> gpus;
  for (const auto& gpu : base::split(asked.empty() ? visible : asked, ',')) {
    if (!base::trim(gpu).empty()) gpus.emplace_back(base::trim(gpu));
  }
  if (!gpus.empty()) return gpus;
  std::size_t cards = 0;
  for (const auto& node : sandbox::gpu_device_nodes()) {
    const std::string name = node.filename().string();
    const bool card = name.size() > 6 && name.rfind("nvidia", 0) == 0 && name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (card) gpus.push_back(std::to_string(cards++));
  }
  return gpus.size() > 1 ? gpus : std::vector<std::string>();
}

batch::ProcessSettings process_settings(const BatchOptions& options, const batch::BatchFolder& folder, const fs::path& root) {
  const auto& settings = folder.settings();
  batch::ProcessSettings processes{root / "bin/kagent", folder.path(), settings.arguments, settings.model,
                                   settings.candidates, settings.backend, {}, options.cpu_slots};
  if (settings.backend == "cuda") processes.gpus = gpus_to_use(options.gpus);
  return processes;
}

Result<int> run_batch(const BatchOptions& options, const batch::BatchFolder& folder, const std::set<batch::EndKind>& fail_on) {
  std::error_code code;
  std::map<std::string, wire::Json> results;
  const bool begun = fs::exists(folder.journal(), code);
  if (begun) {
    KAGENT_TRY(results, batch::read_journal(folder.journal()));
  }
  std::erase_if(results, [](const auto& entry) { return !is_final(entry.second); });
  KAGENT_TRY(auto journal, begun ? batch::Journal::resume(folder.journal()) : batch::Journal::create(folder.journal()));
  std::vector<batch::Job> to_do;
  for (const auto& job : folder.settings().jobs) {
    if (!results.contains(job.id)) to_do.push_back(job);
  }

  KAGENT_TRY(const fs::path root, sys::installation_root());
  const auto starter = batch::kagent_processes(process_settings(options, folder, root));
  batch::RunLimits limits;
  limits.slots = options.jobs;
  limits.stop = [] { return sys::stop_requested() != 0; };
  if (options.max_minutes > 0) limits.until = std::chrono::steady_clock::now() + std::chrono::minutes(options.max_minutes);
  Teller teller(journal, results, folder.settings().jobs.size(), options.judge.quiet);
  auto end = batch::run_jobs(to_do, limits, *starter, teller);
  // Whatever ended it: what is known is written.
  KAGENT_TRY(const auto ended, folder.write_results(results));
  KAGENT_TRY_VOID(publish(options, folder, ended, fail_on));
  std::fflush(stdout);
  if (!end) return std::move(end).error();
  if (*end == batch::BatchEnd::stopped) {
    return Error{ErrorKind::interrupted, "stopped; go on with: kagent batch --resume " + folder.path().string()};
  }
  if (*end == batch::BatchEnd::out_of_time) return kBudgetSpent;
  const bool failed = std::any_of(ended.begin(), ended.end(), [&](const batch::JobResult& result) {
    return fail_on.contains(batch::kind_of(result.end));
  });
  return failed ? kVerdictNegative : kSuccess;
}

Result<int> run(BatchOptions& options) {
  KAGENT_TRY(const auto fail_on, batch::parse_fail_on(options.fail_on));
  std::optional<batch::BatchFolder> folder;
  if (!options.resume.empty()) {
    KAGENT_TRY_VOID(refuse_new_settings(options));
    KAGENT_TRY(folder, batch::BatchFolder::open(options.resume));
  } else {
    KAGENT_TRY_VOID(read_shard(options));
    KAGENT_TRY(const auto settings, new_settings(options));
    if (options.dry_run) {
      print_dry_run(settings);
      return kSuccess;
    }
    KAGENT_TRY(folder, new_folder(options, settings));
  }
  if (!options.judge.quiet) fmt::print(stderr, "kagent: batch folder: {}\n", folder->path().string());
  return run_batch(options, *folder, fail_on);
}

}  // namespace

void add_batch(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<BatchOptions>();
  auto* command = app.add_subcommand("batch", "optimise or check many operators, and sum up");
  command->add_option("tasks", options->paths, "task files, or folders of them (levelN/<id>_<Title>.py)");
  command->add_option("--check", options->candidates, "judge the candidates in this folder; no model is asked");
  command->add_option("--model", options->model, "let this model optimise each task: provider/model");
  command->add_flag("--baseline", options->baseline, "time eager PyTorch and torch.compile of each task");
  options->judge.add_to(*command);
  command->add_option("--filter", options->choice.filter, "only tasks whose level/name.py this regular expression finds");
  command->add_option("--shard", options->shard, "i/n: every n-th task, beginning with the i-th");
  command->add_option("--samples", options->samples, "runs of each task; the best counts")->check(CLI::Range(1, 1000));
  command->add_option("--jobs", options->jobs, "tasks at once (default 1); timing stays one at a time on each device")
      ->check(CLI::Range(1, 256));
  command->add_option("--gpus", options->gpus, "CUDA_VISIBLE_DEVICES values to deal out to the jobs: 0,1 (default: all of the host)");
  command->add_option("--cpu-slots", options->cpu_slots, "jobs that may take times at once on the CPU backend (default 1)")
      ->check(CLI::Range(1, 256));
  command->add_option("--out", options->out, "where batch folders are made (default .kagent/batches)");
  command->add_option("--resume", options->resume, "go on with this batch folder");
  command->add_option("--max-minutes", options->max_minutes, "no job starts after this time")->check(CLI::Range(1, 1000000));
  command->add_option("--fail-on", options->fail_on,
                      std::string("ends that make the exit code 1 (default ") + kDefaultFailOn + "); also wrong, slower, inconclusive, network, budget, none");
  command->add_option("--junit", options->junit, "write the results as JUnit XML to this file");
  command->add_flag("--dry-run", options->dry_run, "only list what would be done");
  command->add_option("--max-turns", options->max_turns, "replies of the model, in each task")->check(CLI::Range(1, 100000));
  command->callback([options, &exit_code_out] {
    auto code = run(*options);
    exit_code_out = code ? *code : report_failure(code.error(), options->judge.json);
  });
}

}  // namespace kagent::cli
