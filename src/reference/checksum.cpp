// SPDX-License-Identifier: Apache-2.0
#include "reference/checksum.h"

#include <algorithm>
#include <cstring>

#include "reference/tensor_spec.h"

#include <ATen/ATen.h>

namespace kagent::reference {
namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
constexpr std::int64_t kChunkWords = std::int64_t{1} << 24;
constexpr std::int64_t kWord = 8;

// Polynomials modulo 2^64 in four lanes: the word's place counts, and lanes keep the CPU busy.
std::int64_t sum_on_host(const void* memory, std::int64_t bytes) {
  const auto* at = static_cast<const unsigned char*>(memory);
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::int64_t done = 0;
  for (; done + 4 * kWord <= bytes; done += 4 * kWord) {
    std::uint64_t words[4];
    std::memcpy(words, at + done, sizeof words);
    for (int lane = 0; lane < 4; ++lane) lanes[lane] = (lanes[lane] ^ words[lane]) * kOdd;
  }
  for (; done < bytes; ++done) lanes[0] = (lanes[0] ^ at[done]) * kOdd;
  for (int lane = 1; lane < 4; ++lane) lanes[0] = (lanes[0] ^ lanes[lane]) * kOdd;
  return static_cast<std::int64_t>(lanes[0]);
}

// Word times a factor of its place, summed modulo 2^64.
std::int64_t sum_on_device(void* memory, std::int64_t bytes, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().dtype(at::kLong).device(device);
  const std::int64_t words = bytes / kWord;
  const at::Tensor all = tensor_over(memory, {DType::int64, {words}, {1}}, device);
  const at::Tensor factors =
      at::arange(std::min(words, kChunkWords), options).mul_(2).add_(1).mul_(
          static_cast<std::int64_t>(kOdd));
  at::Tensor total = at::zeros({}, options);
  std::int64_t round = 1;
  for (std::int64_t at = 0; at < words; at += kChunkWords, round += 2) {
    const at::Tensor part = all.narrow(0, at, std::min(kChunkWords, words - at));
    total.add_(part.mul(factors.narrow(0, 0, part.numel())).sum(), round);
  }
  return total.item<std::int64_t>();
}

}  // namespace

Checksums::Checksums(void* base, ArenaLayout layout, at::Device device)
    : base_(base), layout_(std::move(layout)), device_(device), sums_(compute()) {}

std::vector<std::int64_t> Checksums::compute() const {
  std::vector<std::int64_t> sums;
  for (const ArenaEntry& entry : layout_.entries) {
    char* first = static_cast<char*>(base_) + entry.offset;
    // Entries begin at multiples of 256 bytes, so rounding up to words stays inside the arena.
    const std::int64_t bytes = (entry.bytes + kWord - 1) / kWord * kWord;
    sums.push_back(device_.is_cpu() ? sum_on_host(first, bytes)
                                    : sum_on_device(first, bytes, device_));
  }
  return sums;
}

std::optional<std::size_t> Checksums::first_changed() const {
  const std::vector<std::int64_t> now = compute();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] != sums_[i]) return i;
  }
  return std::nullopt;
}

}  // namespace kagent::reference
