// SPDX-License-Identifier: Apache-2.0
// Just enough ELF to look into images that came of hostile source. Every offset is checked; nothing
// is trusted to be aligned, sorted or terminated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::builder {

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;     // SHT_*
  std::uint32_t link = 0;
  std::uint64_t size = 0;     // bytes, also of SHT_NOBITS
  std::string_view bytes;     // of the image; empty for SHT_NOBITS
};

struct ElfSymbol {
  std::string name;
  std::uint8_t type = 0;      // STT_*
  std::uint8_t binding = 0;   // STB_*
  std::uint16_t section = 0;  // 0: undefined
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

/// `image` must outlive the file.
class ElfFile {
 public:
  /// Empty where the image is no well-formed 64-bit little-endian ELF file of at most 256 MiB.
  static std::optional<ElfFile> read(std::string_view image);

  std::uint16_t machine() const { return machine_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }

  const ElfSection* section(std::string_view name) const;

 private:
  bool read_sections(std::string_view image);
  bool read_symbols(const ElfSection& table);

  std::uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace kagent::builder
