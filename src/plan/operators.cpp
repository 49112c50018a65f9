// SPDX-License-Identifier: Apache-2.0
#include "plan/operators.h"

#include <cstdint>
#include <string_view>

namespace kagent::plan {
namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 40;

/// Bytes of the storage that a view with these sizes and strides needs; negative: beyond reason.
std::int64_t reach_bytes(const std::vector<std::int64_t>& size,
                         const std::vector<std::int64_t>& stride, std::int64_t offset,
                         std::int64_t element_bytes) {
  if (size.size() != stride.size() || offset < 0) return -1;
  std::int64_t last = offset;
  bool empty = false;
  for (std::size_t i = 0; i < size.size(); ++i) {
    std::int64_t step = 0;
    if (size[i] < 0 || stride[i] < 0) return -1;
    if (size[i] == 0) empty = true;
    if (size[i] <= 1) continue;
    if (__builtin_mul_overflow(size[i] - 1, stride[i], &step) ||
        __builtin_add_overflow(last, step, &last) || last >= kMaxTensorBytes) {
      return -1;
    }
  }
  return empty ? 0 : (last + 1) * element_bytes;
}

/// (Tensor self, SymInt[] size, SymInt[] stride, [SymInt? storage_offset]): as_strided and its kin.
std::optional<std::string> check_strided_view(const torch::jit::Stack& stack) {
  const at::Tensor& self = stack[0].toTensor();
  std::int64_t offset = self.storage_offset();
  if (stack.size() > 3 && stack[3].isInt()) offset = stack[3].toInt();
  const auto element = static_cast<std::int64_t>(self.element_size());
  const std::int64_t reach =
      reach_bytes(stack[1].toIntVector(), stack[2].toIntVector(), offset, element);
  const auto storage = static_cast<std::int64_t>(self.storage().nbytes());
  if (reach >= 0 && reach <= storage) return std::nullopt;
  return reach < 0 ? std::string("has sizes, strides or an offset below 0 or beyond 1 TiB")
                   : "reaches " + std::to_string(reach) + " bytes into a storage of " +
                         std::to_string(storage);
}

std::optional<std::string> check_size(const std::vector<std::int64_t>& size) {
  std::int64_t elements = 1;
  for (const std::int64_t length : size) {
    if (length < 0) return "makes a tensor with a size below 0";
    if (__builtin_mul_overflow(elements, length, &elements) || elements > kMaxTensorBytes) {
      return "makes a tensor of more than 1 TiB";
    }
  }
  return std::nullopt;
}

Result<Operator> look_up(const base::OperatorRow& row) {
  const std::size_t dot = row.overload.find('.');
  const std::string_view overload =
      dot == std::string_view::npos ? std::string_view() : row.overload.substr(dot + 1);
  const auto handle = c10::Dispatcher::singleton().findSchema(
      {std::string(row.overload.substr(0, dot)), std::string(overload)});
  if (!handle) {
    return Error{ErrorKind::environment, "this LibTorch has no " + std::string(row.overload) +
                                             "; kagent is tested with torch 2.11"};
  }
  return Operator{*handle, &row};
}

}  // namespace

Result<std::optional<Operator>> resolve_operator(const std::string& overload) {
  const base::OperatorRow* row = base::find_operator(overload);
  if (row == nullptr) return std::optional<Operator>();
  KAGENT_TRY(Operator found, look_up(*row));
  return std::optional<Operator>(found);
}

std::vector<std::string> resolve_all_operators() {
  std::vector<std::string> missing;
  for (const base::OperatorRow& row : base::operator_table()) {
    if (!look_up(row)) missing.emplace_back(row.overload);
  }
  return missing;
}

std::optional<std::string> check_arguments(const base::OperatorRow& row,
                                           const torch::jit::Stack& stack) {
  if (row.rule == base::ArgumentRule::strided_view) return check_strided_view(stack);
  if (row.rule == base::ArgumentRule::factory_bytes) {
    return check_size(stack[static_cast<std::size_t>(row.position)].toIntVector());
  }
  return std::nullopt;  // the policy has checked the rest on the plan
}

}  // namespace kagent::plan
