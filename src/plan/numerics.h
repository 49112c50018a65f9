// SPDX-License-Identifier: Apache-2.0
// Which shortcuts fp32 and half-precision libraries may take. One function sets them and one reads
// them back, in the reference and in the runner alike, so that both sides of a comparison obey the
// same setting and the record says what was really in force (design §5, pitfall 27).
#pragma once

#include <string>

#include <kagent/result.h>
#include <kagent/settings.h>

namespace kagent::plan {

/// What torch's global context says; words as torch spells them.
struct NumericsInForce {
  bool matmul_tf32 = false;               // cuBLAS: fp32 matrix products in TF32
  bool cudnn_conv_tf32 = false;
  bool cudnn_rnn_tf32 = false;
  bool fp16_reduced_reduction = false;    // cuBLAS may sum fp16 products in fp16 (split-K)
  bool bf16_reduced_reduction = false;
  bool fp16_accumulation = false;
  std::string float32_matmul_precision;   // "highest", "high", "medium"

  bool operator==(const NumericsInForce&) const = default;
};

/// What `numerics` asks for. strict: IEEE fp32 and full-width sums everywhere; tf32: TF32 in
/// products and convolutions; mixed: tf32 and half-precision sums; torch: torch's own defaults
/// (convolutions in TF32, products not).
NumericsInForce wanted_numerics(Numerics numerics);

/// Reads torch's global context; no device is touched. Error where torch says that the old and the
/// new way of setting precision were mixed.
Result<NumericsInForce> numerics_in_force();

/// Sets and reads back. Error where a setting did not take.
Result<NumericsInForce> apply_numerics(Numerics numerics);

}  // namespace kagent::plan
