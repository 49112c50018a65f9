// SPDX-License-Identifier: Apache-2.0
#include "llm/price_table.h"

#include "llm/ordered_json.h"
#include "sys/files.h"

#include <algorithm>

namespace kagent::llm {

double Price::cost(const Usage& usage) const {
  const auto plain = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens;
  return (static_cast<double>(plain) * input + static_cast<double>(usage.cached_tokens) * cached +
          static_cast<double>(usage.cache_written_tokens) * cache_write +
          static_cast<double>(usage.output_tokens) * output) /
         1e6;
}

namespace {

/// The model itself, or one of its dated releases: "-20260101", "-2026-01-01", "-latest". A longer name is another
/// model with another price.
bool is_named(const std::string& model, const std::string& name) {
  if (model.rfind(name, 0) != 0) return false;
  const std::string rest = model.substr(name.size());
  if (rest.empty() || rest == "-latest") return true;
  const auto digits = std::count_if(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto dashes = std::count(rest.begin(), rest.end(), '-');
  return rest.front() == '-' && digits == 8 && digits + dashes == static_cast<std::ptrdiff_t>(rest.size());
}

}  // namespace

Result<std::optional<Price>> find_price(const std::filesystem::path& file,
                                        const std::string& model) {
  KAGENT_TRY(const std::string text, sys::read_file(file, 4u << 20));
  KAGENT_TRY(const OrderedJson table, parse_ordered(text, file.string()));
  std::optional<Price> best;
  std::size_t longest = 0;
  for (const auto& [name, row] : wire::member(table, "models").items()) {
    if (!is_named(model, name) || name.size() < longest) continue;
    Price price;
    const std::pair<const char*, double*> members[] = {{"input", &price.input},
                                                       {"cached", &price.cached},
                                                       {"cache_write", &price.cache_write},
                                                       {"output", &price.output}};
    for (const auto& [key, value] : members) {
      const OrderedJson& number = wire::member(row, key);
      if (!number.is_number()) {
        return Error{ErrorKind::usage,
                     file.string() + ": " + name + "." + key + ": expected a number"};
      }
      *value = number.get<double>();
    }
    longest = name.size();
    best = price;
  }
  return best;
}

}  // namespace kagent::llm
