// SPDX-License-Identifier: Apache-2.0
#include "builder/cubin_check.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "base/text.h"
#include "builder/parameters.h"
#include "builder/ptx_check.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

constexpr std::uint16_t kCudaMachine = 190;

Fault refuse(const std::string& source, std::string message, std::string hint) {
  Fault fault;
  fault.kind = FaultKind::forbidden_op;
  fault.at.file = source;
  fault.message = source + ": " + std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

Fault persistent(const std::string& source, const std::string& symbol) {
  if (symbol.rfind("$str", 0) == 0 || symbol.rfind("__unnamed", 0) == 0) {
    return refuse(source, "a string literal lives in device memory that outlasts a call",
                  "remove printf and string literals from the kernels (assert is compiled out)");
  }
  const std::string name = base::one_line(demangle(symbol), 120);
  return refuse(source, fmt::format("'{}' is device data that outlasts a call", name),
                "pass a tensor instead; a table of constants belongs into __constant__ at file "
                "scope, or into plain const locals");
}

std::optional<Fault> check_data(const ElfFile& cubin, const std::string& source) {
  const ElfSection* text = nullptr;
  for (const ElfSection& section : cubin.sections()) {
    if (section.name != ".nv_debug_ptx_txt") continue;
    if (text != nullptr) return refuse(source, "the image holds its PTX twice", "");
    text = &section;
  }
  if (text == nullptr) return refuse(source, "the image does not hold its PTX", "");
  if (const std::string name = reachable_global(text->bytes); !name.empty()) {
    return persistent(source, name);
  }
  if (takes_address_of_constants(text->bytes)) {
    return refuse(source, "a kernel takes the address of a __constant__ variable",
                  "index it by name; do not mix its pointer with pointers to tensors");
  }
  return std::nullopt;
}

std::optional<Fault> check_calls(const ElfFile& cubin, const std::string& source) {
  for (const ElfSymbol& symbol : cubin.symbols()) {
    if (symbol.section != SHN_UNDEF || symbol.name.empty()) continue;
    if (symbol.name.rfind(".nv.reservedSmem", 0) == 0) continue;
    const std::string name = base::one_line(demangle(symbol.name), 120);
    if (name == "malloc" || name == "free" || name.rfind("__cuda_syscall_mc", 0) == 0) {
      return refuse(source, "a kernel uses the device heap (malloc, free, new, delete)",
                    "allocate a tensor in forward and pass it");
    }
    if (name == "vprintf" || name == "__assertfail") {
      return refuse(source, fmt::format("a kernel calls {}", name == "vprintf" ? "printf" : "assert"),
                    "remove it before evaluating; print in ordinary Python runs");
    }
    if (name.rfind("cuda", 0) == 0 || name.rfind("__cuda", 0) == 0) {
      return refuse(source, fmt::format("a kernel calls the device runtime ({})", name),
                    "kernels cannot launch kernels; launch each from forward");
    }
    return refuse(source, fmt::format("'{}' is used but nowhere defined", name),
                  "each source is compiled alone: put shared device functions into a header under "
                  "kernels/");
  }
  return std::nullopt;
}

struct Attribute {
  std::uint8_t code = 0;
  std::string_view data;
};

/// Entries of a .nv.info section: format, attribute, then 2 bytes that are a value or a length.
std::vector<Attribute> attributes(std::string_view bytes) {
  std::vector<Attribute> result;
  for (std::size_t at = 0; at + 4 <= bytes.size();) {
    const auto format = static_cast<std::uint8_t>(bytes[at]);
    Attribute attribute;
    attribute.code = static_cast<std::uint8_t>(bytes[at + 1]);
    std::uint16_t length = 0;
    std::memcpy(&length, bytes.data() + at + 2, 2);
    at += 4;
    if (format == 4) {  // a value of its own size follows
      if (length > bytes.size() - at) break;
      attribute.data = bytes.substr(at, length);
      at += length;
    }
    result.push_back(attribute);
  }
  return result;
}

}  // namespace

std::optional<Fault> check_cubin(const ElfFile& cubin, const std::string& source) {
  if (cubin.machine() != kCudaMachine) {
    return refuse(source, "the compiler's output is no image for a GPU", "");
  }
  if (auto fault = check_calls(cubin, source)) return fault;
  return check_data(cubin, source);
}

std::optional<std::vector<int>> parameter_sizes(const ElfFile& cubin, const std::string& entry) {
  constexpr std::uint8_t kParameterInfo = 0x17;
  if (cubin.section(".text." + entry) == nullptr) return std::nullopt;
  const ElfSection* info = cubin.section(".nv.info." + entry);
  std::map<int, int> sizes;  // by ordinal
  for (const Attribute& attribute : attributes(info == nullptr ? "" : info->bytes)) {
    if (attribute.code != kParameterInfo || attribute.data.size() != 12) continue;
    std::uint16_t ordinal = 0;
    std::uint32_t flags = 0;
    std::memcpy(&ordinal, attribute.data.data() + 4, sizeof ordinal);
    std::memcpy(&flags, attribute.data.data() + 8, sizeof flags);
    sizes[ordinal] = static_cast<int>(flags >> 18);
  }
  std::vector<int> result;
  for (const auto& [ordinal, size] : sizes) result.push_back(size);
  return result;
}

}  // namespace kagent::builder
