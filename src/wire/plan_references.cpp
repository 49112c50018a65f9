// SPDX-License-Identifier: Apache-2.0
// What a plan's parts say about each other.
#include "base/text.h"
#include "wire/forms.h"

namespace kagent::wire {
namespace {

std::string indexed(const std::string& name, std::size_t index) {
  return name + "[" + std::to_string(index) + "]";
}

/// Walks both sections in the order of their execution. The first problem is kept in problem().
class ReferenceCheck {
 public:
  explicit ReferenceCheck(const Plan& plan)
      : plan_(plan), made_by_(plan.values.size(), Section::none) {}

  std::string problem() {
    check_values();
    check_section(Section::prepare, plan_.prepare, "prepare");
    check_prepared();
    check_section(Section::forward, plan_.forward, "forward");
    check_outputs(plan_.outputs, "outputs");
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      if (plan_.values[i].origin == ValueOrigin::computed && made_by_[i] == Section::none) {
        fail(indexed("values", i), "no step computes it");
      }
    }
    return problem_;
  }

 private:
  enum class Section { none, prepare, forward };

  void fail(const std::string& path, const std::string& what) {
    if (problem_.empty()) problem_ = path + ": " + what;
  }

  void check_values();
  void check_constant(const PlanValue& value, const std::string& path);
  void check_prepared();
  void check_section(Section section, const std::vector<Step>& steps, const std::string& name);
  void check_read(ValueId id, Section section, const std::string& path);
  void check_argument(const Argument& argument, Section section, const std::string& path);
  void check_action(const OperatorStep& step, Section section, const std::string& path);
  void check_action(const LaunchStep& step, Section section, const std::string& path);
  void check_outputs(const OutputTree& tree, const std::string& path);

  const Plan& plan_;
  std::vector<Section> made_by_;  // of each value
  std::size_t constant_bytes_ = 0;
  std::string problem_;
};

void ReferenceCheck::check_constant(const PlanValue& value, const std::string& path) {
  std::int64_t bytes = size_of(value.spec.dtype);
  for (const std::int64_t size : value.spec.shape) bytes *= size;  // below 2^40, as parsed
  if (value.constant.size() != static_cast<std::size_t>(bytes)) {
    fail(path + ".data", "has " + std::to_string(value.constant.size()) +
                             " bytes, and its shape needs " + std::to_string(bytes));
  }
  constant_bytes_ += value.constant.size();
  if (constant_bytes_ > kMaxConstantBytes) {
    fail(path + ".data", "constants of more than 64 MiB in all");
  }
}

void ReferenceCheck::check_values() {
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const PlanValue& value = plan_.values[i];
    const std::string path = indexed("values", i);
    if (value.origin == ValueOrigin::constant) check_constant(value, path);
    if (value.origin != ValueOrigin::prepared) continue;
    const auto found = plan_.prepared.find(value.path);
    if (found == plan_.prepared.end()) {
      fail(path + ".path", "no such key in prepared");
      continue;
    }
    const auto source = static_cast<std::size_t>(found->second.index);
    if (source < plan_.values.size() && plan_.values[source].spec != value.spec) {
      fail(path, "differs in dtype, shape or stride from what prepare made");
    }
  }
}

void ReferenceCheck::check_prepared() {
  for (const auto& [name, id] : plan_.prepared) {
    check_read(id, Section::prepare, "prepared." + base::one_line(name, 80));
  }
}

void ReferenceCheck::check_read(ValueId id, Section section, const std::string& path) {
  const auto index = static_cast<std::size_t>(id.index);
  if (id.index < 0 || index >= plan_.values.size()) {
    return fail(path, "there is no value " + std::to_string(id.index));
  }
  const std::string value = "value " + std::to_string(id.index);
  switch (plan_.values[index].origin) {
    case ValueOrigin::weight:
    case ValueOrigin::constant: return;
    case ValueOrigin::input:
      if (section == Section::prepare) fail(path, value + " is an input, which prepare can't use");
      return;
    case ValueOrigin::prepared:
      if (section == Section::prepare) fail(path, value + " is there only once prepare has ended");
      return;
    case ValueOrigin::computed:
      if (made_by_[index] == Section::none) {
        return fail(path, value + " is used before it is computed");
      }
      if (made_by_[index] != section) {
        fail(path, value + " belongs to prepare; forward sees it as a value of origin prepared");
      }
      return;
  }
}

void ReferenceCheck::check_argument(const Argument& argument, Section section,
                                    const std::string& path) {
  if (const auto* id = std::get_if<ValueId>(&argument.value)) check_read(*id, section, path);
  if (const auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      check_argument((*list)[i], section, indexed(path + ".list", i));
    }
  }
}

void ReferenceCheck::check_action(const OperatorStep& step, Section section,
                                  const std::string& path) {
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    check_argument(step.arguments[i], section, indexed(path + ".args", i));
  }
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    const int id = step.results[i].index;
    const auto index = static_cast<std::size_t>(id);
    const std::string result = indexed(path + ".results", i);
    if (id < 0 || index >= plan_.values.size()) {
      return fail(result, "there is no value " + std::to_string(id));
    }
    if (plan_.values[index].origin != ValueOrigin::computed) {
      return fail(result, "value " + std::to_string(id) + " is not of origin computed");
    }
    if (made_by_[index] != Section::none) {
      return fail(result, "value " + std::to_string(id) + " is computed twice");
    }
    made_by_[index] = section;
  }
}

void ReferenceCheck::check_action(const LaunchStep& step, Section section,
                                  const std::string& path) {
  if (step.kernel < 0 || static_cast<std::size_t>(step.kernel) >= plan_.kernels.size()) {
    fail(path + ".launch", "there is no kernel " + std::to_string(step.kernel));
  }
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const std::string argument = indexed(path + ".args", i);
    if (const auto* id = std::get_if<ValueId>(&step.arguments[i])) {
      check_read(*id, section, argument);
    } else if (const auto* map = std::get_if<TensorMap>(&step.arguments[i])) {
      check_read(map->tensor, section, argument + ".tensor_map.tensor");
    }
  }
}

void ReferenceCheck::check_section(Section section, const std::vector<Step>& steps,
                                   const std::string& name) {
  for (std::size_t i = 0; i < steps.size() && problem_.empty(); ++i) {
    std::visit([&](const auto& action) { check_action(action, section, indexed(name, i)); },
               steps[i].action);
  }
}

void ReferenceCheck::check_outputs(const OutputTree& tree, const std::string& path) {
  if (tree.kind == OutputTree::Kind::tensor) check_read(tree.tensor, Section::forward, path);
  if (tree.kind == OutputTree::Kind::scalar && std::holds_alternative<ValueId>(tree.scalar.value)) {
    fail(path, "a scalar can't be a tensor");
  }
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    check_outputs(tree.items[i], indexed(path, i));
  }
}

}  // namespace

std::string broken_reference(const Plan& plan) { return ReferenceCheck(plan).problem(); }

}  // namespace kagent::wire
