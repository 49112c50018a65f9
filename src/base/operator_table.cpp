// SPDX-License-Identifier: Apache-2.0
#include "base/operator_table.h"

#include <kagent/result.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kagent::base {
namespace {

struct GroupNames {
  OperatorGroup group;
  std::string_view names;  // overloads without "aten::", between white space
};

// What make_fx of torch 2.11 emits. Composite operators are left out, since it decomposes them.
// Never here: what takes a storage (set_), a file (from_file), random numbers (dropout), other
// devices or pinned memory, what resizes (resize_) or changes a tensor's own shape in place (t_),
// skips bounds checks (_unsafe_index), or whose result's size depends on data (nonzero).
constexpr GroupNames kGroups[] = {
    {OperatorGroup::view, R"(
     view view.dtype _unsafe_view _reshape_alias t transpose.int permute expand slice.Tensor
     select.int unsqueeze squeeze squeeze.dim squeeze.dims as_strided alias detach lift_fresh
     split.Tensor split_with_sizes unbind.int unfold diagonal view_as_real view_as_complex
     unsafe_split.Tensor unsafe_split_with_sizes)"},
    {OperatorGroup::factory, R"(
     empty.memory_format empty_like empty_strided new_empty new_empty_strided zeros zeros_like
     new_zeros ones ones_like new_ones full full_like new_full arange arange.start
     arange.start_step eye eye.m linspace scalar_tensor)"},
    {OperatorGroup::fill, R"(
     fill_.Scalar fill_.Tensor fill.Scalar fill.Tensor zero_)"},
    {OperatorGroup::copy, R"(
     copy_ clone cat stack constant_pad_nd lift_fresh_copy)"},
    {OperatorGroup::cast, R"(
     _to_copy)"},
    {OperatorGroup::gemm, R"(
     mm mm.dtype addmm addmm.dtype addmm_ bmm bmm.dtype baddbmm baddbmm.dtype baddbmm_ addbmm mv
     addmv dot vdot _addmm_activation _int_mm _scaled_mm _grouped_mm)"},
    {OperatorGroup::conv, R"(
     convolution _convolution cudnn_convolution cudnn_convolution_relu cudnn_convolution_add_relu
     cudnn_convolution_transpose _conv_depthwise2d conv_depthwise3d)"},
    {OperatorGroup::elementwise, R"(
     add.Tensor add.Scalar add_.Tensor add_.Scalar sub.Tensor sub.Scalar sub_.Tensor sub_.Scalar
     rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar mul_.Tensor mul_.Scalar div.Tensor div.Scalar
     div_.Tensor div_.Scalar div.Tensor_mode div.Scalar_mode floor_divide floor_divide.Scalar
     remainder.Tensor remainder.Scalar fmod.Tensor fmod.Scalar pow.Tensor_Scalar
     pow.Tensor_Tensor pow.Scalar pow_.Scalar neg neg_ abs abs_ sign reciprocal reciprocal_ sqrt
     sqrt_ rsqrt rsqrt_ exp exp_ exp2 expm1 log log2 log10 log1p log_ sin cos tan asin acos atan
     atan2 sinh cosh asinh acosh atanh erf erfc erfinv lgamma digamma floor ceil round
     round.decimals trunc frac hypot logaddexp logaddexp2 xlogy.Tensor addcmul addcdiv addcmul_
     addcdiv_ lerp.Scalar lerp.Tensor nan_to_num copysign.Tensor maximum minimum fmax fmin clamp
     clamp.Tensor clamp_ clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor clamp_min_
     clamp_min_.Tensor clamp_max_ eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar
     le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar isnan isinf signbit heaviside
     bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor
     bitwise_xor.Scalar bitwise_not bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar
     bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar logical_and logical_or
     logical_xor logical_not where.self masked_fill.Scalar masked_fill.Tensor masked_fill_.Scalar
     masked_fill_.Tensor relu relu_ gelu gelu_ silu silu_ sigmoid sigmoid_ tanh tanh_ leaky_relu
     leaky_relu_ elu elu_ celu softplus softshrink hardshrink hardtanh hardtanh_ hardswish
     hardswish_ hardsigmoid hardsigmoid_ mish mish_ log_sigmoid_forward threshold threshold_ glu
     _prelu_kernel complex polar)"},
    {OperatorGroup::reduction, R"(
     sum sum.dim_IntList mean mean.dim prod prod.dim_int max max.dim min min.dim amax amin
     aminmax argmax argmin all all.dim all.dims any any.dim any.dims var.correction
     var_mean.correction std.correction std_mean.correction logsumexp norm.ScalarOpt_dim
     norm.Scalar linalg_vector_norm count_nonzero nansum median median.dim dist trace
     _cdist_forward)"},
    {OperatorGroup::softmax, R"(
     _softmax _log_softmax _safe_softmax)"},
    {OperatorGroup::scan, R"(
     cumsum cumprod cummax cummin logcumsumexp sort sort.stable topk kthvalue)"},
    {OperatorGroup::shape, R"(
     flip roll rot90 repeat tril triu diag_embed diagonal_copy block_diag pixel_shuffle
     pixel_unshuffle channel_shuffle im2col col2im reflection_pad1d reflection_pad2d
     reflection_pad3d replication_pad1d replication_pad2d replication_pad3d)"},
    {OperatorGroup::index, R"(
     index.Tensor index_select gather embedding take index_add index_add_ index_copy index_copy_
     index_fill.int_Scalar index_put index_put_ scatter.src scatter.value scatter_.src
     scatter_.value scatter_add scatter_add_ scatter_reduce.two masked_scatter
     searchsorted.Tensor bucketize.Tensor slice_scatter select_scatter diagonal_scatter)"},
    {OperatorGroup::normalization, R"(
     native_batch_norm _native_batch_norm_legit_no_training cudnn_batch_norm native_layer_norm
     native_group_norm _fused_rms_norm)"},
    {OperatorGroup::pooling, R"(
     max_pool2d_with_indices max_pool3d_with_indices avg_pool2d avg_pool3d _adaptive_avg_pool2d
     _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d)"},
    {OperatorGroup::resample, R"(
     upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
     _upsample_nearest_exact2d upsample_linear1d upsample_bilinear2d upsample_bicubic2d
     upsample_trilinear3d grid_sampler_2d grid_sampler_3d affine_grid_generator)"},
    {OperatorGroup::loss, R"(
     mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
     nll_loss_forward nll_loss2d_forward soft_margin_loss multi_margin_loss)"},
    {OperatorGroup::attention, R"(
     _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention
     _scaled_dot_product_cudnn_attention _scaled_dot_product_flash_attention_for_cpu _trilinear)"},
    {OperatorGroup::recurrent, R"(
     _thnn_fused_lstm_cell _thnn_fused_gru_cell)"},
};

struct RuleRow {
  std::string_view name;
  ArgumentRule rule;
  int position;
};

constexpr RuleRow kRules[] = {
    {"as_strided", ArgumentRule::strided_view, 0},
    {"_reshape_alias", ArgumentRule::strided_view, 0},
    {"empty.memory_format", ArgumentRule::factory_bytes, 0},
    {"empty_strided", ArgumentRule::factory_bytes, 0},
    {"zeros", ArgumentRule::factory_bytes, 0},
    {"ones", ArgumentRule::factory_bytes, 0},
    {"full", ArgumentRule::factory_bytes, 0},
    {"new_empty", ArgumentRule::factory_bytes, 1},
    {"new_empty_strided", ArgumentRule::factory_bytes, 1},
    {"new_zeros", ArgumentRule::factory_bytes, 1},
    {"new_ones", ArgumentRule::factory_bytes, 1},
    {"new_full", ArgumentRule::factory_bytes, 1},
    {"native_batch_norm", ArgumentRule::no_running_update, 5},
    {"cudnn_batch_norm", ArgumentRule::no_running_update, 5},
    {"_scaled_dot_product_flash_attention", ArgumentRule::must_be_zero, 3},
    {"_scaled_dot_product_flash_attention_for_cpu", ArgumentRule::must_be_zero, 3},
    {"_scaled_dot_product_efficient_attention", ArgumentRule::must_be_zero, 5},
    {"_scaled_dot_product_cudnn_attention", ArgumentRule::must_be_zero, 5},
};

struct PinRow {
  std::string_view name;
  int position;
};

/// Where pin_memory stands.
constexpr PinRow kPinMemory[] = {
    {"empty.memory_format", 4}, {"empty_like", 4}, {"empty_strided", 5}, {"new_empty", 5},
    {"new_empty_strided", 6}, {"zeros", 4}, {"zeros_like", 4}, {"new_zeros", 5}, {"ones", 4},
    {"ones_like", 4}, {"new_ones", 5}, {"full", 5}, {"full_like", 5}, {"new_full", 6},
    {"arange", 4}, {"arange.start", 5}, {"arange.start_step", 6}, {"eye", 4}, {"eye.m", 5},
    {"linspace", 6}, {"scalar_tensor", 4}, {"_to_copy", 4},
};

bool is_in_prepare(OperatorGroup group) { return group <= OperatorGroup::index; }

/// Uninitialised memory and views run nothing on the device.
bool is_device_work(OperatorGroup group, std::string_view name) {
  if (group == OperatorGroup::view) return false;
  return group != OperatorGroup::factory || name.find("empty") == std::string_view::npos;
}

struct Table {
  std::vector<std::string> names;  // storage of the rows' overloads
  std::vector<OperatorRow> rows;
};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \n";
  for (std::size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpace, end);
  }
  return words;
}

std::vector<OperatorRow> make_rows() {
  std::vector<OperatorRow> rows;
  for (const GroupNames& group : kGroups) {
    for (const std::string_view name : words_of(group.names)) {
      rows.push_back({name, group.group, is_in_prepare(group.group),
                      is_device_work(group.group, name), ArgumentRule::none, -1, -1});
    }
  }
  const auto row_of = [&](std::string_view name) -> OperatorRow& {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const OperatorRow& row) { return row.overload == name; });
    KAGENT_CHECK(found != rows.end());
    return *found;
  };
  for (const RuleRow& rule : kRules) {
    OperatorRow& row = row_of(rule.name);
    row.rule = rule.rule;
    row.position = rule.position;
  }
  for (const PinRow& pin : kPinMemory) row_of(pin.name).pin_memory = pin.position;
  return rows;
}

Table make_table() {
  Table table;
  table.rows = make_rows();
  table.names.reserve(table.rows.size());  // the rows point into the strings
  for (OperatorRow& row : table.rows) {
    row.overload = table.names.emplace_back("aten::" + std::string(row.overload));
  }
  std::sort(table.rows.begin(), table.rows.end(),
            [](const OperatorRow& a, const OperatorRow& b) { return a.overload < b.overload; });
  return table;
}

}  // namespace

std::span<const OperatorRow> operator_table() {
  static const Table table = make_table();
  return table.rows;
}

const OperatorRow* find_operator(std::string_view overload) {
  const auto rows = operator_table();
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), overload,
      [](const OperatorRow& row, std::string_view name) { return row.overload < name; });
  return found != rows.end() && found->overload == overload ? &*found : nullptr;
}

bool is_always_allowed(OperatorGroup group) { return group <= OperatorGroup::cast; }

bool is_allowed_by_name(OperatorGroup group) {
  return group == OperatorGroup::gemm || group == OperatorGroup::conv;
}

const char* word(OperatorGroup group) {
  switch (group) {
    case OperatorGroup::view: return "view";
    case OperatorGroup::factory: return "factory";
    case OperatorGroup::fill: return "fill";
    case OperatorGroup::copy: return "copy";
    case OperatorGroup::cast: return "cast";
    case OperatorGroup::gemm: return "gemm";
    case OperatorGroup::conv: return "conv";
    case OperatorGroup::elementwise: return "elementwise";
    case OperatorGroup::reduction: return "reduction";
    case OperatorGroup::softmax: return "softmax";
    case OperatorGroup::scan: return "scan";
    case OperatorGroup::shape: return "shape";
    case OperatorGroup::index: return "index";
    case OperatorGroup::normalization: return "normalization";
    case OperatorGroup::pooling: return "pooling";
    case OperatorGroup::resample: return "resample";
    case OperatorGroup::loss: return "loss";
    case OperatorGroup::attention: return "attention";
    case OperatorGroup::recurrent: return "recurrent";
  }
  return "";
}

}  // namespace kagent::base
