// SPDX-License-Identifier: Apache-2.0
#include "reference/pattern.h"

#include <algorithm>

namespace kagent::reference {
namespace {

constexpr char kTail[] = "in the last ";

std::string of_dimension(int dimension) { return " of dimension " + std::to_string(dimension); }

// The common distance of all places, or 0.
std::int64_t common_step(const std::vector<std::int64_t>& places) {
  const std::int64_t step = places[1] - places[0];
  for (std::size_t i = 2; i < places.size(); ++i) {
    if (places[i] - places[i - 1] != step) return 0;
  }
  return step;
}

std::string describe_run(std::int64_t first, std::int64_t last, std::int64_t size, int dimension) {
  const std::string count = std::to_string(last - first + 1);
  if (last == size - 1) return kTail + count + of_dimension(dimension);
  if (first == 0) return "in the first " + count + of_dimension(dimension);
  return "at " + std::to_string(first) + " to " + std::to_string(last) + of_dimension(dimension);
}

}  // namespace

std::string pattern_along(const std::vector<bool>& hit, int dimension) {
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < hit.size(); ++i) {
    if (hit[i]) places.push_back(static_cast<std::int64_t>(i));
  }
  if (places.empty() || places.size() == hit.size()) return "";
  const auto size = static_cast<std::int64_t>(hit.size());
  if (places.size() == 1 && places[0] != size - 1) {
    return "at index " + std::to_string(places[0]) + of_dimension(dimension);
  }
  const std::int64_t step = places.size() > 1 ? common_step(places) : 1;
  if (step == 1) return describe_run(places.front(), places.back(), size, dimension);
  if (step > 1 && places.size() > 2) {
    return "at every " + ordinal(step) + " index" + of_dimension(dimension) + ", from " +
           std::to_string(places[0]);
  }
  return "";
}

bool is_tail(const std::string& pattern) { return pattern.rfind(kTail, 0) == 0; }

std::string ordinal(std::int64_t number) {
  const std::int64_t tens = number % 100;
  const char* ending = "th";
  if (tens < 11 || tens > 13) {
    switch (number % 10) {
      case 1: ending = "st"; break;
      case 2: ending = "nd"; break;
      case 3: ending = "rd"; break;
      default: break;
    }
  }
  return std::to_string(number) + ending;
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (std::size_t i = 0; i < index.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(index[i]);
  }
  return text + "]";
}

std::vector<std::int64_t> unravel(std::int64_t position, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t size = std::max<std::int64_t>(shape[i], 1);
    index[i] = position % size;
    position /= size;
  }
  return index;
}

}  // namespace kagent::reference
