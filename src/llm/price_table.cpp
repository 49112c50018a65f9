// SPDX-License-Identifier: Apache-2.0
#include "llm/price_table.h"

#include "llm/ordered_json.h"
#include "sys/files.h"

namespace kagent::llm {

double Price::cost(const Usage& usage) const {
  const auto plain = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens;
  return (static_cast<double>(plain) * input + static_cast<double>(usage.cached_tokens) * cached +
          static_cast<double>(usage.cache_written_tokens) * cache_write +
          static_cast<double>(usage.output_tokens) * output) /
         1e6;
}

Result<std::optional<Price>> find_price(const std::filesystem::path& file,
                                        const std::string& model) {
  KAGENT_TRY(const std::string text, sys::read_file(file, 4u << 20));
  KAGENT_TRY(const OrderedJson table, parse_ordered(text, file.string()));
  std::optional<Price> best;
  std::size_t longest = 0;
  for (const auto& [name, row] : wire::member(table, "models").items()) {
    if (model.rfind(name, 0) != 0 || name.size() < longest) continue;
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
