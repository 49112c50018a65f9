// SPDX-License-Identifier: Apache-2.0
// Reads a JSON value that nobody vouches for. Errors stick: the first one is kept with the path to
// its field, and every later read returns an empty value, so that code which reads a struct needs
// no checks of its own. read(...) for each type is in forms.h.
#pragma once

#include <kagent/result.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kagent::wire {

inline constexpr std::int64_t kNoMinimum = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNoMaximum = std::numeric_limits<std::int64_t>::max();

/// What all readers of one document share. Must outlive them.
class Document {
 public:
  std::string error;  // empty while all is well

  /// Counts towards the cap on elements of tagged lists and output trees; false above it.
  bool spend_elements(std::size_t count) { return (elements_ += count) <= kMaxElements; }
  /// Counts towards the cap on text; false above it.
  bool spend_text(std::size_t bytes) { return (text_bytes_ += bytes) <= kMaxTextBytes; }

 private:
  friend class Reader;
  static constexpr std::size_t kMaxElements = 8192;
  static constexpr std::size_t kMaxTextBytes = 16u << 20;

  struct Segment {
    const Segment* parent;
    std::string_view name;  // member of an object; empty: element of a list
    std::size_t index;
  };
  std::deque<Segment> segments_;
  std::size_t elements_ = 0;
  std::size_t text_bytes_ = 0;
};

/// One place in a document. Cheap to copy; the JSON value must outlive it.
class Reader {
 public:
  Reader(const nlohmann::json& json, Document& document) : json_(&json), document_(&document) {}

  bool failed() const { return !document_->error.empty(); }
  /// False for an absent optional field, and after an error.
  bool present() const { return json_ != nullptr; }
  void fail(const std::string& problem) const;
  Document& document() const { return *document_; }
  /// The value itself; only where present().
  const nlohmann::json& json() const { return *json_; }

  /// A member that must be there.
  Reader field(const char* name) const;
  /// A member that may be absent or null; then not present().
  Reader optional(const char* name) const;
  /// The only member of an object that must have exactly one, and its name.
  std::pair<std::string_view, Reader> only_member() const;
  /// All members of an object, in the order of their names.
  std::vector<std::pair<std::string_view, Reader>> members(std::size_t max_count) const;

  std::size_t list_size(std::size_t max_count) const;
  Reader item(std::size_t index) const;

  bool boolean() const;
  std::int64_t integer(std::int64_t minimum = kNoMinimum, std::int64_t maximum = kNoMaximum) const;
  std::uint64_t unsigned_integer() const;
  /// A JSON number, or "inf", "-inf", "nan" as number_to_json writes them.
  double number() const;
  /// A finite number of at least 0.
  double quantity() const;
  std::string text(std::size_t max_bytes) const;
  std::vector<std::int64_t> integers(std::size_t max_count, std::int64_t minimum = kNoMinimum,
                                     std::int64_t maximum = kNoMaximum) const;
  std::vector<std::string> texts(std::size_t max_count, std::size_t max_bytes) const;

 private:
  Reader(const nlohmann::json* json, Document* document, const Document::Segment* place)
      : json_(json), document_(document), place_(place) {}
  Reader nothing() const { return Reader(nullptr, document_, place_); }
  Reader child(const nlohmann::json& json, std::string_view name, std::size_t index) const;

  const nlohmann::json* json_;
  Document* document_;
  const Document::Segment* place_ = nullptr;
};

/// Finite numbers as such, others as "inf", "-inf", "nan": JSON has no word for them.
nlohmann::json number_to_json(double value);

/// Fills `value` through read(reader, value), which argument-dependent look-up finds.
template <typename T>
Result<T> read_document(const nlohmann::json& json) {
  Document document;
  T value;
  read(Reader(json, document), value);
  if (!document.error.empty()) return Error{ErrorKind::internal, std::move(document.error)};
  return value;
}

/// A list of things that have a read().
template <typename T>
void read_list(const Reader& reader, std::vector<T>& values, std::size_t max_count) {
  const std::size_t count = reader.list_size(max_count);
  values.reserve(count);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read(reader.item(i), values.emplace_back());
  }
}

}  // namespace kagent::wire
