// SPDX-License-Identifier: Apache-2.0
// One list of parameters is both the JSON schema that the model is shown and what its arguments are
// checked against, so that the two cannot differ.
#pragma once

#include <kagent/tool.h>

#include "wire/json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace kagent::toolbox {

enum class ParameterType { text, integer, flag };
enum class Presence { required, optional };

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::text;
  Presence presence = Presence::required;
  std::string description;
  std::int64_t minimum = 0;  // integers only
  std::int64_t maximum = std::numeric_limits<std::int32_t>::max();
};

using Parameters = std::vector<Parameter>;

/// JSON schema of an object with exactly these members, as text.
std::string schema_of(const Parameters& parameters);

/// Arguments that fit; absent optional ones have a default.
class Arguments {
 public:
  explicit Arguments(wire::Json values) : values_(std::move(values)) {}
  bool has(const std::string& name) const { return values_.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  bool flag(const std::string& name) const;

 private:
  wire::Json values_;
};

/// The arguments, or an outcome (is_error, malformed) that names the field and shows the schema.
/// Read leniently only where there is one meaning: "12" for an integer, no text for no arguments.
std::variant<Arguments, ToolOutcome> check_arguments(const Parameters& parameters,
                                                     const std::string& text);

ToolOutcome failed(const std::string& text);

}  // namespace kagent::toolbox
