// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <string>

namespace kagent::llm {

/// --model: "provider/model". Providers so far: replay.
struct ModelName {
  std::string provider;
  std::string model;  // for replay: a file
};

/// An Error of kind usage names the providers.
Result<ModelName> parse_model_name(const std::string& text);

}  // namespace kagent::llm
