// SPDX-License-Identifier: Apache-2.0
#include "base/operator_table.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace kagent::base {
namespace {

TEST(OperatorTable, IsOrderedAndWithoutDoubles) {
  const auto rows = operator_table();
  ASSERT_GT(rows.size(), 300u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LT(rows[i - 1].overload, rows[i].overload);
  }
}

TEST(OperatorTable, FindsByWholeName) {
  ASSERT_NE(find_operator("aten::addmm"), nullptr);
  EXPECT_EQ(find_operator("aten::addmm")->group, OperatorGroup::gemm);
  EXPECT_EQ(find_operator("aten::add"), nullptr);  // the overload is part of the name
  EXPECT_EQ(find_operator("addmm"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
  EXPECT_EQ(find_operator("aten::zzz"), nullptr);
}

TEST(OperatorTable, HoldsNothingThatReachesOutside) {
  // By word, so that aten::fill_ or aten::reciprocal_ stay possible.
  const std::set<std::string, std::less<>> forbidden{
      "set_", "set", "resize", "resize_", "resize_as_", "from_file", "random_", "bernoulli", "bernoulli_",
      "rand", "randn", "randint", "randperm", "normal", "normal_", "uniform_", "exponential_", "multinomial",
      "dropout", "native_dropout", "rrelu_with_noise", "pin_memory", "_pin_memory", "to", "_to_cpu", "item",
      "_local_scalar_dense", "record_stream", "nonzero", "masked_select", "unique2", "_unsafe_index",
      "_unsafe_index_put", "t_", "transpose_", "squeeze_", "unsqueeze_", "as_strided_", "detach_", "swap_",
      "set_data", "_cudnn_rnn", "_index_put_impl_", "bincount", "empty_quantized"};
  for (const OperatorRow& row : operator_table()) {
    ASSERT_EQ(row.overload.substr(0, 6), "aten::");
    const std::string_view name = row.overload.substr(6, row.overload.find('.') - 6);
    EXPECT_EQ(forbidden.count(name), 0u) << row.overload;
    EXPECT_EQ(row.overload.find("out"), std::string_view::npos) << row.overload << ": an out= overload";
  }
}

TEST(OperatorTable, CountsViewsAndUninitialisedMemoryAsFree) {
  for (const char* free : {"aten::view", "aten::t", "aten::empty.memory_format", "aten::new_empty"}) {
    EXPECT_FALSE(find_operator(free)->device_work) << free;
  }
  for (const char* work : {"aten::zeros", "aten::clone", "aten::cat", "aten::mm", "aten::_to_copy"}) {
    EXPECT_TRUE(find_operator(work)->device_work) << work;
  }
}

TEST(OperatorTable, AllowsByGroup) {
  EXPECT_TRUE(is_always_allowed(OperatorGroup::view));
  EXPECT_TRUE(is_always_allowed(OperatorGroup::cast));
  EXPECT_FALSE(is_always_allowed(OperatorGroup::gemm));
  EXPECT_TRUE(is_allowed_by_name(OperatorGroup::conv));
  EXPECT_FALSE(is_allowed_by_name(OperatorGroup::elementwise));
  EXPECT_TRUE(find_operator("aten::mul.Tensor")->in_prepare);
  EXPECT_TRUE(find_operator("aten::convolution")->in_prepare);
  EXPECT_FALSE(find_operator("aten::native_batch_norm")->in_prepare);
}

}  // namespace
}  // namespace kagent::base
