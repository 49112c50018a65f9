// SPDX-License-Identifier: Apache-2.0
#include "builder/elf.h"

#include <elf.h>

#include <cstring>

namespace kagent::builder {
namespace {

constexpr std::size_t kMaxImage = 256u << 20;
constexpr std::size_t kMaxNames = 64u << 20;  // bytes of symbol names in all

/// The structure at `offset`, copied; empty where the bytes end before it does.
template <typename T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::optional<std::string_view> text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(offset, end - offset);
}

}  // namespace

std::optional<ElfFile> ElfFile::read(std::string_view image) {
  ElfFile file;
  if (image.size() > kMaxImage || !file.read_sections(image)) return std::nullopt;
  for (const ElfSection& section : file.sections_) {
    if (section.type == SHT_SYMTAB && !file.read_symbols(section)) return std::nullopt;
  }
  if (file.symbols_.empty()) {  // a stripped shared object has only the dynamic table
    for (const ElfSection& section : file.sections_) {
      if (section.type == SHT_DYNSYM && !file.read_symbols(section)) return std::nullopt;
    }
  }
  return file;
}

bool ElfFile::read_sections(std::string_view image) {
  const auto header = at<Elf64_Ehdr>(image, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum) {
    return false;
  }
  machine_ = header->e_machine;
  std::vector<std::uint32_t> names;
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    const std::uint64_t offset = header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr);
    const auto raw = at<Elf64_Shdr>(image, offset);
    if (!raw || offset < header->e_shoff) return false;
    ElfSection section;
    section.type = raw->sh_type;
    section.link = raw->sh_link;
    section.size = raw->sh_size;
    if (raw->sh_type != SHT_NOBITS && raw->sh_type != SHT_NULL) {
      if (raw->sh_offset > image.size() || raw->sh_size > image.size() - raw->sh_offset) return false;
      section.bytes = image.substr(raw->sh_offset, raw->sh_size);
    }
    names.push_back(raw->sh_name);
    sections_.push_back(section);
  }
  const std::string_view table = sections_[header->e_shstrndx].bytes;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const auto name = text_at(table, names[i]);
    if (!name) return false;
    sections_[i].name = std::string(*name);
  }
  return true;
}

bool ElfFile::read_symbols(const ElfSection& table) {
  if (table.link >= sections_.size() || table.bytes.size() % sizeof(Elf64_Sym) != 0) return false;
  const std::string_view names = sections_[table.link].bytes;
  std::size_t name_bytes = 0;
  for (std::size_t offset = 0; offset < table.bytes.size(); offset += sizeof(Elf64_Sym)) {
    const auto raw = at<Elf64_Sym>(table.bytes, offset);
    const auto name = raw ? text_at(names, raw->st_name) : std::nullopt;
    if (!name || (name_bytes += name->size()) > kMaxNames) return false;
    ElfSymbol symbol;
    symbol.name = std::string(*name);
    symbol.type = ELF64_ST_TYPE(raw->st_info);
    symbol.binding = ELF64_ST_BIND(raw->st_info);
    symbol.section = raw->st_shndx;
    symbol.value = raw->st_value;
    symbol.size = raw->st_size;
    symbols_.push_back(std::move(symbol));
  }
  return true;
}

const ElfSection* ElfFile::section(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace kagent::builder
