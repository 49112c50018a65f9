// SPDX-License-Identifier: Apache-2.0
#include <kagent/chat.h>
#include <kagent/trajectory.h>

#include "base/text.h"
#include "wire/json.h"

#include <cstddef>

namespace kagent::wire {
namespace {

template <typename Enum>
struct Word {
  Enum value;
  const char* text;
};

// One table a type. KAGENT_WORD keeps enumerator and word from drifting apart.
template <typename Enum>
struct Words;

#define KAGENT_WORD(name) \
  { Enum::name, #name }
#define KAGENT_WORDS(type, ...)                         \
  template <>                                           \
  struct Words<type> {                                  \
    using Enum = type;                                  \
    static constexpr Word<Enum> kAll[] = {__VA_ARGS__}; \
  }

KAGENT_WORDS(DType, KAGENT_WORD(float64), KAGENT_WORD(float32), KAGENT_WORD(float16),
             KAGENT_WORD(bfloat16), KAGENT_WORD(float8_e4m3fn), KAGENT_WORD(float8_e5m2),
             KAGENT_WORD(complex64), KAGENT_WORD(complex128), KAGENT_WORD(int64),
             KAGENT_WORD(int32), KAGENT_WORD(int16), KAGENT_WORD(int8), KAGENT_WORD(uint8),
             {DType::boolean, "bool"});
KAGENT_WORDS(MemoryFormat, KAGENT_WORD(contiguous), KAGENT_WORD(channels_last),
             KAGENT_WORD(channels_last_3d), KAGENT_WORD(preserve));
KAGENT_WORDS(ValueOrigin, KAGENT_WORD(input), KAGENT_WORD(weight), KAGENT_WORD(constant),
             KAGENT_WORD(prepared), KAGENT_WORD(computed));
KAGENT_WORDS(ParameterKind, KAGENT_WORD(pointer), KAGENT_WORD(signed_integer),
             KAGENT_WORD(unsigned_integer), KAGENT_WORD(floating), KAGENT_WORD(boolean),
             KAGENT_WORD(half), KAGENT_WORD(bfloat16), KAGENT_WORD(tensor_map));
KAGENT_WORDS(FaultKind, KAGENT_WORD(build_failed), KAGENT_WORD(forbidden_op),
             KAGENT_WORD(no_custom_kernel), KAGENT_WORD(bad_launch), KAGENT_WORD(shape),
             KAGENT_WORD(dtype), KAGENT_WORD(mismatch), KAGENT_WORD(non_finite),
             KAGENT_WORD(input_modified), KAGENT_WORD(input_specific),
             KAGENT_WORD(nondeterministic), KAGENT_WORD(out_of_bounds), KAGENT_WORD(crash),
             KAGENT_WORD(timeout), KAGENT_WORD(out_of_memory), KAGENT_WORD(tampering),
             KAGENT_WORD(unsupported));
KAGENT_WORDS(Backend, KAGENT_WORD(cuda), KAGENT_WORD(cpu));
KAGENT_WORDS(Mode, KAGENT_WORD(eval), KAGENT_WORD(train));
KAGENT_WORDS(Numerics, KAGENT_WORD(strict), KAGENT_WORD(tf32), KAGENT_WORD(mixed),
             KAGENT_WORD(torch));
KAGENT_WORDS(Baselines, KAGENT_WORD(both), KAGENT_WORD(eager), KAGENT_WORD(compile));
KAGENT_WORDS(Compiler, KAGENT_WORD(automatic), KAGENT_WORD(nvrtc), KAGENT_WORD(nvcc),
             KAGENT_WORD(host));
KAGENT_WORDS(StopReason, KAGENT_WORD(target_reached), KAGENT_WORD(finished), KAGENT_WORD(turns),
             KAGENT_WORD(tokens), KAGENT_WORD(money), KAGENT_WORD(wall_clock),
             KAGENT_WORD(gpu_seconds), KAGENT_WORD(plateau), KAGENT_WORD(stuck),
             KAGENT_WORD(bad_calls), KAGENT_WORD(context_exhausted),
             KAGENT_WORD(refusal), KAGENT_WORD(replay_ended),
             KAGENT_WORD(network), KAGENT_WORD(interrupted), KAGENT_WORD(environment));
KAGENT_WORDS(ReplyEnd, KAGENT_WORD(finished), KAGENT_WORD(tool_calls), KAGENT_WORD(length),
             KAGENT_WORD(refusal), KAGENT_WORD(replay_ended), KAGENT_WORD(context_exceeded));

}  // namespace

template <typename Enum>
const char* word(Enum value) {
  for (const auto& entry : Words<Enum>::kAll) {
    if (entry.value == value) return entry.text;
  }
  KAGENT_CHECK(!"an enumerator without a word");
  return "";
}

template <typename Enum>
Result<Enum> parse_word(const std::string& text) {
  std::string known;
  for (const auto& entry : Words<Enum>::kAll) {
    if (text == entry.text) return entry.value;
    known += (known.empty() ? "" : ", ") + std::string(entry.text);
  }
  return Error{ErrorKind::usage, "\"" + base::one_line(text, 60) + "\" is none of " + known};
}

#define KAGENT_INSTANTIATE(type)         \
  template const char* word<type>(type); \
  template Result<type> parse_word<type>(const std::string&)

KAGENT_INSTANTIATE(DType);
KAGENT_INSTANTIATE(MemoryFormat);
KAGENT_INSTANTIATE(ValueOrigin);
KAGENT_INSTANTIATE(ParameterKind);
KAGENT_INSTANTIATE(FaultKind);
KAGENT_INSTANTIATE(Backend);
KAGENT_INSTANTIATE(Mode);
KAGENT_INSTANTIATE(Numerics);
KAGENT_INSTANTIATE(Baselines);
KAGENT_INSTANTIATE(Compiler);
KAGENT_INSTANTIATE(StopReason);
KAGENT_INSTANTIATE(ReplyEnd);

}  // namespace kagent::wire
