// SPDX-License-Identifier: Apache-2.0
// Which model is asked, and how: what the user chose, the environment, and what they come to.
#pragma once

#include <kagent/chat.h>
#include <kagent/result.h>

#include "llm/http_model.h"
#include "llm/replay_client.h"

#include <filesystem>
#include <memory>
#include <string>

namespace kagent::llm {

struct ModelChoice {
  std::string name;  // --model, else KAGENT_MODEL
  std::string base_url;
  std::string timeouts;  // "connect=10,first=600,idle=300,total=1800", any of them
  int retries = 8;
  std::chrono::milliseconds first_delay{500};  // see HttpModelSettings; tests wait less
  bool single = false;  // --protocol single: no tools, a candidate in fenced blocks
  Sampling sampling;

  bool is_replay() const { return name.rfind("replay/", 0) == 0; }
};

struct OpenModel {
  std::unique_ptr<ChatClient> chat;
  ReplayClient* replay = nullptr;  // chat, where it is one
  double typical_turn_usd = 0;     // where priced: in the middle of a usual conversation
  std::string price_note;          // how money is counted; empty for a recording
  bool priced = false;
};

/// Fills in choice.name. share: …/share/kagent, with the tables. Errors are of kind usage, without
/// keys. notice: a retry, or where a replay differs from its recording; one line each.
Result<OpenModel> open_model(ModelChoice& choice, const std::filesystem::path& share,
                             const OnNotice& notice);

/// Names of the variables with keys that are set, by the table in share (or the user's own).
Result<std::vector<std::string>> keys_in_environment(const std::filesystem::path& share);

}  // namespace kagent::llm
