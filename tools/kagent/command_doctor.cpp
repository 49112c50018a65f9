// SPDX-License-Identifier: Apache-2.0
// kagent doctor: what this machine can do, and how to mend what it can't.
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/text.h"
#include "commands.h"
#include "evaluator/programs.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "sys/lock_file.h"
#include "wire/json.h"

#include <unistd.h>

#include <fmt/format.h>

namespace kagent::cli {
namespace {

enum class State { ok, missing, note };

struct Finding {
  std::string topic;
  State state = State::ok;
  std::string text;   // what there is, or what is wrong
  std::string mend;   // how to get it; empty where nothing is to be done
};

const char* word(State state) {
  return state == State::ok ? "ok" : state == State::missing ? "missing" : "note";
}

std::string first_line(const std::filesystem::path& path) {
  auto text = sys::read_file(path, 1 << 16);
  return text ? base::one_line(text->substr(0, text->find('\n'))) : std::string();
}

/// What a tier holds back, in a line.
std::string held_back(const sandbox::Holding& holding) {
  std::string text;
  switch (holding.tier) {
    case sandbox::Tier::bubblewrap:
    case sandbox::Tier::namespaces:
      text = fmt::format("own files, processes, network and users; uid {}, no capabilities, filtered system calls; {}",
                         ::geteuid() == 0 ? sys::kSandboxUser : ::geteuid(),
                         holding.fresh_children ? "fresh namespaces for each candidate"
                                                : "servers are started anew for each candidate");
      break;
    case sandbox::Tier::landlock:
      text = fmt::format("named files only (Landlock {}), no sockets, filtered system calls; shares the host's process "
                         "list; servers are started anew for each candidate",
                         holding.landlock_version);
      break;
    case sandbox::Tier::none:
      return "nothing is held back";
  }
  return text + (holding.control_group ? "; memory and processes limited for the whole tree"
                                       : "; memory limited for each process (no control group)");
}

std::string how_to_get(sandbox::Tier tier) {
  if (tier == sandbox::Tier::bubblewrap) return "apt-get install bubblewrap; in a container see docs/containers.md";
  return "run as root, or where namespaces are allowed: docs/containers.md";
}

/// One finding for the tier that will be used, and one for each better one that does not hold.
std::vector<Finding> examine_sandbox(std::optional<sandbox::Holding>& best) {
  std::vector<Finding> findings;
  std::vector<Finding> better;
  for (const auto tier : {sandbox::Tier::bubblewrap, sandbox::Tier::namespaces, sandbox::Tier::landlock}) {
    auto holding = sandbox::probe(tier);
    if (holding) {
      findings.push_back({"sandbox", State::ok, fmt::format("{}: {}", sandbox::word(tier), held_back(*holding)), ""});
      best = *holding;
      break;
    }
    better.push_back({"sandbox", State::note, holding.error().message, how_to_get(tier)});
  }
  if (!best) findings.push_back({"sandbox", State::missing, "no tier holds here", "docs/sandbox.md; or type --sandbox none"});
  findings.insert(findings.end(), better.begin(), better.end());
  return findings;
}

Finding examine_gpu() {
  const auto nodes = sandbox::gpu_device_nodes();
  if (nodes.empty()) {
    return {"gpu", State::missing, "no /dev/nvidia* nodes",
            "install NVIDIA's driver (580 or newer for CUDA 13), or use --backend cpu"};
  }
  std::string driver = first_line("/proc/driver/nvidia/version");
  if (driver.empty()) driver = "driver version not readable";
  return {"gpu", State::ok, fmt::format("{} device nodes; {}", nodes.size(), driver), ""};
}

/// Starts one worker and asks it who it is.
Finding examine_worker(const std::string& topic, evaluator::WorkerStart start, sandbox::Tier tier,
                       const std::string& mend) {
  start.tier = tier;
  auto worker = evaluator::Worker::start(std::move(start));
  if (!worker) return {topic, State::missing, worker.error().message, mend};
  auto answer = evaluator::expect_answer(
      (*worker)->ask({{"type", "hello"}}, {}, std::chrono::seconds(120)));
  if (!answer) return {topic, State::missing, answer.error().message, mend};
  std::string text;
  for (const auto& [key, value] : answer->ok.items()) {
    if (key == "pid") continue;
    text += (text.empty() ? "" : ", ") + key + " " +
            (value.is_string() ? value.get<std::string>() : wire::dump(value));
  }
  return {topic, State::ok, base::one_line(text), ""};
}

std::vector<Finding> examine_workers(sandbox::Tier tier) {
  const std::string mend = "run scripts/quickstart, or build again";
  auto installation = evaluator::Installation::find();
  if (!installation) return {{"workers", State::missing, installation.error().message, mend}};
  auto folder = sys::TemporaryDirectory::create("kagent-doctor");
  if (!folder) return {{"temporary folder", State::missing, folder.error().message, "set TMPDIR"}};
  std::vector<Finding> findings;
  const auto mount = evaluator::candidates_mount(folder->path(), tier);
  const auto task = evaluator::task_mount(folder->path(), tier);
  const auto cache = evaluator::cache_mount(folder->path(), tier);
  findings.push_back(examine_worker("recorder", evaluator::recorder_start(*installation, mount), tier, mend));
  findings.push_back(examine_worker("builder", evaluator::builder_start(*installation), tier, mend));
  findings.push_back(examine_worker("runner (cpu)", evaluator::runner_start(*installation, Backend::cpu), tier, mend));
  if (!sandbox::gpu_device_nodes().empty()) {
    findings.push_back(examine_worker("runner (cuda)", evaluator::runner_start(*installation, Backend::cuda), tier, mend));
  }
  findings.push_back(examine_worker("reference", evaluator::reference_start(*installation, Backend::cpu, task, cache), tier, mend));
  return findings;
}

Finding examine_folder(const std::string& topic, const std::filesystem::path& path,
                       const std::string& mend) {
  const auto made = sys::make_directories(path);
  if (made && ::access(path.c_str(), W_OK) == 0) return {topic, State::ok, path.string(), ""};
  return {topic, State::missing, path.string() + " cannot be written", mend};
}

Finding examine_keys() {
  std::string found;
  for (const char* name : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') found += (found.empty() ? "" : ", ") + std::string(name);
  }
  if (found.empty()) {
    return {"model keys", State::note, "none in the environment",
            "optimize can replay a recorded conversation: --model replay/FILE"};
  }
  return {"model keys", State::ok, found + " (values are never shown or passed on)", ""};
}

int doctor(Backend backend, bool json) {
  std::optional<sandbox::Holding> best;
  std::vector<Finding> findings = examine_sandbox(best);
  findings.push_back(examine_gpu());
  const auto tier = best ? best->tier : sandbox::Tier::none;
  for (auto& finding : examine_workers(tier)) findings.push_back(std::move(finding));
  findings.push_back(examine_folder("cache", cache_directory(tier), "set XDG_CACHE_HOME"));
  findings.push_back(examine_folder("locks", sys::lock_directory(), "set KAGENT_LOCK_DIR"));
  findings.push_back(examine_keys());

  bool ready = true;
  wire::Json list = wire::Json::array();
  for (const auto& finding : findings) {
    const bool needed = finding.topic != "gpu" || backend == Backend::cuda;
    if (finding.state == State::missing && needed) ready = false;
    list.push_back({{"topic", finding.topic}, {"state", word(finding.state)},
                    {"text", finding.text}, {"mend", finding.mend}});
    if (json) continue;
    fmt::print("{:<8}{:<16}{}\n", word(finding.state), finding.topic, finding.text);
    if (!finding.mend.empty()) fmt::print("{:<24}mend: {}\n", "", finding.mend);
  }
  const char* name = wire::word(backend);
  if (json) {
    fmt::print("{}\n", wire::dump({{"schema", "kagent.doctor/1"}, {"outcome", ready ? "success" : "environment"},
                                   {"backend", name}, {"findings", std::move(list)}}));
  } else {
    fmt::print("{} for --backend {}\n", ready ? "ready" : "not ready", name);
  }
  return ready ? kSuccess : kEnvironment;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code_out) {
  struct Options {
    Backend backend = Backend::cuda;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("doctor", "what this machine can do, and how to mend what it can't");
  const std::map<std::string, Backend> backends{{"cuda", Backend::cuda}, {"cpu", Backend::cpu}};
  command->add_option("--backend", options->backend, "what must work: cuda (default) or cpu")
      ->transform(CLI::CheckedTransformer(backends));
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->callback([options, &exit_code_out] { exit_code_out = doctor(options->backend, options->json); });
}

}  // namespace kagent::cli
