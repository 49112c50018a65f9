// SPDX-License-Identifier: Apache-2.0
#include "wire/forms.h"

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxAllowedOperators = 1024;
constexpr std::int64_t kMaxRounds = 100000;

}  // namespace

void read(const Reader& reader, JudgeSettings& settings) {
  settings.backend = read_word<Backend>(reader.field("backend"));
  settings.mode = read_word<Mode>(reader.field("mode"));
  settings.numerics = read_word<Numerics>(reader.field("numerics"));
  settings.over = read_word<Baselines>(reader.field("over"));
  settings.compiler = read_word<Compiler>(reader.field("compiler"));
  settings.min_gain = reader.field("min_gain").quantity();
  settings.trials = static_cast<int>(reader.field("trials").integer(0, kMaxRounds));
  settings.allow_ops = reader.field("allow_ops").texts(kMaxAllowedOperators, kMaxNameBytes);
  settings.timing_rounds = static_cast<int>(reader.field("timing_rounds").integer(0, kMaxRounds));
}

Json to_json(const JudgeSettings& settings) {
  return {{"backend", word(settings.backend)},
          {"mode", word(settings.mode)},
          {"numerics", word(settings.numerics)},
          {"over", word(settings.over)},
          {"compiler", word(settings.compiler)},
          {"min_gain", settings.min_gain},
          {"trials", settings.trials},
          {"allow_ops", settings.allow_ops},
          {"timing_rounds", settings.timing_rounds}};
}

template <>
Result<JudgeSettings> parse(const Json& json) {
  return read_document<JudgeSettings>(json);
}

}  // namespace kagent::wire
