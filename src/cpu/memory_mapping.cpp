// SPDX-License-Identifier: Apache-2.0
#include "cpu/memory_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kagent::cpu {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

MemoryMapping& MemoryMapping::operator=(MemoryMapping&& other) noexcept {
  if (this != &other) {
    reset();
    address_ = std::exchange(other.address_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void MemoryMapping::reset() {
  if (address_ != nullptr) ::munmap(address_, bytes_);
  address_ = nullptr;
  bytes_ = 0;
}

Result<MemoryMapping> MemoryMapping::anonymous(std::size_t bytes, bool accessible) {
  const std::size_t whole = round_up(bytes, page_bytes());
  void* address = ::mmap(nullptr, whole, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return Error{ErrorKind::environment, "cannot map " + std::to_string(whole) +
                                             " bytes of memory: " + std::strerror(errno)};
  }
  return MemoryMapping(static_cast<unsigned char*>(address), whole);
}

Result<MemoryMapping> MemoryMapping::of_file(const sys::Fd& memory, std::int64_t bytes, Mode mode) {
  struct stat status {};
  if (bytes <= 0 || ::fstat(memory.get(), &status) != 0 || status.st_size < bytes) {
    return Error{ErrorKind::internal, "a shared arena of " + std::to_string(bytes) +
                                          " bytes came with a memory file of " +
                                          std::to_string(status.st_size)};
  }
  // Reserved with a page to spare at both ends, so that running out of an arena is a fault at once.
  const std::size_t guard = page_bytes();
  const std::size_t whole = round_up(static_cast<std::size_t>(bytes), guard);
  KAGENT_TRY(MemoryMapping range, anonymous(whole + 2 * guard, false));
  const int protection = mode == Mode::shared_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  const int kind = mode == Mode::private_copy ? MAP_PRIVATE : MAP_SHARED;
  if (::mmap(range.data() + guard, whole, protection, kind | MAP_FIXED, memory.get(), 0) ==
      MAP_FAILED) {
    return Error{ErrorKind::environment,
                 std::string("cannot map a shared arena: ") + std::strerror(errno)};
  }
  return range;
}

}  // namespace kagent::cpu
