// SPDX-License-Identifier: Apache-2.0
#include "judge_options.h"

#include <cstdlib>

#include "base/text.h"
#include "policy/operators.h"
#include "wire/json.h"

#include <unistd.h>

#include <fmt/format.h>

namespace kagent::cli {
namespace {

bool live_line = false;

bool on_terminal() {
  const char* ci = std::getenv("CI");
  return ::isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
}

/// The words of a flag and what they stand for, in the order in which they are shown.
template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

template <typename Value>
void add_word(CLI::App& command, const char* flag, Value& value, const Words<Value>& words, const char* usual,
              const char* description) {
  std::vector<std::string> known;
  for (const auto& [word, meaning] : words) known.push_back(word);
  const auto set = [&value, words](const std::string& given) {
    for (const auto& [word, meaning] : words) {
      if (word == given) value = meaning;
    }
  };
  command.add_option_function<std::string>(flag, set, description)
      ->check(CLI::IsMember(known))
      ->default_str(usual)
      ->option_text(base::join(known, "|"));
}

}  // namespace

void JudgeOptions::add_to(CLI::App& command) {
  const Words<Backend> backends{{"cuda", Backend::cuda}, {"cpu", Backend::cpu}};
  const Words<Mode> modes{{"eval", Mode::eval}, {"train", Mode::train}};
  const Words<Numerics> numerics{{"strict", Numerics::strict},
                                 {"tf32", Numerics::tf32},
                                 {"mixed", Numerics::mixed},
                                 {"torch", Numerics::torch}};
  const Words<Baselines> baselines{
      {"both", Baselines::both}, {"eager", Baselines::eager}, {"compile", Baselines::compile}};
  const Words<Compiler> compilers{
      {"auto", Compiler::automatic}, {"nvrtc", Compiler::nvrtc}, {"nvcc", Compiler::nvcc}};
  add_word(command, "--backend", settings.backend, backends, "cuda", "cuda (default), or cpu for C++ kernels");
  add_word(command, "--mode", settings.mode, modes, "eval", "eval (default) or train");
  add_word(command, "--numerics", settings.numerics, numerics, "strict",
           "precision of both sides: strict (default), tf32, mixed, torch");
  add_word(command, "--over", settings.over, baselines, "both", "baselines to beat: both (default), eager, compile");
  add_word(command, "--compiler", settings.compiler, compilers, "auto", "auto (default), nvrtc, nvcc");
  command.add_option("--min-gain", settings.min_gain, "part of the time to save (default 0.05)")
      ->check(CLI::Range(0.0, 0.99));
  command.add_option("--allow-ops", allow_ops,
                     "library operators in forward: gemm,conv (default), none, any, aten:: names");
  command.add_option("--rounds", settings.timing_rounds, "timing rounds (default 20)")
      ->check(CLI::Range(6, 200));
  command.add_option("--sandbox", sandbox, "auto (default): the best that holds here; bubblewrap, namespaces, landlock; none: no sandbox")
      ->check(CLI::IsMember({"auto", "bubblewrap", "namespaces", "landlock", "none"}));
  command.add_flag("--json", json, "one JSON object on stdout");
  command.add_flag("--quiet", quiet, "no progress on stderr");
}

std::vector<std::string> JudgeOptions::arguments() const {
  // All of them: what the other process finds in its environment and files must not count.
  std::vector<std::string> all;
  const auto add = [&](const char* flag, const std::string& value) { all.insert(all.end(), {flag, value}); };
  add("--backend", wire::word(settings.backend));
  add("--mode", wire::word(settings.mode));
  add("--numerics", wire::word(settings.numerics));
  add("--over", wire::word(settings.over));
  add("--compiler", settings.compiler == Compiler::automatic ? "auto" : wire::word(settings.compiler));
  add("--min-gain", fmt::format("{}", settings.min_gain));
  add("--rounds", std::to_string(settings.timing_rounds));
  add("--allow-ops", allow_ops);
  add("--sandbox", sandbox);
  return all;
}

Result<evaluator::SessionOptions> JudgeOptions::session(
    const std::filesystem::path& candidates) const {
  evaluator::SessionOptions options;
  options.settings = settings;
  options.settings.allow_ops.clear();
  for (const auto& part : base::split(allow_ops, ',')) {
    const std::string name(base::trim(part));
    if (!name.empty()) options.settings.allow_ops.push_back(name);
  }
  KAGENT_TRY_VOID(policy::check_allow_ops(options.settings.allow_ops));
  KAGENT_TRY(const auto holding, held_sandbox());
  options.tier = holding.tier;
  options.reuse_servers = holding.fresh_children || holding.tier == kagent::sandbox::Tier::none;
  options.candidates = candidates;
  options.cache = cache_directory(holding.tier);
  options.progress = progress_to_stderr(quiet);
  return options;
}

Result<sandbox::Holding> JudgeOptions::held_sandbox() const {
  if (sandbox == "auto") return kagent::sandbox::probe_best();
  KAGENT_TRY(const auto tier, kagent::sandbox::tier_of(sandbox));
  return kagent::sandbox::probe(tier);
}

std::filesystem::path cache_directory(sandbox::Tier tier) {
  // Without a root of its own the sandbox's user cannot pass through root's home.
  if (!sandbox::has_own_root(tier) && tier != sandbox::Tier::none && ::geteuid() == 0) return "/var/cache/kagent";
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return std::filesystem::path(xdg) / "kagent";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / ".cache/kagent";
  return std::filesystem::temp_directory_path() / fmt::format("kagent-cache-{}", ::geteuid());
}

Progress progress_to_stderr(bool quiet) {
  if (quiet) return {};
  if (on_terminal()) {
    return [](const std::string& phase) {
      live_line = true;
      fmt::print(stderr, "\r\x1b[K{}", base::one_line(phase, 100));
      std::fflush(stderr);
    };
  }
  return [last = std::string()](const std::string& phase) mutable {
    // "time round 7/20" twenty times over says nothing in a log.
    std::string kind = phase.substr(0, phase.find_first_of("0123456789"));
    if (kind == last) return;
    last = kind;
    fmt::print(stderr, "kagent: {}\n", base::one_line(phase, 100));
  };
}

void end_progress() {
  if (!live_line) return;
  live_line = false;
  fmt::print(stderr, "\r\x1b[K");
}

}  // namespace kagent::cli
