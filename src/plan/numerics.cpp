// SPDX-License-Identifier: Apache-2.0
#include "plan/numerics.h"

#include <ATen/Context.h>

namespace kagent::plan {
namespace {

bool reduces(at::CuBLASReductionOption option) {
  return option == at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
}

const char* precision_word(at::Float32MatmulPrecision precision) {
  switch (precision) {
    case at::Float32MatmulPrecision::HIGHEST: return "highest";
    case at::Float32MatmulPrecision::HIGH: return "high";
    case at::Float32MatmulPrecision::MEDIUM: return "medium";
  }
  return "unknown";
}

// Only the old switches are used: the new ones (fp32_precision) do not reach cuDNN, and mixing the
// two makes torch throw when it reads them.
void set(const NumericsInForce& wanted) {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(wanted.matmul_tf32);
  context.setAllowTF32CuDNN(wanted.cudnn_conv_tf32);
  context.setAllowFP16ReductionCuBLAS(wanted.fp16_reduced_reduction);
  context.setAllowBF16ReductionCuBLAS(wanted.bf16_reduced_reduction);
  context.setAllowFP16AccumulationCuBLAS(wanted.fp16_accumulation);
  context.setAllowFP16BF16ReductionMathSDP(false);
  context.setAllowFP16ReductionCPU(false);
}

}  // namespace

NumericsInForce wanted_numerics(Numerics numerics) {
  const bool tf32 = numerics == Numerics::tf32 || numerics == Numerics::mixed;
  const bool half_sums = numerics == Numerics::mixed || numerics == Numerics::torch;
  NumericsInForce wanted;
  wanted.matmul_tf32 = tf32;
  wanted.cudnn_conv_tf32 = wanted.cudnn_rnn_tf32 = tf32 || numerics == Numerics::torch;
  wanted.fp16_reduced_reduction = wanted.bf16_reduced_reduction = half_sums;
  wanted.float32_matmul_precision = tf32 ? "high" : "highest";
  return wanted;
}

Result<NumericsInForce> numerics_in_force() {
  const at::Context& context = at::globalContext();
  NumericsInForce state;
  try {
    state.matmul_tf32 = context.allowTF32CuBLAS();
    state.cudnn_conv_tf32 = context.allowTF32CuDNN(at::Float32Op::CONV);
    state.cudnn_rnn_tf32 = context.allowTF32CuDNN(at::Float32Op::RNN);
    state.fp16_reduced_reduction = reduces(context.allowFP16ReductionCuBLAS());
    state.bf16_reduced_reduction = reduces(context.allowBF16ReductionCuBLAS());
    state.fp16_accumulation = context.allowFP16AccumulationCuBLAS();
    state.float32_matmul_precision = precision_word(context.float32MatmulPrecision());
  } catch (const c10::Error& error) {
    return Error{ErrorKind::environment,
                 std::string("read numerics: ") + error.what_without_backtrace()};
  }
  return state;
}

Result<NumericsInForce> apply_numerics(Numerics numerics) {
  const NumericsInForce wanted = wanted_numerics(numerics);
  set(wanted);
  KAGENT_TRY(NumericsInForce state, numerics_in_force());
  if (!(state == wanted)) {
    return Error{ErrorKind::environment,
                 "numerics: a precision setting did not take; unset NVIDIA_TF32_OVERRIDE and "
                 "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE, and use torch 2.11"};
  }
  return state;
}

}  // namespace kagent::plan
