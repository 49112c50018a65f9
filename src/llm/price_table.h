// SPDX-License-Identifier: Apache-2.0
// What tokens cost: share/prices.json.
#pragma once

#include <kagent/chat.h>
#include <kagent/result.h>

#include <filesystem>
#include <optional>
#include <string>

namespace kagent::llm {

/// US dollars for a million tokens.
struct Price {
  double input = 0;
  double cached = 0;       // read from the provider's cache
  double cache_write = 0;  // written to it
  double output = 0;

  double cost(const Usage& usage) const;
};

/// Of provider/model or, for a dated release of it, of the name without the date; empty where there is no row.
Result<std::optional<Price>> find_price(const std::filesystem::path& file,
                                        const std::string& model);

}  // namespace kagent::llm
