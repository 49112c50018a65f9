// SPDX-License-Identifier: Apache-2.0
#include "toolbox/arguments.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kagent::toolbox {
namespace {

using wire::Json;

const char* type_word(ParameterType type) {
  switch (type) {
    case ParameterType::text:
      return "string";
    case ParameterType::integer:
      return "integer";
    case ParameterType::flag:
      return "boolean";
  }
  return "";
}

std::optional<std::int64_t> integer_in(const Json& value) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Empty where the value fits; it is then in its canonical form.
std::string misfit(const Parameter& parameter, Json& value) {
  const std::string field = "\"" + parameter.name + "\"";
  switch (parameter.type) {
    case ParameterType::text:
      return value.is_string() ? "" : field + " must be a string";
    case ParameterType::flag:
      if (value == "true") value = true;
      if (value == "false") value = false;
      return value.is_boolean() ? "" : field + " must be true or false";
    case ParameterType::integer: {
      const auto number = integer_in(value);
      if (!number) return field + " must be an integer";
      if (*number < parameter.minimum || *number > parameter.maximum) {
        return field + " must be between " + std::to_string(parameter.minimum) + " and " +
               std::to_string(parameter.maximum);
      }
      value = *number;
      return "";
    }
  }
  return "";
}

std::string first_misfit(const Parameters& parameters, Json& values) {
  for (const auto& [name, value] : values.items()) {
    const bool known = std::any_of(parameters.begin(), parameters.end(),
                                   [&](const Parameter& p) { return p.name == name; });
    if (!known) return "\"" + base::one_line(name, 60) + "\" is not a parameter of this tool";
  }
  for (const Parameter& parameter : parameters) {
    const auto at = values.find(parameter.name);
    if (at == values.end() || at->is_null()) {
      if (parameter.presence == Presence::required) return "\"" + parameter.name + "\" is missing";
      if (at != values.end()) values.erase(at);
      continue;
    }
    if (std::string problem = misfit(parameter, *at); !problem.empty()) return problem;
  }
  return "";
}

ToolOutcome malformed(const Parameters& parameters, const std::string& problem) {
  ToolOutcome outcome;
  outcome.text = "bad arguments: " + problem + ". Expected: " + schema_of(parameters);
  outcome.is_error = true;
  outcome.malformed = true;
  return outcome;
}

}  // namespace

std::string schema_of(const Parameters& parameters) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& parameter : parameters) {
    Json& property = properties[parameter.name];
    property = {{"type", type_word(parameter.type)}, {"description", parameter.description}};
    if (parameter.type == ParameterType::integer) {
      property["minimum"] = parameter.minimum;
      property["maximum"] = parameter.maximum;
    }
    if (parameter.presence == Presence::required) required.push_back(parameter.name);
  }
  return wire::dump({{"type", "object"},
                     {"properties", properties},
                     {"required", required},
                     {"additionalProperties", false}});
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? values_.at(name).get<std::string>() : otherwise;
}

std::int64_t Arguments::integer(const std::string& name, std::int64_t otherwise) const {
  return has(name) ? values_.at(name).get<std::int64_t>() : otherwise;
}

bool Arguments::flag(const std::string& name) const {
  return has(name) && values_.at(name).get<bool>();
}

std::variant<Arguments, ToolOutcome> check_arguments(const Parameters& parameters,
                                                     const std::string& text) {
  if (base::trim(text).empty()) return check_arguments(parameters, "{}");
  auto values = wire::parse_text(text, "arguments");
  if (!values) return malformed(parameters, base::one_line(values.error().message));
  if (!values->is_object()) return malformed(parameters, "not a JSON object");
  if (std::string problem = first_misfit(parameters, *values); !problem.empty()) {
    return malformed(parameters, problem);
  }
  return Arguments(*std::move(values));
}

ToolOutcome failed(const std::string& text) {
  ToolOutcome outcome;
  outcome.text = text;
  outcome.is_error = true;
  return outcome;
}

}  // namespace kagent::toolbox
