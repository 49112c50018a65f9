// SPDX-License-Identifier: Apache-2.0
#include "plan_maker.h"

#include "sys/files.h"

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

namespace kagent::testing {
namespace {

/// Bytes of the shared object; each source is compiled once a process.
const std::string& compiled(const std::string& source, const std::string& options) {
  static std::map<std::pair<std::string, std::string>, std::string> made;
  std::string& object = made[{source, options}];
  if (!object.empty()) return object;
  auto folder = sys::TemporaryDirectory::create("runner-test");
  if (!folder) throw std::runtime_error(folder.error().message);
  const std::string base = folder->path() / "unit";
  if (auto written = sys::write_file_atomically(base + ".cpp", source); !written) {
    throw std::runtime_error(written.error().message);
  }
  const std::string command =
      "g++ -std=c++20 -shared -fPIC " + options + " -o " + base + ".so " + base + ".cpp";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("g++ failed");
  auto bytes = sys::read_file(base + ".so", 64u << 20);
  if (!bytes) throw std::runtime_error(bytes.error().message);
  object = *std::move(bytes);
  return object;
}

}  // namespace

TensorSpec contiguous(std::vector<std::int64_t> shape, DType dtype) {
  TensorSpec spec{dtype, shape, std::vector<std::int64_t>(shape.size(), 1)};
  for (std::size_t i = shape.size(); i-- > 1;) spec.stride[i - 1] = spec.stride[i] * shape[i];
  return spec;
}

ValueId PlanMaker::value(PlanValue value) {
  made_.plan.values.push_back(std::move(value));
  return {static_cast<int>(made_.plan.values.size()) - 1};
}

ValueId PlanMaker::input(const TensorSpec& spec, const std::string& bytes) {
  const int number = static_cast<int>(made_.inputs[0].layout().entries.size());
  made_.inputs[0].add(std::to_string(number), spec, bytes);
  return value({spec, ValueOrigin::input, number, "", ""});
}

ValueId PlanMaker::weight(const std::string& path, const TensorSpec& spec,
                          const std::string& bytes) {
  made_.weights.add(path, spec, bytes);
  return value({spec, ValueOrigin::weight, -1, path, ""});
}

ValueId PlanMaker::constant(const TensorSpec& spec, const std::string& bytes) {
  return value({spec, ValueOrigin::constant, -1, "", bytes});
}

ValueId PlanMaker::prepared(const std::string& path, ValueId made) {
  made_.plan.prepared[path] = made;
  const TensorSpec spec = made_.plan.values[static_cast<std::size_t>(made.index)].spec;
  return value({spec, ValueOrigin::prepared, -1, path, ""});
}

ValueId PlanMaker::op(const std::string& overload, std::vector<Argument> arguments,
                      const TensorSpec& result) {
  const ValueId id = value({result, ValueOrigin::computed, -1, "", ""});
  OperatorStep step;
  step.overload = overload;
  step.arguments = std::move(arguments);
  step.results = {id};
  section_->push_back({std::move(step), next_line()});
  return id;
}

ValueId PlanMaker::empty(const TensorSpec& spec) {
  Argument::List shape;
  for (const std::int64_t size : spec.shape) shape.push_back({size});
  return op("aten::empty.memory_format",
            {{shape}, {spec.dtype}, {Argument::Layout{}}, {Argument::Device{}}, {false}, none()},
            spec);
}

int PlanMaker::unit(const std::string& source, const std::string& options) {
  auto image = sys::sealed_memory_file("unit", compiled(source, options));
  if (!image) throw std::runtime_error(image.error().message);
  made_.images.push_back(*std::move(image));
  BuildUnit unit;
  unit.source = "kernels/test.cpp";
  made_.build.compiler = "g++";
  made_.build.units.push_back(unit);
  return static_cast<int>(made_.build.units.size()) - 1;
}

int PlanMaker::kernel(int unit, int number_in_unit, const std::string& name,
                      const std::vector<Parameter>& parameters) {
  const int index = static_cast<int>(made_.plan.kernels.size());
  made_.plan.kernels.push_back({"kernels/test.cpp", name, {}, {"model_new.py", 1}});
  KernelBuild build;
  build.kernel = index;
  build.unit = unit;
  build.entry = "kagent_launch_" + std::to_string(number_in_unit);
  for (const Parameter& parameter : parameters) {
    KernelParameter made;
    made.type = parameter.type;
    if (parameter.type.back() == '*')
      made.pointee = DType::float32;
    else if (parameter.type == "int") {
      made.kind = ParameterKind::signed_integer;
      made.bytes = 4;
    } else {
      made.kind = ParameterKind::floating;
      made.bytes = 4;
    }
    made.read_only = parameter.type.find("const") != std::string::npos;
    build.parameters.push_back(made);
  }
  made_.build.kernels.push_back(build);
  return index;
}

void PlanMaker::launch(int kernel, std::vector<LaunchArgument> arguments) {
  LaunchStep step;
  step.kernel = kernel;
  step.arguments = std::move(arguments);
  section_->push_back({std::move(step), next_line()});
}

Evaluation PlanMaker::finish(const std::vector<ValueId>& outputs) {
  made_.plan.outputs.kind = OutputTree::Kind::tuple;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    OutputTree item;
    item.tensor = outputs[i];
    made_.plan.outputs.items.push_back(item);
    const PlanValue& made = made_.plan.values[static_cast<std::size_t>(outputs[i].index)];
    made_.outputs.add(std::to_string(i), contiguous(made.spec.shape, made.spec.dtype));
  }
  made_.weights.create();
  made_.inputs[0].create();
  made_.outputs.create();
  return std::move(made_);
}

}  // namespace kagent::testing
