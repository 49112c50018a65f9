// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <string>

namespace kagent::llm {

/// --model: "provider/model", split at the first slash. Providers: replay, and
/// share/providers.json.
struct ModelName {
  std::string provider;
  std::string model;  // for replay: a file
};

/// An Error of kind usage says what is expected.
Result<ModelName> parse_model_name(const std::string& text);

}  // namespace kagent::llm
