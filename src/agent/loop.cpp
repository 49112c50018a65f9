// SPDX-License-Identifier: Apache-2.0
#include "agent/loop.h"

#include "agent/step_text.h"
#include "base/text.h"
#include "toolbox/arguments.h"
#include "toolbox/feedback.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kagent::agent {
namespace {

using toolbox::failed;

constexpr int kMaxBadTurns = 3;
constexpr int kMaxSilentTurns = 2;
constexpr int kMaxJudgeFailures = 3;
constexpr int kPlateauAt = 15;    // candidates without a gain of 2 %: the model is told
constexpr int kPlateauEnds = 45;  // the run ends
constexpr std::size_t kMaxCallsInATurn = 32;

std::vector<ToolSpec> specs(const std::vector<Tool*>& tools) {
  std::vector<ToolSpec> all;
  for (const Tool* tool : tools) all.push_back(tool->spec());
  return all;
}

/// What every request holds besides the conversation.
std::size_t fixed_bytes(const ChatRequest& request) {
  std::size_t bytes = request.system.size();
  for (const ToolSpec& tool : request.tools) {
    bytes += tool.name.size() + tool.description.size() + tool.schema.size();
  }
  return bytes;
}

ToolOutcome malformed(std::string text) {
  ToolOutcome outcome = failed(std::move(text));
  outcome.malformed = true;
  return outcome;
}

/// Whether a call that a kill cut off can be made again as if nothing had been.
bool safe_twice(const std::string& tool) { return tool != "bash" && tool != "edit_file"; }

}  // namespace

Loop::Loop(LoopParts parts, LoopSettings settings, std::string system, const std::string& opening)
    : parts_(std::move(parts)),
      settings_(settings),
      request_{std::move(system), {}, specs(parts_.tools), 1},
      context_(opening, fixed_bytes(request_), settings_.context_tokens) {}

void Loop::take_over(const std::vector<Turn>& earlier, const ContextEdit& edit,
                     std::optional<Turn> cut_off) {
  cut_off_ = std::move(cut_off);
  context_.take_over(earlier, edit);
  judged_ = parts_.book.count();
  for (const Turn& turn : earlier) {
    count(turn);
    turns_ = turn.number;
    earlier_seconds_ += turn.seconds;
    silent_turns_ = turn.reply.calls.empty() ? silent_turns_ + 1 : 0;
    for (std::size_t i = 0; i < turn.results.size() && i < turn.reply.calls.size(); ++i) {
      if (turn.reply.calls[i].tool == "evaluate") continue;
      stuck_.observe(turn.reply.calls[i], turn.results[i].text);
    }
  }
}

LoopEnd Loop::run() {
  started_ = parts_.now();
  Stop stop;
  if (cut_off_) {
    turns_ = cut_off_->number;
    stop = finish_turn(*cut_off_, started_);
    cut_off_.reset();
  }
  while (!stop) {
    stop = interrupted();
    if (!stop) stop = success();
    if (!stop) stop = budget_spent();
    if (!stop) stop = play_turn();
  }
  LoopEnd end{stop->first,
              stop->second,
              std::move(error_),
              turns_,
              usage_,
              charged_seconds(),
              std::move(last_results_)};
  if (auto written = parts_.journal.append(end.reason, end.explanation); !written && !end.error) {
    end.error = std::move(written).error();
  }
  return end;
}

LoopEnd Loop::ended(StopReason reason, const std::string& explanation) {
  return {reason, explanation, {}, turns_, usage_, earlier_seconds_, std::move(last_results_)};
}

Loop::Stop Loop::interrupted() const {
  if (!parts_.stop_requested()) return {};
  return std::pair{StopReason::interrupted, std::string("stopped by a signal")};
}

Loop::Stop Loop::success() const {
  if (!parts_.book.target_reached() || settings_.after_success == AfterSuccess::keep_going)
    return {};
  return std::pair{StopReason::target_reached, std::string("the target is reached")};
}

Loop::Stop Loop::budget_spent() const {
  if (turns_ >= settings_.max_turns) {
    return std::pair{StopReason::turns, fmt::format("{} turns are spent", turns_)};
  }
  const std::int64_t tokens = usage_.input_tokens + usage_.output_tokens;
  if (settings_.max_tokens && tokens >= *settings_.max_tokens) {
    return std::pair{StopReason::tokens, fmt::format("{} tokens are spent", tokens)};
  }
  if (settings_.max_usd && usage_.cost_usd >= *settings_.max_usd) {
    return std::pair{StopReason::money, fmt::format("${:.2f} are spent", usage_.cost_usd)};
  }
  if (settings_.max_gpu_seconds && parts_.book.device_seconds() >= *settings_.max_gpu_seconds) {
    return std::pair{StopReason::gpu_seconds,
                     fmt::format("{:.0f} s of the device are spent", parts_.book.device_seconds())};
  }
  const double seconds = charged_seconds();
  if (settings_.max_wall_clock &&
      seconds >= static_cast<double>(settings_.max_wall_clock->count())) {
    return std::pair{StopReason::wall_clock, fmt::format("{:.0f} s are spent", seconds)};
  }
  return {};
}

Loop::Stop Loop::could_not(const Error& error, StopReason otherwise) {
  if (error.kind == ErrorKind::interrupted || parts_.stop_requested()) {
    return std::pair{StopReason::interrupted, std::string("stopped by a signal")};
  }
  error_ = error;
  return std::pair{otherwise, base::one_line(error.message)};
}

Loop::Stop Loop::play_turn() {
  const auto start = parts_.now();
  const auto record = [this] { return parts_.book.record(); };
  if (Stop stop = settle_context(context_.fit(record))) return stop;
  auto reply = ask();
  if (reply && reply->end == ReplyEnd::context_exceeded) {
    if (Stop stop = settle_context(context_.shrink(record))) return stop;
    reply = ask();
  }
  if (!reply) {
    return could_not(reply.error(), reply.error().kind == ErrorKind::network
                                        ? StopReason::network
                                        : StopReason::environment);
  }
  if (reply->end == ReplyEnd::replay_ended) {
    return std::pair{StopReason::replay_ended, std::string("the recorded conversation has ended")};
  }
  if (reply->end == ReplyEnd::context_exceeded) {
    return std::pair{StopReason::context_exhausted,
                     std::string("the conversation does not fit the model's context any more")};
  }
  Turn turn;
  turn.number = ++turns_;
  turn.reply = *std::move(reply);
  for (std::size_t i = 0; i < turn.reply.calls.size(); ++i) {
    std::string& id = turn.reply.calls[i].id;
    if (id.empty()) id = fmt::format("call_{}_{}", turn.number, i + 1);
  }
  if (auto begun = parts_.journal.begin(turn.number, turn.reply); !begun) {
    return could_not(begun.error(), StopReason::environment);
  }
  return finish_turn(std::move(turn), start);
}

Loop::Stop Loop::finish_turn(Turn turn, std::chrono::steady_clock::time_point start) {
  parts_.book.begin_turn(turn.number);
  Stop stop;
  if (turn.reply.end == ReplyEnd::refusal) {
    stop = std::pair{StopReason::refusal, "the model refused: " + first_line(turn.reply.text)};
  } else {
    stop = turn.reply.calls.empty() ? no_calls(turn) : run_calls(turn);
  }
  turn.seconds = seconds_since(start);
  count(turn);
  context_.add(turn);
  if (auto written = parts_.journal.append(turn); !written) {
    return could_not(written.error(), StopReason::environment);
  }
  return stop;
}

RunStatus Loop::status() const {
  RunStatus status;
  status.turns = turns_;
  status.max_turns = settings_.max_turns;
  status.tokens = usage_.input_tokens + usage_.output_tokens;
  status.max_tokens = settings_.max_tokens;
  status.usd = usage_.cost_usd;
  status.max_usd = settings_.max_usd;
  status.seconds = charged_seconds();
  if (settings_.max_wall_clock) {
    status.max_seconds = static_cast<double>(settings_.max_wall_clock->count());
  }
  status.device_seconds = parts_.book.device_seconds();
  status.max_device_seconds = settings_.max_gpu_seconds;
  status.candidates = parts_.book.count();
  status.best = parts_.book.best_figures();
  return status;
}

Result<Reply> Loop::ask() {
  if (parts_.on_status) {
    RunStatus now = status();
    now.between_turns = true;
    parts_.on_status(now, "ask the model");
  }
  request_.messages = context_.messages();
  request_.turn = turns_ + 1;
  auto reply = parts_.chat.complete(request_);
  request_.messages.clear();
  if (reply) context_.learn(reply->usage.input_tokens);
  return reply;
}

Loop::Stop Loop::settle_context(Fit fit) {
  if (fit == Fit::fits) return {};
  if (fit == Fit::exhausted) {
    return std::pair{
        StopReason::context_exhausted,
        std::string("what must be told does not fit the model's context; see --context")};
  }
  if (auto written = parts_.journal.append(context_.edit()); !written) {
    return could_not(written.error(), StopReason::environment);
  }
  tell(context_.edit().record.empty() ? "left old outputs out of the conversation"
                                      : "put a record in place of the older turns");
  return {};
}

Loop::Stop Loop::run_calls(Turn& turn) {
  silent_turns_ = 0;
  Stop stop;
  if (cut_off_) stop = success();
  bool some_well_formed = !turn.results.empty();
  bool doubtful = cut_off_.has_value();
  for (std::size_t i = turn.results.size(); i < turn.reply.calls.size(); ++i) {
    const ToolCall& call = turn.reply.calls[i];
    ToolOutcome outcome;
    if (!stop) stop = interrupted();
    if (stop) {
      // Every call gets a result: a provider refuses a history with an unanswered one.
      outcome = failed("not run: " + stop->second);
    } else if (turn.results.size() >= kMaxCallsInATurn) {
      outcome = failed("not run: more than 32 calls in one turn");
    } else if (std::exchange(doubtful, false) && !safe_twice(call.tool)) {
      outcome = failed("the run was cut off here: whether this was done is not known; look");
      some_well_formed = true;
    } else {
      if (parts_.on_status) parts_.on_status(status(), base::one_line(call.tool, 40));
      outcome = run_call(call, turn.reply.end);
      some_well_formed = some_well_formed || !outcome.malformed;
      tell(fmt::format("turn {}/{}: {}", turn.number, settings_.max_turns,
                       step_text(call, outcome)));
      stop = after_call(call, outcome);
    }
    turn.results.push_back({call.id, std::move(outcome.text), outcome.is_error});
    if (auto written = parts_.journal.append(turn.number, turn.results.back()); !written && !stop) {
      stop = could_not(written.error(), StopReason::environment);
    }
  }
  turn.results.back().text += "\n" + status_line(turn.number);
  bad_turns_ = some_well_formed ? 0 : bad_turns_ + 1;
  if (!stop && bad_turns_ >= kMaxBadTurns) {
    stop = std::pair{StopReason::bad_calls,
                     fmt::format("{} turns in a row without one well-formed call", bad_turns_)};
  }
  return stop;
}

ToolOutcome Loop::run_call(const ToolCall& call, ReplyEnd end) {
  const auto tool = std::find_if(parts_.tools.begin(), parts_.tools.end(),
                                 [&](const Tool* t) { return t->spec().name == call.tool; });
  if (tool == parts_.tools.end()) {
    std::vector<std::string> names;
    for (const ToolSpec& spec : request_.tools) names.push_back(spec.name);
    return malformed("there is no tool \"" + base::one_line(call.tool, 60) + "\"; there are " +
                     base::join(names, ", "));
  }
  ToolOutcome outcome = (*tool)->run(call.arguments);
  if (outcome.malformed && end == ReplyEnd::length) {
    outcome.text =
        "your reply was cut off at its length limit; write less at once. " + outcome.text;
  }
  return outcome;
}

Loop::Stop Loop::after_call(const ToolCall& call, ToolOutcome& outcome) {
  if (outcome.finish)
    return std::pair{StopReason::finished, std::string("the model says it is done")};
  std::string seen = outcome.text;
  if (call.tool == "evaluate") {
    if (Stop stop = judge_failed()) return stop;
    if (Stop stop = success()) return stop;
    if (Stop stop = plateau(outcome)) return stop;
    // Another candidate is another attempt, however alike the two outcomes read.
    if (std::exchange(judged_, parts_.book.count()) != parts_.book.count()) {
      seen += " of candidate " + std::to_string(judged_);
    }
  }
  switch (stuck_.observe(call, seen)) {
    case Repetition::none:
      return {};
    case Repetition::nudge:
      outcome.text +=
          "\n[You have made this call three times with the same outcome. Do something "
          "different.]";
      return {};
    case Repetition::stuck:
      return std::pair{StopReason::stuck, "the same call of " + base::one_line(call.tool, 40) +
                                              " had the same outcome six times"};
  }
  return {};
}

Loop::Stop Loop::plateau(ToolOutcome& outcome) {
  const int tried = parts_.book.since_gain();
  if (judged_ == parts_.book.count() || !parts_.book.best() || tried < kPlateauAt) return {};
  if (tried >= kPlateauEnds) {
    return std::pair{StopReason::plateau,
                     fmt::format("{} candidates in a row gained less than 2 %", tried)};
  }
  if (tried % kPlateauAt == 0) {
    const auto best = *parts_.book.best_figures();
    outcome.text += fmt::format(
        "\n[{} candidates in a row gained less than 2 % on candidate #{} ({}). More of the same "
        "will "
        "not do. Say in a few sentences what bounds the best one and how it differs from the ones "
        "that were slower; then write one with another algorithm or another data flow.]",
        tried, best.number, toolbox::figures(best));
  }
  return {};
}

Loop::Stop Loop::judge_failed() {
  const auto& failure = parts_.book.failure();
  if (!failure) return {};
  // A worker that died may be there again next time; a missing GPU will not.
  const bool may_pass = failure->kind == ErrorKind::internal;
  if (may_pass && parts_.book.failures_in_a_row() < kMaxJudgeFailures) return interrupted();
  return could_not(*failure, StopReason::environment);
}

Loop::Stop Loop::no_calls(Turn& turn) {
  tell(fmt::format("turn {}/{}: no call: {}", turn.number, settings_.max_turns,
                   first_line(turn.reply.text)));
  if (++silent_turns_ > kMaxSilentTurns) {
    return std::pair{StopReason::finished,
                     fmt::format("{} turns in a row without a call", silent_turns_)};
  }
  turn.nudge =
      turn.reply.end == ReplyEnd::length
          ? "Your reply was cut off at its length limit. Write less at once, and call a tool.\n"
          : "The target is not reached yet. Go on with a tool call; call finish when you are "
            "done.\n";
  turn.nudge += status_line(turn.number);
  return {};
}

std::string Loop::status_line(int turn) const {
  std::string line = fmt::format("[turn {}/{}", turn, settings_.max_turns);
  if (const auto best = parts_.book.best_figures()) {
    line += fmt::format(" · best: candidate #{}, {}", best->number, toolbox::figures(*best));
  } else {
    line += " · no correct candidate yet";
  }
  line += fmt::format(" · {} evaluated", parts_.book.count());
  if (settings_.max_usd)
    line += fmt::format(" · ${:.2f} of ${:.2f}", usage_.cost_usd, *settings_.max_usd);
  if (settings_.max_wall_clock) {
    const double left = static_cast<double>(settings_.max_wall_clock->count()) - charged_seconds();
    line += fmt::format(" · {:.0f} min left", std::max(0.0, left / 60));
  }
  return line + "]";
}

void Loop::count(const Turn& turn) {
  usage_.input_tokens += turn.reply.usage.input_tokens;
  usage_.cached_tokens += turn.reply.usage.cached_tokens;
  usage_.output_tokens += turn.reply.usage.output_tokens;
  usage_.cache_written_tokens += turn.reply.usage.cache_written_tokens;
  usage_.cost_usd += turn.reply.usage.cost_usd;
  last_results_ = turn.results;
}

double Loop::seconds_since(std::chrono::steady_clock::time_point start) const {
  return std::chrono::duration<double>(parts_.now() - start).count();
}

double Loop::charged_seconds() const {
  return std::max(0.0, seconds_since(started_) + earlier_seconds_ - parts_.book.queue_seconds());
}

void Loop::tell(const std::string& step) const {
  if (parts_.on_step) parts_.on_step(step);
}

}  // namespace kagent::agent
