// SPDX-License-Identifier: Apache-2.0
// kagent optimize TASK: a model edits kernels until the judge says that they are fast enough.
#include "agent/optimize.h"
#include "base/hash.h"
#include "base/text.h"
#include "commands.h"
#include "exchange/transcript.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "llm/open_model.h"
#include "optimize_output.h"
#include "skill_folders.h"
#include "skills/skill.h"
#include "status_line.h"
#include "sys/stop.h"
#include "tasks/load.h"
#include "toolbox/sandboxed_shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>

namespace kagent::cli {
namespace {

struct OptimizeOptions {
  JudgeOptions judge;
  std::string task;
  llm::ModelChoice model;
  std::string out = ".kagent/runs";
  std::string resume;
  int max_turns = 200;
  std::int64_t max_tokens = 0;  // 0: no limit
  int max_minutes = 0;          // 0: no limit
  std::string context = "128k";
  double budget_usd = 0;    // 0: no limit
  int max_gpu_seconds = 0;  // 0: no limit
  bool keep_going = false;
  bool no_user_skills = false;
};

/// What the figures of this run do not say; the first and the last line of the output.
std::vector<std::string> warnings(const OptimizeOptions& options) {
  std::vector<std::string> all;
  if (options.model.is_replay()) {
    all.push_back("model " + options.model.name +
                  ": a recorded conversation answers, no model is asked");
  }
  if (options.judge.settings.backend == Backend::cpu) {
    all.push_back("CPU backend: its figures say nothing about a GPU");
  }
  return all;
}

/// Facts for people: on stdout beside the table, or out of the way of a JSON object.
void say(const OptimizeOptions& options, const std::string& line) {
  if (!options.judge.json) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  } else if (!options.judge.quiet) {
    fmt::print(stderr, "{}\n", line);
  }
}

Result<store::RunFolder> open_folder(const OptimizeOptions& options, const Task& task) {
  if (options.resume.empty()) {
    return store::RunFolder::create(options.out, task.name, std::chrono::system_clock::now());
  }
  KAGENT_TRY(auto folder, store::RunFolder::open(options.resume));
  KAGENT_TRY_VOID(folder.check_task(task.hash));
  return folder;
}

wire::Json sampling_facts(const llm::Sampling& sampling) {
  wire::Json facts = wire::Json::object();
  if (sampling.temperature) facts["temperature"] = *sampling.temperature;
  if (sampling.top_p) facts["top_p"] = *sampling.top_p;
  if (!sampling.effort.empty()) facts["effort"] = sampling.effort;
  if (sampling.max_reply_tokens) facts["max_reply_tokens"] = *sampling.max_reply_tokens;
  if (!sampling.extra.empty()) facts["extra"] = sampling.extra;
  return facts;
}

/// Hashes of the users' texts that the model may read, by their paths below skills/.
wire::Json user_skill_facts(const agent::OptimizeRequest& request) {
  wire::Json facts = wire::Json::object();
  constexpr std::string_view kFolder = "skills/";
  for (const auto& [path, text] : request.notes) {
    const std::string below = path.substr(kFolder.size());
    if (below.find('/') != std::string::npos) facts[below] = base::sha256_hex(text);
  }
  return facts;
}

wire::Json run_facts(const OptimizeOptions& options, const agent::OptimizeRequest& request,
                     const evaluator::Session* session) {
  wire::Json facts{{"kagent", KAGENT_VERSION},
                   {"task",
                    {{"name", request.task.name},
                     {"path", request.task.path.string()},
                     {"hash", request.task.hash}}},
                   {"model", options.model.name},
                   {"protocol", options.model.single ? "single" : "agent"},
                   {"sampling", sampling_facts(options.model.sampling)},
                   {"settings", wire::to_json(request.judge)},
                   {"max_turns", options.max_turns},
                   {"max_tokens", options.max_tokens},
                   {"max_minutes", options.max_minutes},
                   {"budget_usd", options.budget_usd},
                   {"max_gpu_seconds", options.max_gpu_seconds},
                   {"keep_going", options.keep_going},
                   {"sandbox", options.judge.sandbox},
                   {"user_skills", user_skill_facts(request)},
                   {"warnings", request.warnings}};
  if (session == nullptr) return facts;
  facts["sandbox"] = sandbox::word(session->options().tier);
  facts["device"] = wire::to_json(session->facts().device);
  facts["versions"] = session->facts().versions;
  facts["numerics"] = session->facts().numerics;
  return facts;
}

/// "128k", "200000".
Result<std::int64_t> parse_tokens(const std::string& text) {
  std::int64_t tokens = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, tokens);
  const bool thousands = parsed.ptr + 1 == end && *parsed.ptr == 'k';
  if (thousands && tokens < 1'000'000) tokens *= 1000;
  if (parsed.ec != std::errc() || !(thousands || parsed.ptr == end) || tokens < 8000 ||
      tokens > 100'000'000) {
    return Error{ErrorKind::usage, "--context " + base::one_line(text, 40) +
                                       ": expected tokens, at least 8k; for example 128k"};
  }
  return tokens;
}

Result<agent::OptimizeRequest> make_request(const OptimizeOptions& options, const Task& task,
                                            const JudgeSettings& settings) {
  agent::OptimizeRequest request;
  request.task = task;
  request.judge = settings;
  request.sampling = sampling_facts(options.model.sampling);
  request.loop.max_turns = options.max_turns;
  KAGENT_TRY(request.loop.context_tokens, parse_tokens(options.context));
  if (options.max_tokens > 0) request.loop.max_tokens = options.max_tokens;
  if (options.max_minutes > 0) {
    request.loop.max_wall_clock = std::chrono::minutes(options.max_minutes);
  }
  if (options.budget_usd > 0) request.loop.max_usd = options.budget_usd;
  if (options.max_gpu_seconds > 0) request.loop.max_gpu_seconds = options.max_gpu_seconds;
  request.loop.after_success =
      options.keep_going ? agent::AfterSuccess::keep_going : agent::AfterSuccess::stop;
  request.warnings = warnings(options);
  return request;
}

/// What the model may read, users' skills included; one line of notice for each that does not fit.
Result<void> take_skills(const OptimizeOptions& options, const llm::OnNotice& notice, agent::OptimizeRequest& request) {
  KAGENT_TRY(const auto installation, evaluator::Installation::find());
  const auto folder = installation.share / "skills";
  for (const char* page : {"candidates.md", "operators.md"}) {
    KAGENT_TRY(request.notes[std::string("skills/") + page], sys::read_file(folder / page, 1u << 20));
  }
  const auto users = options.no_user_skills ? std::vector<std::filesystem::path>{} : skill_folders();
  KAGENT_TRY(const auto set, skills::find_skills(folder, request.judge.backend, users));
  for (const std::string& line : set.notices) notice(line);
  request.skill = skills::guide_with_index(set);
  for (const skills::Skill& skill : set.skills) {
    for (const auto& [path, text] : skill.files) request.notes["skills/" + path] = text;
  }
  return {};
}

int code_of(const agent::OptimizeEnd& end) {
  const std::string& outcome = end.result.outcome;
  if (outcome == "interrupted") return exit_code(Error{ErrorKind::interrupted, ""});
  if (end.error) return exit_code(*end.error);
  if (outcome == "success") return kSuccess;
  if (outcome == "budget_spent") return kBudgetSpent;
  if (outcome == "noisy") return kNoisy;
  if (outcome == "refusal") return kNetwork;
  return kVerdictNegative;
}

/// transcript.md beside the trajectory: a convenience, so that trouble with it is only told.
void write_transcript(const store::RunFolder& folder, StatusLine& line) {
  const auto facts = exchange::read_facts(folder);
  const auto trajectory = store::read_trajectory(folder.trajectory());
  if (!facts || !trajectory) return;
  const auto written = sys::write_file_atomically(folder.path() / "transcript.md",
                                                  exchange::transcript(*trajectory, *facts));
  if (!written) line.say("transcript: " + written.error().message);
}

/// What the run may come to, where a price is known.
std::string cost_of_all(const OptimizeOptions& options, const llm::OpenModel& model) {
  if (!model.priced) return "";
  std::string text = fmt::format(", all {} turns about ${:.2f}", options.max_turns,
                                 options.max_turns * model.typical_turn_usd);
  if (options.budget_usd > 0) text += fmt::format("; it ends at ${:.2f}", options.budget_usd);
  return text;
}

std::string replay_line(const llm::ReplayClient* replay) {
  if (replay == nullptr) return "";
  return fmt::format("recording:       {} of {} replies used; {}", replay->used(), replay->replies(),
                     replay->differences() == 0
                         ? "every result compared came out as recorded"
                         : fmt::format("{} results differ from it", replay->differences()));
}

NextSteps next_steps(const OptimizeOptions& options, const evaluator::Installation& installation,
                     const JudgeSettings& settings, const llm::OpenModel& model) {
  return {options.task,
          options.model.name,
          installation.libexec / "python",
          settings,
          options.judge.arguments(),
          options.model.base_url,
          replay_line(model.replay)};
}

Result<agent::OptimizeEnd> run(const OptimizeOptions& options, agent::OptimizeRequest& request,
                               evaluator::SessionOptions session_options, llm::OpenModel& model,
                               const store::RunFolder& folder, StatusLine& line) {
  session_options.candidates = folder.candidates();
  session_options.artifacts = evaluator::Artifacts::keep;
  toolbox::SandboxedShell shell(folder.workspace(), agent::read_only_paths(), session_options.tier);
  KAGENT_TRY(auto session, evaluator::Session::open(request.task, std::move(session_options)));
  KAGENT_TRY_VOID(folder.write_run(run_facts(options, request, session.get())));
  request.device = session->facts().device;
  request.skill = skills::fill_in(std::move(request.skill), request.device);
  for (auto& [path, text] : request.notes) text = skills::fill_in(std::move(text), request.device);
  KAGENT_TRY(auto end, agent::optimize(
                           request,
                           {*model.chat, *session, shell, [] { return sys::stop_requested() != 0; },
                            [&line](const std::string& step) { line.say(step); },
                            [&line](const agent::RunStatus& status, const std::string& next) {
                              line.stands(status, next);
                            }},
                           folder));
  if (model.replay != nullptr) model.replay->compare(end.last_results);
  return end;
}

Result<int> optimize(OptimizeOptions& options) {
  KAGENT_TRY(const Task task, tasks::load(options.task));
  KAGENT_TRY(const auto installation, evaluator::Installation::find());
  StatusLine line(StatusLine::style_for(options.judge.quiet));
  // What a model's client has to say is never left out, --quiet or not.
  const auto notice = [&](const std::string& text) {
    options.judge.quiet ? fmt::print(stderr, "kagent: {}\n", text) : line.say(text);
  };
  KAGENT_TRY(auto model, llm::open_model(options.model, installation.share, notice));
  if (options.budget_usd > 0 && !model.priced && model.replay == nullptr) {
    return Error{ErrorKind::usage, "--budget-usd: no price is known for " + options.model.name +
                                       "; add a row to prices.json (docs/agent.md)"};
  }
  KAGENT_TRY(auto session_options, options.judge.session({}));
  const JudgeSettings settings = session_options.settings;
  KAGENT_TRY(auto request, make_request(options, task, settings));
  KAGENT_TRY_VOID(take_skills(options, notice, request));
  KAGENT_TRY(const auto folder, open_folder(options, task));
  // Before anyone hears of the folder: from then on --resume must find a run there.
  KAGENT_TRY_VOID(folder.write_run(run_facts(options, request, nullptr)));
  if (!request.warnings.empty()) say(options, base::join(request.warnings, ". "));
  say(options, "run folder: " + folder.path().string());
  if (!model.price_note.empty()) say(options, model.price_note + cost_of_all(options, model));
  session_options.progress = [&line](const std::string& phase) { line.phase(phase); };
  auto end = run(options, request, std::move(session_options), model, folder, line);
  write_transcript(folder, line);
  line.end();
  if (!end) {
    std::error_code code;
    if (!std::filesystem::exists(folder.result_file(), code)) {
      // What the caller is told is why it could not run; that the record failed too adds nothing.
      (void)agent::record_failure(request, options.model.name, folder, end.error());
    }
    return std::move(end).error();
  }
  if (end->error) print_error(*end->error);
  fmt::print("{}", options.judge.json
                       ? wire::dump(store::to_json(end->result)) + "\n"
                       : closing_lines(end->result, next_steps(options, installation, settings, model)));
  std::fflush(stdout);
  return code_of(*end);
}

void add_model_options(CLI::App& command, llm::ModelChoice& model) {
  command.add_option("--model", model.name,
                     "PROVIDER/MODEL, or replay/FILE: a recorded conversation (else KAGENT_MODEL)");
  command.add_option("--base-url", model.base_url,
                     "where the provider's API is (else KAGENT_BASE_URL)");
  command.add_option("--model-timeouts", model.timeouts,
                     "seconds: connect=10,first=600,idle=300,total=1800");
  command
      .add_option("--model-retries", model.retries,
                  "how often a failed request is repeated (default 8)")
      ->check(CLI::Range(0, 100));
  command
      .add_option_function<std::string>(
          "--protocol", [&model](const std::string& word) { model.single = word == "single"; },
          "agent: tools (default); single: no tools, one candidate a reply in fenced blocks")
      ->check(CLI::IsMember({"agent", "single"}))
      ->default_str("agent")
      ->option_text("agent|single");
  command.add_option("--temperature", model.sampling.temperature, "sent only when given")
      ->check(CLI::Range(0.0, 2.0));
  command.add_option("--top-p", model.sampling.top_p, "sent only when given")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--effort", model.sampling.effort,
                     "of reasoning, sent only when given: low, medium, high, …");
  command.add_option("--extra-body", model.sampling.extra,
                     "further members of each request, as a JSON object; for example '{\"logprobs\": true}'");
  command.add_option("--max-reply-tokens", model.sampling.max_reply_tokens, "longest reply")
      ->check(CLI::Range(1, 1'000'000));
}

}  // namespace

void add_optimize(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<OptimizeOptions>();
  auto* command =
      app.add_subcommand("optimize", "let a model write faster kernels for an operator");
  command->add_option("task", options->task, "the operator: a KernelBench-format file")->required();
  add_model_options(*command, options->model);
  command->add_option("--out", options->out, "where run folders are made (default .kagent/runs)");
  command->add_option("--resume", options->resume, "go on with this run folder");
  command->add_option("--max-turns", options->max_turns, "replies of the model (default 200)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--max-tokens", options->max_tokens, "tokens in and out, over all turns")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-minutes", options->max_minutes, "wall clock of the run")
      ->check(CLI::Range(1, 100000));
  command->add_option("--context", options->context, "tokens that fit the model (default 128k)");
  command->add_option("--budget-usd", options->budget_usd, "what the model may cost")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--max-gpu-seconds", options->max_gpu_seconds, "time of trials and measurements")
      ->check(CLI::Range(1, 10000000));
  command->add_flag("--keep-going", options->keep_going, "do not stop at success");
  command->add_flag("--no-user-skills", options->no_user_skills, "only kagent's own notes (see: kagent skills)");
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    auto code = optimize(*options);
    exit_code_out = code ? *code : report_failure(code.error(), options->judge.json);
  });
}

}  // namespace kagent::cli
