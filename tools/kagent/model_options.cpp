// SPDX-License-Identifier: Apache-2.0
#include "model_options.h"

#include "base/text.h"
#include "evaluator/programs.h"
#include "llm/conversation.h"
#include "llm/model_name.h"
#include "sys/environment.h"

#include <fmt/format.h>

#include <charconv>

namespace kagent::cli {
namespace {

Result<llm::HttpTimeouts> parse_timeouts(const std::string& text) {
  llm::HttpTimeouts timeouts;
  if (text.empty()) return timeouts;
  const std::pair<const char*, std::chrono::milliseconds*> known[] = {
      {"connect", &timeouts.connect},
      {"first", &timeouts.first},
      {"idle", &timeouts.idle},
      {"total", &timeouts.total}};
  for (const std::string& part : base::split(text, ',')) {
    const std::size_t equals = part.find('=');
    double seconds = 0;
    const char* end = part.data() + part.size();
    const bool number = equals != std::string::npos &&
                        std::from_chars(part.data() + equals + 1, end, seconds).ptr == end;
    bool found = false;
    for (const auto& [name, value] : known) {
      if (!number || part.substr(0, equals) != name) continue;
      found = seconds > 0 && seconds <= 86400;
      *value = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
    }
    if (!found) {
      return Error{ErrorKind::usage, "--model-timeouts " + base::one_line(part, 60) +
                                         ": expected connect|first|idle|total=SECONDS"};
    }
  }
  return timeouts;
}

/// The user's own table goes before the installed one.
std::filesystem::path table(const std::filesystem::path& share, const char* name) {
  std::string folder = sys::variable("XDG_CONFIG_HOME");
  if (folder.empty()) folder = sys::variable("HOME") + "/.config";
  const auto own = std::filesystem::path(folder) / "kagent" / name;
  std::error_code code;
  return std::filesystem::exists(own, code) ? own : share / name;
}

OpenModel open_replay(const std::string& name, llm::Conversation conversation,
                      const llm::OnNotice& notice) {
  OpenModel model;
  auto client = std::make_unique<llm::ReplayClient>(
      name, std::move(conversation), [notice](const std::string& difference) {
        notice("differs from the recording: " + difference);
      });
  model.replay = client.get();
  model.chat = std::move(client);
  return model;
}

std::string price_line(const std::string& name, const std::optional<llm::Price>& price) {
  if (!price) return name + ": no price is known, so its cost is not counted";
  // A turn re-reads the conversation from the provider's cache: 40k tokens are a usual middle.
  const double turn = price->cost({40'000, 36'000, 1'500, 3'000, 0});
  return fmt::format("{}: ${:g} in, ${:g} out a million tokens; a turn costs about ${:.3f}", name,
                     price->input, price->output, turn);
}

}  // namespace

void ModelOptions::add_to(CLI::App& command) {
  command.add_option("--model", name,
                     "PROVIDER/MODEL, or replay/FILE: a recorded conversation (else KAGENT_MODEL)");
  command.add_option("--base-url", base_url, "where the provider's API is (else KAGENT_BASE_URL)");
  command.add_option("--model-timeouts", timeouts,
                     "seconds: connect=10,first=600,idle=300,total=1800");
  command
      .add_option("--model-retries", retries, "how often a failed request is repeated (default 8)")
      ->check(CLI::Range(0, 100));
  command.add_option("--temperature", sampling.temperature, "sent only when given")
      ->check(CLI::Range(0.0, 2.0));
  command.add_option("--top-p", sampling.top_p, "sent only when given")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--effort", sampling.effort,
                     "of reasoning, sent only when given: low, medium, high, …");
  command.add_option("--max-reply-tokens", sampling.max_reply_tokens, "longest reply")
      ->check(CLI::Range(1, 1'000'000));
}

Result<OpenModel> open_model(ModelOptions& options, const llm::OnNotice& notice) {
  if (options.name.empty()) options.name = sys::variable("KAGENT_MODEL");
  if (options.is_replay()) {
    KAGENT_TRY(const auto name, llm::parse_model_name(options.name));
    KAGENT_TRY(auto conversation, llm::read_conversation(name.model));
    return open_replay(options.name, std::move(conversation), notice);
  }
  KAGENT_TRY(const auto installation, evaluator::Installation::find());
  KAGENT_TRY(const auto providers,
             llm::read_providers(table(installation.share, "providers.json")));
  const llm::Environment environment = &sys::variable;
  if (options.name.empty()) {
    return Error{ErrorKind::usage, llm::no_model_message(providers, environment)};
  }
  KAGENT_TRY(const auto name, llm::parse_model_name(options.name));
  if (options.base_url.empty()) options.base_url = sys::variable("KAGENT_BASE_URL");
  llm::HttpModelSettings settings;
  settings.name = options.name;
  settings.model = name.model;
  KAGENT_TRY(settings.endpoint, llm::find_endpoint(providers, name, options.base_url, environment));
  KAGENT_TRY(settings.timeouts, parse_timeouts(options.timeouts));
  settings.sampling = options.sampling;
  settings.retries = options.retries;
  KAGENT_TRY(settings.price,
             llm::find_price(table(installation.share, "prices.json"), options.name));
  OpenModel model;
  model.priced = settings.price.has_value();
  model.price_note = price_line(options.name, settings.price);
  model.chat = std::make_unique<llm::HttpModel>(std::move(settings), notice);
  return model;
}

}  // namespace kagent::cli
