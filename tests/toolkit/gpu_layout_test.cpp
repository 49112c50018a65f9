// SPDX-License-Identifier: Apache-2.0
// Places of tensors in arenas, and TMA descriptors as far as they need no driver.
#include <string>
#include <variant>

#include "gpu/arena_layout.h"
#include "gpu/tensor_map.h"

#include <gtest/gtest.h>

namespace kagent::gpu {
namespace {

TensorSpec spec(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> stride) {
  return {dtype, std::move(shape), std::move(stride)};
}

TEST(ArenaLayout, TensorsStandOnMultiplesOf256) {
  const ArenaLayout layout = place({{"a", spec(DType::float32, {3, 5}, {5, 1})},
                                    {"b", spec(DType::float16, {1000}, {1})},
                                    {"c", spec(DType::float32, {0, 4}, {4, 1})},
                                    {"d", spec(DType::boolean, {}, {})}});
  ASSERT_EQ(layout.entries.size(), 4u);
  EXPECT_EQ(layout.entries[0].bytes, 60);
  EXPECT_EQ(layout.entries[1].offset, 256);
  EXPECT_EQ(layout.entries[1].bytes, 2000);
  EXPECT_EQ(layout.entries[2].offset, 256 + 2048);
  EXPECT_EQ(layout.entries[2].bytes, 0);
  EXPECT_EQ(layout.entries[3].offset, 256 + 2048);
  EXPECT_EQ(layout.entries[3].bytes, 1);
  EXPECT_EQ(layout.bytes, 256 + 2048 + 256);
}

TEST(ArenaLayout, AnEmptyArenaStillHasMemory) { EXPECT_EQ(place({}).bytes, 256); }

TEST(ArenaLayout, ExtentFollowsStrides) {
  EXPECT_EQ(storage_bytes(spec(DType::float32, {4, 4}, {1, 4})), 64);
  EXPECT_EQ(storage_bytes(spec(DType::float32, {4, 4}, {0, 1})), 16);      // expanded
  EXPECT_EQ(storage_bytes(spec(DType::float32, {2, 3}, {10, 2})), 60);     // with holes
}

TensorMap box(std::vector<std::int64_t> sizes) {
  TensorMap map;
  map.box = std::move(sizes);
  map.element_strides.assign(map.box.size(), 1);
  return map;
}

TEST(TensorMaps, InnermostComesFirst) {
  const auto result = translate(box({64, 32}), spec(DType::float16, {1024, 256}, {256, 1}));
  ASSERT_TRUE(std::holds_alternative<TiledMap>(result)) << std::get<std::string>(result);
  const auto& tiled = std::get<TiledMap>(result);
  EXPECT_EQ(tiled.rank, 2u);
  EXPECT_EQ(tiled.sizes[0], 256u);
  EXPECT_EQ(tiled.sizes[1], 1024u);
  EXPECT_EQ(tiled.strides[0], 512u);
  EXPECT_EQ(tiled.box[0], 64u);
  EXPECT_EQ(tiled.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
}

TEST(TensorMaps, StrideOfASingleRowIsFree) {
  const auto result = translate(box({5, 1}), spec(DType::float32, {1, 5}, {5, 1}));
  ASSERT_TRUE(std::holds_alternative<TiledMap>(result)) << std::get<std::string>(result);
  EXPECT_EQ(std::get<TiledMap>(result).strides[0], 32u);
}

TEST(TensorMaps, RefusalsSayWhy) {
  const auto words = [](const TensorMap& map, const TensorSpec& tensor) {
    const auto result = translate(map, tensor);
    const auto* text = std::get_if<std::string>(&result);
    return text == nullptr ? "accepted" : *text;
  };
  const TensorSpec matrix = spec(DType::float32, {8, 8}, {8, 1});
  EXPECT_EQ(words(box({8}), matrix), "tensor map: box has 1 dimensions, the tensor 2");
  EXPECT_EQ(words(box({8, 8}), spec(DType::float32, {8, 8}, {1, 8})),
            "tensor map: the innermost dimension is not contiguous");
  EXPECT_NE(words(box({5, 5}), spec(DType::float32, {5, 5}, {5, 1})).find("no multiple of 16"),
            std::string::npos);
  EXPECT_NE(words(box({8, 300}), matrix).find("not in 1..256"), std::string::npos);
  EXPECT_NE(words(box({8, 8}), spec(DType::complex64, {8, 8}, {8, 1})).find("complex"),
            std::string::npos);
  TensorMap odd = box({8, 8});
  odd.swizzle = "96B";
  EXPECT_EQ(words(odd, matrix), "tensor map: no swizzle '96B'");
  EXPECT_NE(words(box({8, 1, 1, 1, 1, 1}), spec(DType::float32, {1, 1, 1, 1, 1, 8}, {8, 8, 8, 8, 8, 1}))
                .find("1 to 5"),
            std::string::npos);
  // Sizes that would overflow a product.
  EXPECT_NE(words(box({8, 1, 1, 1}),
                  spec(DType::float32, {1, 1LL << 32, 1LL << 32, 8}, {1, 1LL << 37, 1LL << 37, 1})),
            "accepted");
}

}  // namespace
}  // namespace kagent::gpu
