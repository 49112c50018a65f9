// SPDX-License-Identifier: Apache-2.0
// Where a model is asked, by which wire format and with which peculiarities. The table is data:
// share/providers.json.
#pragma once

#include <kagent/result.h>

#include "llm/model_name.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kagent::llm {

enum class Api { anthropic, openai };

/// A text that must not be seen: it has no formatter, and redact() takes it out of what is shown.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  bool empty() const { return value_.empty(); }
  const std::string& reveal() const { return value_; }

  /// `text` with every occurrence replaced by "[key]".
  std::string redact(std::string text) const;

 private:
  std::string value_;
};

struct Endpoint {
  Api api = Api::openai;
  std::string url;                    // of the request, path included
  Secret key;                         // empty where none is needed
  std::string max_tokens_member;      // "max_tokens" or "max_completion_tokens"
  std::string always_send_reasoning;  // member that every assistant message must have; mostly empty
};

/// Value of an environment variable, or "".
using Environment = std::function<std::string(const std::string& name)>;

struct Provider {
  std::string name;
  Endpoint endpoint;  // without its key; url is the default
  std::string path;
  std::string base_url_variable;
  std::vector<std::string> key_variables;
  bool key_needed = true;
};

/// Errors are of kind usage and name file and member.
Result<std::vector<Provider>> read_providers(const std::filesystem::path& file);

/// base_url: empty, or what the user gave instead of the provider's. Plain http is for this machine
/// only: a key would go over the wire in the open.
Result<Endpoint> find_endpoint(const std::vector<Provider>& providers, const ModelName& model,
                               const std::string& base_url, const Environment& environment);

/// Variables that hold a key, for the line that says which models could be named.
std::vector<std::string> keys_found(const std::vector<Provider>& providers,
                                    const Environment& environment);

/// The line for a run without --model.
std::string no_model_message(const std::vector<Provider>& providers,
                             const Environment& environment);

}  // namespace kagent::llm
