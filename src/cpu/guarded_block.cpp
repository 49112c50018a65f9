// SPDX-License-Identifier: Apache-2.0
#include "cpu/guarded_block.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace kagent::cpu {
namespace {

/// Two pages of canaries. They differ from byte to byte, so that a kernel which copies its
/// neighbour is seen too.
const std::vector<unsigned char>& canaries() {
  static const std::vector<unsigned char> pattern = [] {
    std::vector<unsigned char> bytes(2 * page_bytes());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<unsigned char>(0xC5u ^ (i * 0x9Du) ^ (i >> 8));
    }
    return bytes;
  }();
  return pattern;
}

/// Whether some byte changed, and the first and last of them.
bool find_changes(const unsigned char* where, std::size_t bytes, std::size_t& first,
                  std::size_t& last) {
  const unsigned char* expected = canaries().data();
  if (std::memcmp(where, expected, bytes) == 0) return false;
  first = bytes;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (where[i] == expected[i]) continue;
    if (first == bytes) first = i;
    last = i;
  }
  return true;
}

}  // namespace

std::size_t GuardedBlock::rear_bytes() const {
  return round_up(bytes_, page_bytes()) - bytes_ + page_bytes();
}

Result<GuardedBlock> GuardedBlock::create(std::size_t bytes, std::uint8_t pattern) {
  const std::size_t page = page_bytes();
  KAGENT_TRY(MemoryMapping mapping,
             MemoryMapping::anonymous(round_up(bytes, page) + 4 * page, false));
  unsigned char* usable = mapping.data() + page;
  if (::mprotect(usable, mapping.bytes() - 2 * page, PROT_READ | PROT_WRITE) != 0) {
    return Error{ErrorKind::environment, std::string("cannot use a block of ") +
                                             std::to_string(bytes) +
                                             " bytes: " + std::strerror(errno)};
  }
  GuardedBlock block(std::move(mapping), bytes);
  std::memcpy(usable, canaries().data(), page);
  std::memset(block.data(), pattern, bytes);
  std::memcpy(block.data() + bytes, canaries().data(), block.rear_bytes());
  return block;
}

std::optional<Overrun> GuardedBlock::check() const {
  const std::size_t page = page_bytes();
  std::size_t first = 0;
  std::size_t last = 0;
  if (find_changes(data() + bytes_, rear_bytes(), first, last)) {
    return Overrun{data(), bytes_, false, first, last};
  }
  if (find_changes(data() - page, page, first, last)) {
    return Overrun{data(), bytes_, true, page - 1 - last, page - 1 - first};
  }
  return std::nullopt;
}

void GuardedBlock::make_read_only() const {
  const std::size_t page = page_bytes();
  // What is left writable when this fails is checked by the canaries as before.
  (void)::mprotect(mapping_.data() + page, mapping_.bytes() - 2 * page, PROT_READ);
}

}  // namespace kagent::cpu
