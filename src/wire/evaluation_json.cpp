// SPDX-License-Identifier: Apache-2.0
// Sample, Measurement, Score and Evaluation.
#include "wire/forms.h"

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxNotes = 4096;

int read_count(const Reader& reader) { return static_cast<int>(reader.integer(0, 1 << 30)); }

template <typename T>
void read_optional(const Reader& reader, std::optional<T>& value) {
  if (reader.present()) read(reader, value.emplace());
}

template <typename T>
Json optional_to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

Grade read_grade(const Reader& reader) {
  const std::int64_t grade = reader.integer(-1, 3);
  if (grade == 0) reader.fail("a grade is -1, 1, 2 or 3");
  return grade == 0 ? Grade::wrong : static_cast<Grade>(grade);
}

}  // namespace

void read(const Reader& reader, ArmTimes& arm) {
  read_list(reader.field("samples"), arm.samples, kMaxEntries);
  arm.median_us = reader.field("median_us").quantity();
  arm.low_us = reader.field("low_us").quantity();
  arm.high_us = reader.field("high_us").quantity();
  arm.busy_us = reader.field("busy_us").quantity();
  arm.launches = read_count(reader.field("launches"));
}

Json to_json(const ArmTimes& arm) {
  return {{"samples", list_to_json(arm.samples)},
          {"median_us", arm.median_us},
          {"low_us", arm.low_us},
          {"high_us", arm.high_us},
          {"busy_us", arm.busy_us},
          {"launches", arm.launches}};
}

void read(const Reader& reader, Speedup& speedup) {
  speedup.point = reader.field("point").quantity();
  speedup.low = reader.field("low").quantity();
  speedup.high = reader.field("high").quantity();
}

Json to_json(const Speedup& speedup) {
  return {{"point", speedup.point}, {"low", speedup.low}, {"high", speedup.high}};
}

void read(const Reader& reader, Sample& sample) {
  sample.span_us = reader.field("span_us").quantity();
  sample.busy_us = reader.field("busy_us").quantity();
  sample.sum_us = reader.field("sum_us").quantity();
  sample.launches = read_count(reader.field("launches"));
  sample.own_us = reader.field("own_us").quantity();
}

Json to_json(const Sample& sample) {
  return {{"span_us", sample.span_us},
          {"busy_us", sample.busy_us},
          {"sum_us", sample.sum_us},
          {"launches", sample.launches},
          {"own_us", sample.own_us}};
}

void read(const Reader& reader, Measurement& measurement) {
  measurement.clock = reader.field("clock").text(kMaxNameBytes);
  measurement.rounds = read_count(reader.field("rounds"));
  read(reader.field("candidate"), measurement.candidate);
  read_optional(reader.optional("eager"), measurement.eager);
  read_optional(reader.optional("compiled"), measurement.compiled);
  read_optional(reader.optional("over_eager"), measurement.over_eager);
  read_optional(reader.optional("over_compiled"), measurement.over_compiled);
  measurement.prepare_us = reader.field("prepare_us").quantity();
  measurement.own_kernel_share = reader.field("own_kernel_share").quantity();
  measurement.notes = reader.field("notes").texts(kMaxNotes, kMaxMessageBytes);
}

Json to_json(const Measurement& measurement) {
  return {{"clock", measurement.clock},
          {"rounds", measurement.rounds},
          {"candidate", to_json(measurement.candidate)},
          {"eager", optional_to_json(measurement.eager)},
          {"compiled", optional_to_json(measurement.compiled)},
          {"over_eager", optional_to_json(measurement.over_eager)},
          {"over_compiled", optional_to_json(measurement.over_compiled)},
          {"prepare_us", measurement.prepare_us},
          {"own_kernel_share", measurement.own_kernel_share},
          {"notes", measurement.notes}};
}

void read(const Reader& reader, Score& score) {
  score.grade = read_grade(reader.field("grade"));
  score.speedup_over_eager = reader.field("speedup_over_eager").quantity();
  score.speedup_over_compiled = reader.field("speedup_over_compiled").quantity();
  score.success = reader.field("success").boolean();
  score.noisy = reader.field("noisy").boolean();
}

Json to_json(const Score& score) {
  return {{"grade", static_cast<int>(score.grade)},
          {"speedup_over_eager", score.speedup_over_eager},
          {"speedup_over_compiled", score.speedup_over_compiled},
          {"success", score.success},
          {"noisy", score.noisy}};
}

void read(const Reader& reader, Evaluation& evaluation) {
  evaluation.candidate = reader.field("candidate").text(kMaxNameBytes);
  read_optional(reader.optional("build"), evaluation.build);
  read(reader.field("verdict"), evaluation.verdict);
  read_optional(reader.optional("measurement"), evaluation.measurement);
  read_optional(reader.optional("score"), evaluation.score);
  for (const auto& [stage, milliseconds] : reader.field("stage_ms").members(kMaxNotes)) {
    evaluation.stage_ms[std::string(stage)] = milliseconds.quantity();
  }
}

Json to_json(const Evaluation& evaluation) {
  return {{"candidate", evaluation.candidate},
          {"build", optional_to_json(evaluation.build)},
          {"verdict", to_json(evaluation.verdict)},
          {"measurement", optional_to_json(evaluation.measurement)},
          {"score", optional_to_json(evaluation.score)},
          {"stage_ms", evaluation.stage_ms}};
}

template <>
Result<Sample> parse(const Json& json) {
  return read_document<Sample>(json);
}
template <>
Result<Measurement> parse(const Json& json) {
  return read_document<Measurement>(json);
}
template <>
Result<Score> parse(const Json& json) {
  return read_document<Score>(json);
}
template <>
Result<Evaluation> parse(const Json& json) {
  return read_document<Evaluation>(json);
}

}  // namespace kagent::wire
