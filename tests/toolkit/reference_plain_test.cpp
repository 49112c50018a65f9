// SPDX-License-Identifier: Apache-2.0
// The pure parts of the reference: layouts, budgets, patterns; and the host arena and call loop.
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "reference/arena.h"
#include "reference/budget.h"
#include "reference/call_loop.h"
#include "reference/layout.h"
#include "reference/pattern.h"

#include <gtest/gtest.h>

namespace kagent::reference {
namespace {

TensorSpec spec(std::vector<std::int64_t> shape, std::vector<std::int64_t> stride) {
  return TensorSpec{DType::float32, std::move(shape), std::move(stride)};
}

TEST(ReferenceLayout, ExtentsReachTheLastElement) {
  EXPECT_EQ(extent_bytes(spec({}, {})), 4);
  EXPECT_EQ(extent_bytes(spec({3, 5}, {5, 1})), 60);
  EXPECT_EQ(extent_bytes(spec({4, 4}, {8, 2})), (24 + 6 + 1) * 4);
  EXPECT_EQ(extent_bytes(spec({3, 0}, {1, 1})), 0);
}

TEST(ReferenceLayout, OverlapsAreFound) {
  EXPECT_TRUE(is_injective(spec({4, 6}, {1, 4})));
  EXPECT_TRUE(is_injective(spec({4, 4}, {8, 2})));
  EXPECT_TRUE(is_injective(spec({1, 7}, {0, 1})));
  EXPECT_FALSE(is_injective(spec({3, 5}, {0, 1})));
  EXPECT_FALSE(is_injective(spec({3, 5}, {2, 1})));
  EXPECT_EQ(arena_form(spec({3, 5}, {0, 1})), spec({3, 5}, {5, 1}));
  EXPECT_EQ(arena_form(spec({4, 6}, {1, 4})), spec({4, 6}, {1, 4}));
  EXPECT_EQ(arena_form(spec({100}, {9})), spec({100}, {1}));   // mostly gaps
}

TEST(ReferenceLayout, EntriesAreAligned) {
  const ArenaLayout layout = lay_out({{"a", spec({3}, {1})}, {"b", spec({65}, {1})}, {"c", spec({0}, {1})}});
  ASSERT_EQ(layout.entries.size(), 3u);
  EXPECT_EQ(layout.entries[1].offset, 256);
  EXPECT_EQ(layout.entries[2].offset, 768);
  EXPECT_EQ(layout.bytes, 768);
  EXPECT_EQ(lay_out({}).bytes, kArenaAlignment);
}

TEST(ReferenceBudget, LongSumsMayBeLessExact) {
  const double single = epsilon(DType::float32);
  EXPECT_DOUBLE_EQ(budget_for(DType::float32, 100, true).rms, 16 * single);
  EXPECT_DOUBLE_EQ(budget_for(DType::float32, 65536, true).rms, 64 * single);
  EXPECT_DOUBLE_EQ(budget_for(DType::float32, 100, false).rms, 32 * single);
  EXPECT_DOUBLE_EQ(reduction_depth({{16, 65535}, {3}}, 16 * 65535), 65535);
  EXPECT_DOUBLE_EQ(reduction_depth({{1 << 14, 1 << 14}}, 1), 1 << 20);
  EXPECT_DOUBLE_EQ(reduction_depth({}, 0), 1);
}

TEST(ReferenceBudget, HalfTypesPayForTheirRounding) {
  const Budget half = budget_for(DType::bfloat16, 100, true);
  EXPECT_DOUBLE_EQ(half.rounding, std::ldexp(1.0, -7));
  EXPECT_EQ(budget_for(DType::float32, 100, true).rounding, 0);
  EXPECT_LT(half.noise_rms, budget_for(DType::float32, 100, true).noise_rms);
  EXPECT_LT(budget_for(DType::float64, 100, true).rms, 1e-14);
  EXPECT_EQ(epsilon(DType::int64), 0);
}

TEST(ReferencePattern, SaysWhatThePlacesShare) {
  std::vector<bool> hit(100);
  EXPECT_EQ(pattern_along(hit, 0), "");
  for (int i = 63; i < 100; ++i) hit[static_cast<std::size_t>(i)] = true;
  EXPECT_EQ(pattern_along(hit, 1), "in the last 37 of dimension 1");
  EXPECT_TRUE(is_tail(pattern_along(hit, 1)));
  hit.flip();
  EXPECT_EQ(pattern_along(hit, 0), "in the first 63 of dimension 0");
  hit.assign(100, false);
  for (std::size_t i = 31; i < 100; i += 32) hit[i] = true;
  EXPECT_EQ(pattern_along(hit, 2), "at every 32nd index of dimension 2, from 31");
  hit.assign(100, false);
  hit[7] = true;
  EXPECT_EQ(pattern_along(hit, 0), "at index 7 of dimension 0");
  hit[8] = hit[9] = true;
  EXPECT_EQ(pattern_along(hit, 0), "at 7 to 9 of dimension 0");
  hit[50] = true;
  EXPECT_EQ(pattern_along(hit, 0), "");
  hit.assign(100, true);
  EXPECT_EQ(pattern_along(hit, 0), "");
  hit.assign(4, false);
  hit[3] = true;
  EXPECT_EQ(pattern_along(hit, 0), "in the last 1 of dimension 0");
}

TEST(ReferencePattern, Words) {
  EXPECT_EQ(ordinal(1) + ordinal(2) + ordinal(3) + ordinal(11) + ordinal(112) + ordinal(121),
            "1st2nd3rd11th112th121st");
  EXPECT_EQ(unravel(23, {2, 3, 4}), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(index_text({}), "[]");
  EXPECT_EQ(index_text({3, 0}), "[3, 0]");
}

TEST(ReferenceArena, ReadersCannotWrite) {
  auto arena = create_host_arena(4096, Sharing::read_only);
  ASSERT_TRUE(arena) << arena.error().message;
  static_cast<char*>((*arena)->data())[5] = 'x';   // the owner still can
  const auto fd = (*arena)->descriptor();
  ASSERT_TRUE(fd) << fd.error().message;
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0), MAP_FAILED);
  EXPECT_EQ(pwrite(fd->get(), "y", 1, 0), -1);
  EXPECT_NE(ftruncate(fd->get(), 0), 0);
  char seen = 0;
  EXPECT_EQ(pread(fd->get(), &seen, 1, 5), 1);
  EXPECT_EQ(seen, 'x');
}

TEST(ReferenceArena, WritersShareTheMemory) {
  auto arena = create_host_arena(4096, Sharing::read_write);
  ASSERT_TRUE(arena);
  const auto fd = (*arena)->descriptor();
  ASSERT_TRUE(fd);
  EXPECT_EQ(pwrite(fd->get(), "y", 1, 9), 1);
  EXPECT_EQ(static_cast<char*>((*arena)->data())[9], 'y');
  EXPECT_NE(ftruncate(fd->get(), 0), 0);   // would end us by SIGBUS
}

TEST(ReferenceCallLoop, CallsOnlyWhenTold) {
  // A semaphore, as docs/protocol.md asks: "done" and the next "ready" must not merge into one read.
  const sys::Fd go(eventfd(0, EFD_CLOEXEC)), signal(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  int prepared = 0, called = 0;
  std::thread worker([&] {
    const CallLoop loop{go.get(), signal.get(), 3, 1 << 16};
    EXPECT_TRUE(run(loop, [&] { ++prepared; }, [&] { ++called; }));
  });
  for (int i = 0; i < 3; ++i) {
    eventfd_t count = 0;
    EXPECT_EQ(eventfd_read(signal.get(), &count), 0);
    EXPECT_EQ(prepared, i + 1);
    EXPECT_EQ(called, i);
    EXPECT_EQ(eventfd_write(go.get(), 1), 0);
    EXPECT_EQ(eventfd_read(signal.get(), &count), 0);
    EXPECT_EQ(called, i + 1);
  }
  worker.join();
}

}  // namespace
}  // namespace kagent::reference
