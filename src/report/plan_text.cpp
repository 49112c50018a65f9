// SPDX-License-Identifier: Apache-2.0
#include "report/plan_text.h"

#include "base/operator_table.h"
#include "base/pack_scalar.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/tensor_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kagent::report {
namespace {

constexpr std::size_t kMaxNameBytes = 160;

/// Two columns; the first is padded to its widest entry.
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string columns(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : rows) {
    text += "  " + left + std::string(width - left.size() + 2, ' ') + right + "\n";
  }
  return text;
}

std::string name_text(const std::string& name) { return base::one_line(name, kMaxNameBytes); }

std::string count_text(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string place_text(const SourceLine& at) {
  return at.file.empty() ? "-" : name_text(at.file) + ":" + std::to_string(at.line);
}

/// Strides that a contiguous tensor of this shape has; those of one element do not matter.
bool is_contiguous(const TensorSpec& spec) {
  std::int64_t expected = 1;
  for (std::size_t i = spec.shape.size(); i-- > 0;) {
    if (spec.shape[i] > 1 && spec.stride[i] != expected) return false;
    expected *= std::max<std::int64_t>(spec.shape[i], 1);
  }
  return true;
}

std::string full_spec_text(const TensorSpec& spec) {
  return wire::spec_text(spec) +
         (is_contiguous(spec) ? "" : " with strides " + wire::shape_text(spec.stride));
}

class PlanText {
 public:
  explicit PlanText(const Plan& plan) : plan_(plan) {}

  std::string text() const;

 private:
  const PlanValue& value(ValueId id) const {
    return plan_.values[static_cast<std::size_t>(id.index)];
  }
  std::string value_name(ValueId id) const;
  std::string argument_text(const Argument& argument) const;
  std::string launch_argument_text(const LaunchArgument& argument) const;
  std::string step_text(const OperatorStep& step) const;
  std::string step_text(const LaunchStep& step) const;
  std::string output_text(const OutputTree& tree) const;
  std::string kernels() const;
  std::string given() const;
  std::string section(const std::vector<Step>& steps) const;
  std::string prepare() const;
  std::string tunables() const;

  const Plan& plan_;
};

std::string PlanText::value_name(ValueId id) const {
  const PlanValue& named = value(id);
  switch (named.origin) {
    case ValueOrigin::input: return "input" + std::to_string(named.input);
    case ValueOrigin::weight: return "self." + name_text(named.path);
    case ValueOrigin::constant: return "constant" + std::to_string(id.index);
    case ValueOrigin::prepared: return "self.prepared[\"" + name_text(named.path) + "\"]";
    case ValueOrigin::computed: return "t" + std::to_string(id.index);
  }
  return "";
}

std::string PlanText::argument_text(const Argument& argument) const {
  struct Text {
    const PlanText& plan;
    std::string operator()(Argument::None) const { return "None"; }
    std::string operator()(ValueId id) const { return plan.value_name(id); }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return base::number_text(number); }
    std::string operator()(const std::string& text) const { return "\"" + name_text(text) + "\""; }
    std::string operator()(DType dtype) const { return wire::word(dtype); }
    std::string operator()(MemoryFormat format) const { return wire::word(format); }
    std::string operator()(Argument::Layout) const { return "strided"; }
    std::string operator()(Argument::Device) const { return "device"; }
    std::string operator()(const Argument::List& list) const {
      std::vector<std::string> items;
      for (const Argument& item : list) items.push_back(plan.argument_text(item));
      return "[" + base::join(items, ", ") + "]";
    }
  };
  return std::visit(Text{*this}, argument.value);
}

std::string PlanText::step_text(const OperatorStep& step) const {
  // Layout and device are always the same, and defaults at the end say little.
  std::size_t count = step.arguments.size();
  const auto is_noise = [](const Argument& argument) {
    return std::holds_alternative<Argument::None>(argument.value) ||
           std::holds_alternative<Argument::Layout>(argument.value) ||
           std::holds_alternative<Argument::Device>(argument.value);
  };
  while (count > 0 && is_noise(step.arguments[count - 1])) --count;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::holds_alternative<Argument::Layout>(step.arguments[i].value)) continue;
    if (std::holds_alternative<Argument::Device>(step.arguments[i].value)) continue;
    arguments.push_back(argument_text(step.arguments[i]));
  }
  std::vector<std::string> results;
  for (const ValueId id : step.results) {
    results.push_back(value_name(id) + ": " + full_spec_text(value(id).spec));
  }
  const base::OperatorRow* row = base::find_operator(step.overload);
  return base::join(results, ", ") + (results.empty() ? "" : " = ") + name_text(step.overload) +
         "(" + base::join(arguments, ", ") + ")  # " +
         (row == nullptr ? "not replayable" : base::word(row->group));
}

std::string PlanText::launch_argument_text(const LaunchArgument& argument) const {
  if (const auto* map = std::get_if<TensorMap>(&argument)) {
    return "tensor_map(" + value_name(map->tensor) + ", box " + wire::shape_text(map->box) +
           (map->swizzle == "none" ? "" : ", swizzle " + map->swizzle) + ")";
  }
  Argument tagged;
  std::visit(
      [&](const auto& content) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(content)>, TensorMap>) {
          tagged.value = content;
        }
      },
      argument);
  return argument_text(tagged);
}

std::string PlanText::step_text(const LaunchStep& step) const {
  std::vector<std::string> arguments;
  for (const LaunchArgument& argument : step.arguments) {
    arguments.push_back(launch_argument_text(argument));
  }
  std::string shape =
      "grid " + wire::dimensions_text(step.grid) + ", block " + wire::dimensions_text(step.block);
  if (step.shared_bytes > 0) shape += ", " + std::to_string(step.shared_bytes) + " B shared";
  if (step.cluster) shape += ", cluster " + wire::dimensions_text(*step.cluster);
  if (step.cooperative) shape += ", cooperative";
  if (step.programmatic) shape += ", programmatic";
  return name_text(plan_.kernels[static_cast<std::size_t>(step.kernel)].name) + "[" + shape + "](" +
         base::join(arguments, ", ") + ")  # own kernel";
}

std::string PlanText::output_text(const OutputTree& tree) const {
  if (tree.kind == OutputTree::Kind::tensor) {
    return value_name(tree.tensor) + ": " + full_spec_text(value(tree.tensor).spec);
  }
  if (tree.kind == OutputTree::Kind::scalar) return argument_text(tree.scalar);
  std::vector<std::string> items;
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    const bool keyed = tree.kind == OutputTree::Kind::dict;
    items.push_back((keyed ? "\"" + name_text(tree.keys[i]) + "\": " : "") +
                    output_text(tree.items[i]));
  }
  const std::string inside = base::join(items, ", ");
  if (tree.kind == OutputTree::Kind::list) return "[" + inside + "]";
  return tree.kind == OutputTree::Kind::dict ? "{" + inside + "}" : "(" + inside + ")";
}

std::string PlanText::kernels() const {
  Rows rows;
  for (const KernelRequest& kernel : plan_.kernels) {
    const std::string options = base::one_line(base::join(kernel.options, " "));
    rows.emplace_back(place_text(kernel.at), name_text(kernel.name) + " from " +
                                                 name_text(kernel.source) +
                                                 (options.empty() ? "" : " with " + options));
  }
  return rows.empty() ? "" : "\nkernels\n" + columns(rows);
}

std::string PlanText::given() const {
  Rows rows;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const PlanValue& shown = plan_.values[i];
    if (shown.origin == ValueOrigin::computed || shown.origin == ValueOrigin::prepared) continue;
    rows.emplace_back(value_name({static_cast<int>(i)}), full_spec_text(shown.spec));
  }
  return rows.empty() ? "" : "\ngiven\n" + columns(rows);
}

std::string PlanText::section(const std::vector<Step>& steps) const {
  Rows rows;
  for (const Step& step : steps) {
    rows.emplace_back(
        place_text(step.at),
        std::visit([&](const auto& action) { return step_text(action); }, step.action));
  }
  return columns(rows);
}

std::string PlanText::prepare() const {
  if (plan_.prepare.empty() && plan_.prepared.empty()) return "";
  std::string text = "\nprepare (once for each set of weights)\n" + section(plan_.prepare);
  for (const auto& [name, id] : plan_.prepared) {
    text += "  self.prepared[\"" + name_text(name) + "\"] = " + value_name(id) + ": " +
            full_spec_text(value(id).spec) + "\n";
  }
  return text;
}

std::string PlanText::tunables() const {
  Rows rows;
  for (const Tunable& tunable : plan_.tunables) {
    std::vector<std::string> values;
    for (const std::int64_t choice : tunable.values) values.push_back(std::to_string(choice));
    rows.emplace_back(name_text(tunable.name), base::join(values, ", "));
  }
  return rows.empty() ? "" : "\ntunables (the first value is the default)\n" + columns(rows);
}

std::string PlanText::text() const {
  return std::string("plan for ") + wire::word(plan_.backend) + ": " +
         count_text(plan_.forward.size(), "step") + " in forward, " +
         std::to_string(plan_.prepare.size()) + " in prepare, " +
         count_text(plan_.kernels.size(), "kernel") + "\n" + kernels() + given() + prepare() +
         "\nforward\n" + section(plan_.forward) + "\nreturns\n  " + output_text(plan_.outputs) +
         "\n" + tunables();
}

}  // namespace

std::string plan_text(const Plan& plan) { return PlanText(plan).text(); }

}  // namespace kagent::report
