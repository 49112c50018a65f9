// SPDX-License-Identifier: Apache-2.0
#include "wire/forms.h"

#include <set>

namespace kagent::wire {
namespace {

using Kind = OutputTree::Kind;

void read_tree(const Reader& reader, OutputTree& tree, int depth);

void read_items(const Reader& reader, OutputTree& tree, int depth) {
  if (depth >= kMaxDepth) return reader.fail("nested deeper than 8");
  const std::size_t count = reader.list_size(kMaxEntries);
  if (!reader.document().spend_elements(count)) {
    return reader.fail("more than 8192 list elements in all");
  }
  tree.items.reserve(count);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read_tree(reader.item(i), tree.items.emplace_back(), depth + 1);
  }
}

void read_dict(const Reader& reader, OutputTree& tree, int depth) {
  tree.keys = reader.field("keys").texts(kMaxEntries, kMaxNameBytes);
  read_items(reader.field("items"), tree, depth);
  if (reader.failed()) return;
  if (tree.keys.size() != tree.items.size()) return reader.fail("keys and items differ in length");
  if (std::set<std::string>(tree.keys.begin(), tree.keys.end()).size() != tree.keys.size()) {
    reader.field("keys").fail("a key appears twice");
  }
}

void read_tree(const Reader& reader, OutputTree& tree, int depth) {
  const auto [tag, content] = reader.only_member();
  if (reader.failed()) return;
  if (tag == "tensor") {
    tree.kind = Kind::tensor;
    tree.tensor.index = static_cast<int>(content.integer(0, kMaxEntries));
  } else if (tag == "scalar") {
    tree.kind = Kind::scalar;
    read(content, tree.scalar);
  } else if (tag == "list" || tag == "tuple") {
    tree.kind = tag == "list" ? Kind::list : Kind::tuple;
    read_items(content, tree, depth);
  } else if (tag == "dict") {
    tree.kind = Kind::dict;
    read_dict(content, tree, depth);
  } else {
    content.fail("no such kind of output");
  }
}

}  // namespace

void read(const Reader& reader, OutputTree& tree) { read_tree(reader, tree, 0); }

Json to_json(const OutputTree& tree) {
  Json json = Json::object();
  switch (tree.kind) {
    case Kind::tensor: json["tensor"] = tree.tensor.index; break;
    case Kind::scalar: json["scalar"] = to_json(tree.scalar); break;
    case Kind::list: json["list"] = list_to_json(tree.items); break;
    case Kind::tuple: json["tuple"] = list_to_json(tree.items); break;
    case Kind::dict:
      json["dict"]["keys"] = tree.keys;
      json["dict"]["items"] = list_to_json(tree.items);
      break;
  }
  return json;
}

template <>
Result<OutputTree> parse(const Json& json) {
  return read_document<OutputTree>(json);
}

}  // namespace kagent::wire
