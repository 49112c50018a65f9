// SPDX-License-Identifier: Apache-2.0
#include "llm/endpoint.h"

#include "base/text.h"
#include "llm/ordered_json.h"
#include "sys/files.h"

#include <algorithm>

namespace kagent::llm {
namespace {

Error wrong(const std::string& why) { return Error{ErrorKind::usage, why}; }

bool printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return byte > ' ' && byte < 127; });
}

bool on_this_machine(const std::string& url) {
  for (const char* start :
       {"http://127.", "http://localhost:", "http://localhost/", "http://[::1]"}) {
    if (url.rfind(start, 0) == 0) return url.find('@') == std::string::npos;
  }
  return false;
}

Result<void> check_url(const std::string& url) {
  const std::string shown = base::one_line(url, 200);
  if (!printable(url) || url.find('@') != std::string::npos) {
    return wrong(shown + ": not an address (no spaces and no user name in it)");
  }
  if (url.rfind("https://", 0) == 0 || on_this_machine(url)) return {};
  if (url.rfind("http://", 0) == 0) {
    return wrong(shown +
                 ": plain http is for servers on this machine only (127.0.0.1, localhost); "
                 "use https, or a tunnel");
  }
  return wrong(shown + ": expected an address that begins with https://");
}

std::string joined(std::string base, const std::string& path) {
  while (!base.empty() && base.back() == '/') base.pop_back();
  return base + path;
}

Result<Secret> find_key(const Provider& provider, const Environment& environment) {
  for (const std::string& variable : provider.key_variables) {
    const std::string value(base::trim(environment(variable)));
    if (value.empty()) continue;
    if (!printable(value) || value.size() > 4096) {
      return wrong(variable + ": holds characters that no key has");
    }
    return Secret(value);
  }
  if (!provider.key_needed) return Secret();
  return wrong("provider " + provider.name + " needs a key; set " +
               base::join(provider.key_variables, " or ") + " in the environment");
}

}  // namespace

std::string Secret::redact(std::string text) const {
  if (value_.size() < 4) return text;
  for (std::size_t at = 0; (at = text.find(value_, at)) != std::string::npos;) {
    text.replace(at, value_.size(), "[key]");
  }
  return text;
}

Result<std::vector<Provider>> read_providers(const std::filesystem::path& file) {
  KAGENT_TRY(const std::string text, sys::read_file(file, 1u << 20));
  KAGENT_TRY(const OrderedJson table, parse_ordered(text, file.string()));
  std::vector<Provider> providers;
  for (const auto& [name, row] : table.items()) {
    Provider provider;
    provider.name = name;
    const std::string api = wire::text_member(row, "api");
    if (api != "anthropic" && api != "openai") {
      return wrong(file.string() + ": " + name + ".api: expected anthropic or openai");
    }
    provider.endpoint.api = api == "anthropic" ? Api::anthropic : Api::openai;
    provider.endpoint.url = wire::text_member(row, "base_url");
    provider.path = wire::text_member(row, "path");
    if (provider.path.empty()) provider.path = "/chat/completions";
    provider.endpoint.max_tokens_member = wire::text_member(row, "max_tokens_member");
    if (provider.endpoint.max_tokens_member.empty()) {
      provider.endpoint.max_tokens_member = "max_tokens";
    }
    provider.endpoint.always_send_reasoning = wire::text_member(row, "always_send_reasoning");
    provider.base_url_variable = wire::text_member(row, "base_url_variable");
    for (const OrderedJson& variable : wire::member(row, "key_variables")) {
      if (variable.is_string()) provider.key_variables.push_back(variable.get<std::string>());
    }
    provider.key_needed = wire::member(row, "key_needed") != false;
    providers.push_back(std::move(provider));
  }
  return providers;
}

Result<Endpoint> find_endpoint(const std::vector<Provider>& providers, const ModelName& model,
                               const std::string& base_url, const Environment& environment) {
  const auto provider = std::find_if(providers.begin(), providers.end(), [&](const Provider& each) {
    return each.name == model.provider;
  });
  if (provider == providers.end()) {
    std::vector<std::string> names{"replay"};
    for (const Provider& each : providers) names.push_back(each.name);
    return wrong("--model: unknown provider \"" + base::one_line(model.provider, 40) +
                 "\"; there are " + base::join(names, ", "));
  }
  Endpoint endpoint = provider->endpoint;
  std::string base = base_url;
  if (base.empty() && !provider->base_url_variable.empty()) {
    base = environment(provider->base_url_variable);
  }
  endpoint.url = joined(base.empty() ? endpoint.url : base, provider->path);
  KAGENT_TRY_VOID(check_url(endpoint.url));
  KAGENT_TRY(endpoint.key, find_key(*provider, environment));
  return endpoint;
}

std::vector<std::string> keys_found(const std::vector<Provider>& providers,
                                    const Environment& environment) {
  std::vector<std::string> found;
  for (const Provider& provider : providers) {
    for (const std::string& variable : provider.key_variables) {
      if (!base::trim(environment(variable)).empty()) found.push_back(variable);
    }
  }
  return found;
}

std::string no_model_message(const std::vector<Provider>& providers,
                             const Environment& environment) {
  const auto found = keys_found(providers, environment);
  return "no model is named: pass --model PROVIDER/MODEL or set KAGENT_MODEL (keys found: " +
         (found.empty() ? "none" : base::join(found, ", ")) + "; --model replay/FILE needs no key)";
}

}  // namespace kagent::llm
