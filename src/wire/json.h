// SPDX-License-Identifier: Apache-2.0
// JSON forms of the contract types. to_json never fails; from_json treats its input as hostile and
// says which field is wrong ("values[3].shape: expected a list of integers").
#pragma once

#include <kagent/build.h>
#include <kagent/device.h>
#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/result.h>
#include <kagent/settings.h>
#include <kagent/task.h>

#include <nlohmann/json.hpp>

#include <string>

namespace kagent::wire {

using Json = nlohmann::json;

Json to_json(const Argument&);
Json to_json(const TensorSpec&);
Json to_json(const ArenaLayout&);
Json to_json(const TaskSignature&);
Json to_json(const DeviceRecord&);
Json to_json(const OutputTree&);
Json to_json(const Plan&);
Json to_json(const BuildResult&);
Json to_json(const Fault&);
Json to_json(const Verdict&);
Json to_json(const Sample&);
Json to_json(const Measurement&);
Json to_json(const Score&);
Json to_json(const Evaluation&);
Json to_json(const JudgeSettings&);

/// parse<T>(json): specialised for every type above.
template <typename T>
Result<T> parse(const Json& json);

/// A member that is a number; numbers that JSON has no word for are the texts "inf", "-inf", "nan".
/// `otherwise` where it is missing or anything else.
double number_or(const Json& object, const char* name, double otherwise);

/// Parses text into a JSON value, with nesting capped at 64; the error names line and column.
Result<Json> parse_text(const std::string& text, const std::string& what);

/// The enumerator's word as it stands in JSON, and back.
template <typename Enum>
const char* word(Enum value);
template <typename Enum>
Result<Enum> parse_word(const std::string& word);

/// UTF-8 with invalid bytes replaced; nlohmann's dump throws on them otherwise.
std::string dump(const Json& json, int indent = -1);

}  // namespace kagent::wire
