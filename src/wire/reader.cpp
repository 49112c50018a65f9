// SPDX-License-Identifier: Apache-2.0
#include "wire/reader.h"

#include "base/text.h"
#include "wire/json.h"

#include <cmath>

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxShownBytes = 80;

}  // namespace

void Reader::fail(const std::string& problem) const {
  if (failed()) return;
  std::string path;
  for (const auto* segment = place_; segment != nullptr; segment = segment->parent) {
    std::string part;
    if (segment->name.data() == nullptr) {
      part = "[" + std::to_string(segment->index) + "]";
    } else {
      part =
          (segment->parent == nullptr ? "" : ".") + base::one_line(segment->name, kMaxShownBytes);
    }
    path.insert(0, part);
  }
  document_->error = path.empty() ? problem : path + ": " + problem;
}

Reader Reader::child(const Json& json, std::string_view name, std::size_t index) const {
  document_->segments_.push_back({place_, name, index});
  return Reader(&json, document_, &document_->segments_.back());
}

Reader Reader::optional(const char* name) const {
  if (json_ == nullptr) return nothing();
  if (!json_->is_object()) {
    fail("expected an object");
    return nothing();
  }
  const auto found = json_->find(name);
  if (found == json_->end() || found->is_null()) return nothing();
  return child(*found, name, 0);
}

Reader Reader::field(const char* name) const {
  Reader member = optional(name);
  if (!member.present()) fail(std::string("missing \"") + name + "\"");
  return member;
}

std::pair<std::string_view, Reader> Reader::only_member() const {
  if (json_ == nullptr) return {{}, nothing()};
  if (!json_->is_object() || json_->size() != 1) {
    fail("expected an object with exactly one member");
    return {{}, nothing()};
  }
  const auto first = json_->cbegin();
  return {first.key(), child(first.value(), first.key(), 0)};
}

std::vector<std::pair<std::string_view, Reader>> Reader::members(std::size_t max_count) const {
  std::vector<std::pair<std::string_view, Reader>> all;
  if (json_ == nullptr) return all;
  if (!json_->is_object()) {
    fail("expected an object");
  } else if (json_->size() > max_count) {
    fail("more than " + std::to_string(max_count) + " members");
  } else {
    for (auto it = json_->cbegin(); it != json_->cend(); ++it) {
      all.emplace_back(it.key(), child(it.value(), it.key(), 0));
    }
  }
  return all;
}

std::size_t Reader::list_size(std::size_t max_count) const {
  if (json_ == nullptr) return 0;
  if (!json_->is_array()) {
    fail("expected a list");
    return 0;
  }
  if (json_->size() > max_count) {
    fail("more than " + std::to_string(max_count) + " elements");
    return 0;
  }
  return json_->size();
}

Reader Reader::item(std::size_t index) const {
  if (json_ == nullptr || !json_->is_array() || index >= json_->size()) return nothing();
  return child((*json_)[index], {}, index);
}

bool Reader::boolean() const {
  if (json_ == nullptr) return false;
  if (!json_->is_boolean()) {
    fail("expected true or false");
    return false;
  }
  return json_->get<bool>();
}

std::int64_t Reader::integer(std::int64_t minimum, std::int64_t maximum) const {
  if (json_ == nullptr) return minimum > 0 ? minimum : 0;
  const bool fits = json_->is_number_integer() &&
                    (!json_->is_number_unsigned() ||
                     json_->get<std::uint64_t>() <= static_cast<std::uint64_t>(kNoMaximum));
  if (!fits) {
    fail("expected an integer of 64 bits");
    return minimum > 0 ? minimum : 0;
  }
  const auto value = json_->get<std::int64_t>();
  if (value < minimum || value > maximum) {
    fail(maximum == kNoMaximum
             ? "must be at least " + std::to_string(minimum)
             : "must be from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  }
  return value;
}

std::uint64_t Reader::unsigned_integer() const {
  if (json_ == nullptr) return 0;
  if (!json_->is_number_unsigned() &&
      !(json_->is_number_integer() && json_->get<std::int64_t>() >= 0)) {
    fail("expected an unsigned integer of 64 bits");
    return 0;
  }
  return json_->get<std::uint64_t>();
}

double Reader::number() const {
  if (json_ == nullptr) return 0;
  if (json_->is_number()) return json_->get<double>();
  if (json_->is_string()) {
    const auto& word = json_->get_ref<const std::string&>();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  fail("expected a number");
  return 0;
}

double Reader::quantity() const {
  const double value = number();
  if (std::isfinite(value) && value >= 0) return value;
  fail("expected a finite number of at least 0");
  return 0;
}

std::string Reader::text(std::size_t max_bytes) const {
  if (json_ == nullptr) return {};
  if (!json_->is_string()) {
    fail("expected text");
    return {};
  }
  const auto& value = json_->get_ref<const std::string&>();
  if (value.size() > max_bytes) {
    fail("text of more than " + std::to_string(max_bytes) + " bytes");
    return {};
  }
  if (!document_->spend_text(value.size())) {
    fail("the document holds more than 16 MiB of text");
    return {};
  }
  return value;
}

std::vector<std::int64_t> Reader::integers(std::size_t max_count, std::int64_t minimum,
                                           std::int64_t maximum) const {
  if (json_ == nullptr) return {};
  if (!json_->is_array()) {
    fail("expected a list of integers");
    return {};
  }
  const std::size_t count = list_size(max_count);
  std::vector<std::int64_t> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count && !failed(); ++i) {
    values.push_back(item(i).integer(minimum, maximum));
  }
  return values;
}

std::vector<std::string> Reader::texts(std::size_t max_count, std::size_t max_bytes) const {
  const std::size_t count = list_size(max_count);
  std::vector<std::string> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count && !failed(); ++i) values.push_back(item(i).text(max_bytes));
  return values;
}

double number_or(const Json& object, const char* name, double otherwise) {
  Document document;
  const Reader member = Reader(object, document).optional(name);
  const double value = member.number();
  return member.present() && document.error.empty() ? value : otherwise;
}

Json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace kagent::wire
