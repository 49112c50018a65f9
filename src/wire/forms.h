// SPDX-License-Identifier: Apache-2.0
// read() and to_json() of every type that has a JSON form, and the caps on its parts. json.h is the
// public side.
#pragma once

#include "wire/json.h"
#include "wire/reader.h"

namespace kagent::wire {

// docs/plan-format.md, "Caps".
inline constexpr std::size_t kMaxValues = 4096;
inline constexpr std::size_t kMaxKernels = 256;
inline constexpr std::size_t kMaxSteps = 2048;
inline constexpr std::size_t kMaxArguments = 64;
inline constexpr std::size_t kMaxRank = 16;
inline constexpr int kMaxDepth = 8;
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 40;
inline constexpr std::size_t kMaxConstantBytes = 64u << 20;
// Of texts: names and paths; a kernel's name is a C++ expression; messages; logs.
inline constexpr std::size_t kMaxNameBytes = 1024;
inline constexpr std::size_t kMaxExpressionBytes = 4096;
inline constexpr std::size_t kMaxMessageBytes = 64u << 10;
inline constexpr std::size_t kMaxLogBytes = 4u << 20;
// Of records.
inline constexpr std::size_t kMaxEntries = 65536;

// tensor_json
void read(const Reader&, Argument&);
void read(const Reader&, TensorSpec&);
void read(const Reader&, ArenaEntry&);
void read(const Reader&, ArenaLayout&);
// task_json
void read(const Reader&, InputSpec&);
void read(const Reader&, WeightSpec&);
void read(const Reader&, TaskSignature&);
void read(const Reader&, DeviceRecord&);
// plan_json, step_json, output_tree_json
void read(const Reader&, ValueId&);
void read(const Reader&, PlanValue&);
void read(const Reader&, KernelRequest&);
void read(const Reader&, Tunable&);
void read(const Reader&, OperatorStep&);
void read(const Reader&, TensorMap&);
void read(const Reader&, LaunchArgument&);
void read(const Reader&, LaunchStep&);
void read(const Reader&, Step&);
void read(const Reader&, OutputTree&);
void read(const Reader&, Plan&);
// build_json
void read(const Reader&, KernelParameter&);
void read(const Reader&, KernelBuild&);
void read(const Reader&, BuildUnit&);
void read(const Reader&, BuildResult&);
// verdict_json; a SourceLine may be null or absent
void read(const Reader&, SourceLine&);
void read(const Reader&, Fault&);
void read(const Reader&, Trial&);
void read(const Reader&, Verdict&);
// evaluation_json
void read(const Reader&, Sample&);
void read(const Reader&, ArmTimes&);
void read(const Reader&, Speedup&);
void read(const Reader&, Measurement&);
void read(const Reader&, Score&);
void read(const Reader&, Evaluation&);
// settings_json
void read(const Reader&, JudgeSettings&);

// Parts of the forms that json.h declares.
Json to_json(const ArenaEntry&);
Json to_json(const InputSpec&);
Json to_json(const WeightSpec&);
Json to_json(const PlanValue&);
Json to_json(const KernelRequest&);
Json to_json(const Tunable&);
Json to_json(const OperatorStep&);
Json to_json(const TensorMap&);
Json to_json(const LaunchArgument&);
Json to_json(const LaunchStep&);
Json to_json(const Step&);
Json to_json(const KernelParameter&);
Json to_json(const KernelBuild&);
Json to_json(const BuildUnit&);
Json to_json(const SourceLine&);
Json to_json(const Trial&);
Json to_json(const ArmTimes&);
Json to_json(const Speedup&);

template <typename T>
Json list_to_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json(value));
  return list;
}

/// An enumerator by its word; the error lists all words.
template <typename Enum>
Enum read_word(const Reader& reader) {
  const std::string text = reader.text(kMaxNameBytes);
  if (reader.failed()) return Enum{};
  Result<Enum> value = parse_word<Enum>(text);
  if (value) return *value;
  reader.fail(value.error().message);
  return Enum{};
}

/// What parse() of a plan checks beyond the shape of its JSON: ids in range, computed once and
/// before use, prepare free of inputs, constants of the right size. The first problem, with the
/// path to its field, or "".
std::string broken_reference(const Plan& plan);

}  // namespace kagent::wire
