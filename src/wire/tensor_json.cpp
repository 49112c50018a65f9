// SPDX-License-Identifier: Apache-2.0
// TensorSpec, ArenaLayout, Argument: what most other forms are made of.
#include "wire/forms.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace kagent::wire {
namespace {

/// Why no tensor may look like this, or "". Checked without overflow: sizes come from outside.
std::string too_large(const TensorSpec& spec) {
  if (spec.stride.size() != spec.shape.size()) return "shape and stride differ in length";
  const std::int64_t max_elements = kMaxTensorBytes / size_of(spec.dtype);
  std::int64_t elements = 1;
  std::int64_t last = 0;  // offset of the last element
  bool empty = false;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    const std::int64_t size = spec.shape[i];
    const std::int64_t stride = spec.stride[i];
    empty = empty || size == 0;
    if (size > 0 && elements > max_elements / size) return "more than 2^40 bytes";
    elements *= size > 0 ? size : 1;
    if (size > 1 && stride > (max_elements - 1 - last) / (size - 1)) {
      return "strides reach over more than 2^40 bytes";
    }
    last += size > 1 ? (size - 1) * stride : 0;
  }
  return {};
}

std::string float_to_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, std::abs(value), std::chars_format::hex);
  return (std::signbit(value) ? "-0x" : "0x") + std::string(digits, end.ptr);
}

void read_float(const Reader& reader, double& value) {
  const std::string text = reader.text(64);
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  if (rest == "inf" || (rest == "nan" && !negative)) {
    value = rest == "inf" ? HUGE_VAL : std::nan("");
  } else {
    const bool hexadecimal = rest.substr(0, 2) == "0x" && rest.size() > 2 && rest[2] != '-';
    if (hexadecimal) rest.remove_prefix(2);
    const auto end =
        std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::hex);
    if (!hexadecimal || end.ec != std::errc() || end.ptr != rest.data() + rest.size()) {
      reader.fail("expected a float as hexadecimal text like \"0x1.8p+0\", or inf, -inf, nan");
    }
  }
  if (negative) value = -value;
}

void expect_word(const Reader& reader, const char* only) {
  if (reader.text(kMaxNameBytes) != only) reader.fail(std::string("expected \"") + only + "\"");
}

void read_argument(const Reader& reader, Argument& argument, int depth);

void read_argument_list(const Reader& reader, Argument& argument, int depth) {
  if (depth >= kMaxDepth) return reader.fail("lists are nested deeper than 8");
  const std::size_t count = reader.list_size(kMaxEntries);
  if (!reader.document().spend_elements(count)) {
    return reader.fail("more than 8192 list elements in all");
  }
  Argument::List& list = argument.value.emplace<Argument::List>();
  list.reserve(count);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read_argument(reader.item(i), list.emplace_back(), depth + 1);
  }
}

void read_argument(const Reader& reader, Argument& argument, int depth) {
  const auto [tag, content] = reader.only_member();
  if (reader.failed()) return;
  if (tag == "tensor") {
    argument.value = ValueId{static_cast<int>(content.integer(0, kMaxValues - 1))};
  } else if (tag == "int") {
    argument.value = content.integer();
  } else if (tag == "float") {
    read_float(content, argument.value.emplace<double>());
  } else if (tag == "bool") {
    argument.value = content.boolean();
  } else if (tag == "string") {
    argument.value = content.text(kMaxMessageBytes);
  } else if (tag == "none") {
    if (!content.boolean()) content.fail("expected true");
    argument.value = Argument::None{};
  } else if (tag == "dtype") {
    argument.value = read_word<DType>(content);
  } else if (tag == "layout") {
    expect_word(content, "strided");
    argument.value = Argument::Layout{};
  } else if (tag == "device") {
    expect_word(content, "plan");
    argument.value = Argument::Device{};
  } else if (tag == "memory_format") {
    argument.value = read_word<MemoryFormat>(content);
  } else if (tag == "list") {
    read_argument_list(content, argument, depth);
  } else {
    content.fail("no such tag");
  }
}

struct ArgumentWriter {
  Json operator()(Argument::None) const { return {{"none", true}}; }
  Json operator()(ValueId id) const { return {{"tensor", id.index}}; }
  Json operator()(bool value) const { return {{"bool", value}}; }
  Json operator()(std::int64_t value) const { return {{"int", value}}; }
  Json operator()(double value) const { return {{"float", float_to_text(value)}}; }
  Json operator()(const std::string& value) const { return {{"string", value}}; }
  Json operator()(DType dtype) const { return {{"dtype", word(dtype)}}; }
  Json operator()(MemoryFormat format) const { return {{"memory_format", word(format)}}; }
  Json operator()(Argument::Layout) const { return {{"layout", "strided"}}; }
  Json operator()(Argument::Device) const { return {{"device", "plan"}}; }
  Json operator()(const Argument::List& list) const {
    Json json = Json::object();
    json["list"] = list_to_json(list);
    return json;
  }
};

}  // namespace

void read(const Reader& reader, ArenaEntry& entry) {
  entry.name = reader.field("name").text(kMaxNameBytes);
  read(reader, entry.spec);
  entry.offset = reader.field("offset").integer(0, kMaxTensorBytes);
  entry.bytes = reader.field("bytes").integer(0, kMaxTensorBytes);
}

Json to_json(const ArenaEntry& entry) {
  Json json = to_json(entry.spec);
  json["name"] = entry.name;
  json["offset"] = entry.offset;
  json["bytes"] = entry.bytes;
  return json;
}

void read(const Reader& reader, Argument& argument) { read_argument(reader, argument, 0); }

Json to_json(const Argument& argument) { return std::visit(ArgumentWriter(), argument.value); }

void read(const Reader& reader, TensorSpec& spec) {
  spec.dtype = read_word<DType>(reader.field("dtype"));
  spec.shape = reader.field("shape").integers(kMaxRank, 0);
  spec.stride = reader.field("stride").integers(kMaxRank, 0);
  if (reader.failed()) return;
  if (const std::string problem = too_large(spec); !problem.empty()) reader.fail(problem);
}

Json to_json(const TensorSpec& spec) {
  return {{"dtype", word(spec.dtype)}, {"shape", spec.shape}, {"stride", spec.stride}};
}

void read(const Reader& reader, ArenaLayout& layout) {
  layout.bytes = reader.field("bytes").integer(0, kMaxTensorBytes);
  read_list(reader.field("entries"), layout.entries, kMaxEntries);
  for (std::size_t i = 0; i < layout.entries.size() && !reader.failed(); ++i) {
    const ArenaEntry& entry = layout.entries[i];
    if (entry.offset > layout.bytes - entry.bytes) {
      reader.field("entries").item(i).fail("reaches beyond the arena");
    }
  }
}

Json to_json(const ArenaLayout& layout) {
  Json entries = Json::array();
  for (const ArenaEntry& entry : layout.entries) entries.push_back(to_json(entry));
  return {{"bytes", layout.bytes}, {"entries", std::move(entries)}};
}

template <>
Result<Argument> parse(const Json& json) {
  return read_document<Argument>(json);
}
template <>
Result<TensorSpec> parse(const Json& json) {
  return read_document<TensorSpec>(json);
}
template <>
Result<ArenaLayout> parse(const Json& json) {
  return read_document<ArenaLayout>(json);
}

}  // namespace kagent::wire
