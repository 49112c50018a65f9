// SPDX-License-Identifier: Apache-2.0
// Random edits of a valid plan: each is refused with a message, or gives a plan that is well
// formed.
#include "../../fakes/sample_plan.h"
#include "wire/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kagent::wire {
namespace {

constexpr int kMutants = 20000;

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  /// One to three edits at random places.
  Json mutant(const Json& plan) {
    Json copy = plan;
    for (int edits = 1 + pick(3); edits > 0; --edits) edit(copy);
    return copy;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  void collect(Json& json, std::vector<Json*>& places) {
    places.push_back(&json);
    if (json.is_structured()) {
      for (Json& item : json) collect(item, places);
    }
  }

  Json replacement() {
    switch (pick(12)) {
      case 0: return nullptr;
      case 1: return pick(2) == 0;
      case 2: return pick(12);
      case 3: return -pick(5);
      case 4: return INT64_MAX - pick(3);
      case 5: return UINT64_MAX;
      case 6: return 1e308;
      case 7: return Json::array();
      case 8: return Json::object();
      case 9: return "\xFF\n";
      case 10: return {{"tensor", pick(10)}};
      default: return {{"list", {{{"int", 1}}, {{"tensor", pick(10)}}}}};
    }
  }

  void edit(Json& plan) {
    std::vector<Json*> places;
    collect(plan, places);
    Json& place = *places[static_cast<std::size_t>(pick(static_cast<int>(places.size())))];
    Json& other = *places[static_cast<std::size_t>(pick(static_cast<int>(places.size())))];
    if (place.is_structured() && !place.empty() && pick(2) == 0) {
      auto victim = place.begin();
      std::advance(victim, pick(static_cast<int>(place.size())));
      if (pick(2) == 0 || !place.is_array()) {
        place.erase(victim);
      } else {
        const Json again = *victim;
        place.push_back(again);
      }
    } else if (place.is_number_integer() && pick(2) == 0) {
      const auto wrapped = static_cast<std::uint64_t>(place.get<std::int64_t>()) +
                           static_cast<std::uint64_t>(pick(3)) - 1;
      place = static_cast<std::int64_t>(wrapped);
    } else if (pick(4) == 0) {
      const Json moved = other;
      place = moved;
    } else {
      place = replacement();
    }
  }

  std::mt19937 random_;
};

bool in_range(const Plan& plan, ValueId id) {
  return id.index >= 0 && static_cast<std::size_t>(id.index) < plan.values.size();
}

bool in_range(const Plan& plan, const Argument& argument) {
  if (const auto* id = std::get_if<ValueId>(&argument.value)) return in_range(plan, *id);
  if (const auto* list = std::get_if<Argument::List>(&argument.value)) {
    return std::all_of(list->begin(), list->end(),
                       [&](const Argument& item) { return in_range(plan, item); });
  }
  return true;
}

/// What the interpreter relies on.
bool well_formed(const Plan& plan) {
  std::vector<int> made(plan.values.size(), 0);
  for (const auto* section : {&plan.prepare, &plan.forward}) {
    for (const Step& step : *section) {
      if (const auto* op = std::get_if<OperatorStep>(&step.action)) {
        for (const Argument& argument : op->arguments) {
          if (!in_range(plan, argument)) return false;
        }
        for (const ValueId id : op->results) {
          if (!in_range(plan, id) || ++made[static_cast<std::size_t>(id.index)] > 1) return false;
        }
        continue;
      }
      const auto& launch = std::get<LaunchStep>(step.action);
      if (launch.kernel < 0 || static_cast<std::size_t>(launch.kernel) >= plan.kernels.size()) {
        return false;
      }
      for (const LaunchArgument& argument : launch.arguments) {
        const auto* id = std::get_if<ValueId>(&argument);
        const auto* map = std::get_if<TensorMap>(&argument);
        if (id != nullptr && !in_range(plan, *id)) return false;
        if (map != nullptr && !in_range(plan, map->tensor)) return false;
      }
    }
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const bool computed = plan.values[i].origin == ValueOrigin::computed;
    if (computed != (made[i] == 1)) return false;
  }
  for (const ValueId id : output_tensors(plan.outputs)) {
    if (!in_range(plan, id)) return false;
  }
  return true;
}

TEST(PlanMutants, AreRefusedOrWellFormed) {
  const Json valid = *parse_text(fakes::kSamplePlan, "plan");
  Mutator mutator(20261130);
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    const Json mutant = mutator.mutant(valid);
    const auto plan = parse<Plan>(mutant);
    if (!plan) {
      ASSERT_FALSE(plan.error().message.empty());
      ASSERT_EQ(plan.error().message.find('\n'), std::string::npos) << plan.error().message;
      continue;
    }
    ++accepted;
    ASSERT_TRUE(well_formed(*plan)) << dump(mutant);
    const auto again = parse<Plan>(to_json(*plan));
    ASSERT_TRUE(again) << again.error().message << dump(mutant);
  }
  // Some edits are harmless; were nearly all of them refused or accepted, this test would say
  // little.
  EXPECT_GT(accepted, kMutants / 100);
  EXPECT_LT(accepted, kMutants / 2);
  RecordProperty("accepted", accepted);
}

TEST(PlanMutants, AsTextNeverCrashTheParser) {
  const std::string valid = fakes::kSamplePlan;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = valid;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 20); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    const auto json = parse_text(text, "plan");
    if (!json) continue;
    const auto plan = parse<Plan>(*json);
    ASSERT_TRUE(!plan || well_formed(*plan));
  }
}

}  // namespace
}  // namespace kagent::wire
