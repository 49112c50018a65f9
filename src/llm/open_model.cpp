// SPDX-License-Identifier: Apache-2.0
#include "llm/open_model.h"

#include "base/text.h"
#include "llm/conversation.h"
#include "llm/fenced_client.h"
#include "llm/model_name.h"
#include "sys/environment.h"

#include <fmt/format.h>

#include <charconv>

namespace kagent::llm {
namespace {

Result<HttpTimeouts> parse_timeouts(const std::string& text) {
  HttpTimeouts timeouts;
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

OpenModel open_replay(const std::string& name, Conversation conversation, const OnNotice& notice) {
  OpenModel model;
  auto client = std::make_unique<ReplayClient>(
      name, std::move(conversation), [notice](const std::string& difference) {
        notice("differs from the recording: " + difference);
      });
  model.replay = client.get();
  model.chat = std::move(client);
  return model;
}

/// A turn re-reads the conversation from the provider's cache: 40k tokens are a usual middle.
double typical_turn(const std::optional<Price>& price) {
  return price ? price->cost({40'000, 36'000, 1'500, 3'000, 0}) : 0;
}

std::string price_line(const std::string& name, const std::optional<Price>& price) {
  if (!price) return name + ": no price is known, so its cost is not counted";
  return fmt::format("{}: ${:g} in, ${:g} out a million tokens; a turn costs about ${:.3f}", name,
                     price->input, price->output, typical_turn(price));
}

}  // namespace

Result<std::vector<std::string>> keys_in_environment(const std::filesystem::path& share) {
  KAGENT_TRY(const auto providers, read_providers(table(share, "providers.json")));
  return keys_found(providers, &sys::variable);
}

Result<OpenModel> open_model(ModelChoice& choice, const std::filesystem::path& share,
                             const OnNotice& notice) {
  if (choice.name.empty()) choice.name = sys::variable("KAGENT_MODEL");
  if (choice.is_replay()) {
    KAGENT_TRY(const auto name, parse_model_name(choice.name));
    KAGENT_TRY(auto conversation, read_conversation(name.model));
    return open_replay(choice.name, std::move(conversation), notice);
  }
  KAGENT_TRY(const auto providers, read_providers(table(share, "providers.json")));
  const Environment environment = &sys::variable;
  if (choice.name.empty()) {
    return Error{ErrorKind::usage, no_model_message(providers, environment)};
  }
  KAGENT_TRY(const auto name, parse_model_name(choice.name));
  if (choice.base_url.empty()) choice.base_url = sys::variable("KAGENT_BASE_URL");
  HttpModelSettings settings;
  settings.name = choice.name;
  settings.model = name.model;
  KAGENT_TRY(settings.endpoint, find_endpoint(providers, name, choice.base_url, environment));
  KAGENT_TRY(settings.timeouts, parse_timeouts(choice.timeouts));
  KAGENT_TRY_VOID(check_extra(choice.sampling.extra));
  settings.sampling = choice.sampling;
  settings.retries = choice.retries;
  settings.first_delay = choice.first_delay;
  KAGENT_TRY(settings.price, find_price(table(share, "prices.json"), choice.name));
  OpenModel model;
  model.priced = settings.price.has_value();
  model.typical_turn_usd = typical_turn(settings.price);
  model.price_note = price_line(choice.name, settings.price);
  model.chat = std::make_unique<HttpModel>(std::move(settings), notice);
  if (choice.single) model.chat = std::make_unique<FencedClient>(std::move(model.chat));
  return model;
}

}  // namespace kagent::llm
