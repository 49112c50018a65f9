// SPDX-License-Identifier: Apache-2.0
#include "plan/arguments.h"

#include <kagent/result.h>

#include "plan/tensors.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>

#include <optional>

namespace kagent::plan {
namespace {

using Converted = std::optional<Slot>;  // empty: the argument does not fit the type

c10::MemoryFormat memory_format(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::contiguous:
      return c10::MemoryFormat::Contiguous;
    case MemoryFormat::channels_last:
      return c10::MemoryFormat::ChannelsLast;
    case MemoryFormat::channels_last_3d:
      return c10::MemoryFormat::ChannelsLast3d;
    case MemoryFormat::preserve:
      return c10::MemoryFormat::Preserve;
  }
  KAGENT_CHECK(false);
}

template <typename T>
const T* as(const Argument& argument) {
  return std::get_if<T>(&argument.value);
}

Converted convert_number(const Argument& argument) {
  if (const auto* number = as<std::int64_t>(argument)) return c10::IValue(*number);
  if (const auto* number = as<double>(argument)) return c10::IValue(*number);
  if (const auto* flag = as<bool>(argument)) return c10::IValue(*flag);
  return std::nullopt;
}

/// A number where a tensor is wanted, as in `x + 1e-5`: it takes part in type promotion as
/// PyTorch's own "wrapped numbers" do. On the CPU whatever the device, as there.
Converted wrapped_number(const Argument& argument) {
  std::optional<c10::Scalar> number;
  if (const auto* whole = as<std::int64_t>(argument)) number = c10::Scalar(*whole);
  if (const auto* real = as<double>(argument)) number = c10::Scalar(*real);
  if (const auto* flag = as<bool>(argument)) number = c10::Scalar(*flag);
  if (!number) return std::nullopt;
  return c10::IValue(at::native::wrapped_scalar_tensor(*number));
}

std::optional<std::int64_t> whole_number(const Argument& argument) {
  if (const auto* number = as<std::int64_t>(argument)) return *number;
  if (const auto* flag = as<bool>(argument)) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> real_number(const Argument& argument) {
  if (const auto* number = as<double>(argument)) return *number;
  if (const auto* number = as<std::int64_t>(argument)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<bool> truth(const Argument& argument) {
  if (const auto* flag = as<bool>(argument)) return *flag;
  return std::nullopt;
}

/// A List<T>; one element alone stands for `repeat` of them, as "int[2] stride=1" allows.
template <typename T, typename Element>
Converted convert_list(const Argument& argument, int repeat, Element element) {
  c10::List<T> made;
  if (const auto* list = as<Argument::List>(argument)) {
    made.reserve(list->size());
    for (const Argument& item : *list) {
      const std::optional<T> one = element(item);
      if (!one) return std::nullopt;
      made.push_back(*one);
    }
    return c10::IValue(std::move(made));
  }
  const std::optional<T> one = element(argument);
  if (!one || repeat == 0) return std::nullopt;
  for (int i = 0; i < repeat; ++i) made.push_back(*one);
  return c10::IValue(std::move(made));
}

Converted convert_tensors(const Argument& argument, bool may_be_none) {
  const auto* list = as<Argument::List>(argument);
  if (list == nullptr) return std::nullopt;
  std::vector<int> values;
  for (const Argument& item : *list) {
    if (const auto* id = as<ValueId>(item))
      values.push_back(id->index);
    else if (may_be_none && as<Argument::None>(item) != nullptr)
      values.push_back(-1);
    else
      return std::nullopt;
  }
  if (may_be_none) return OptionalTensorListSlot{std::move(values)};
  return TensorListSlot{std::move(values)};
}

Converted convert_any_list(const Argument& argument, const c10::TypePtr& element, int repeat) {
  switch (element->kind()) {
    case c10::TypeKind::TensorType:
      return convert_tensors(argument, false);
    case c10::TypeKind::OptionalType:
      if (element->containedType(0)->kind() != c10::TypeKind::TensorType) return std::nullopt;
      return convert_tensors(argument, true);
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return convert_list<std::int64_t>(argument, repeat, whole_number);
    case c10::TypeKind::FloatType:
      return convert_list<double>(argument, repeat, real_number);
    case c10::TypeKind::BoolType:
      return convert_list<bool>(argument, repeat, truth);
    default:
      return std::nullopt;  // Scalar[], str[], Dimname[]: no operator of the table has them
  }
}

Converted convert(const Argument& argument, const c10::TypePtr& type, int repeat,
                  at::Device device) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      if (as<Argument::None>(argument) != nullptr) return c10::IValue();
      return convert(argument, type->containedType(0), repeat, device);
    case c10::TypeKind::TensorType:
      if (const auto* id = as<ValueId>(argument)) return TensorSlot{id->index};
      return wrapped_number(argument);
    case c10::TypeKind::ListType:
      return convert_any_list(argument, type->containedType(0), repeat);
    case c10::TypeKind::NumberType:
      return convert_number(argument);
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      if (const auto number = whole_number(argument)) return c10::IValue(*number);
      return std::nullopt;
    case c10::TypeKind::FloatType:
      if (const auto number = real_number(argument)) return c10::IValue(*number);
      return std::nullopt;
    case c10::TypeKind::BoolType:
      if (const auto flag = truth(argument)) return c10::IValue(*flag);
      return std::nullopt;
    case c10::TypeKind::StringType:
      if (const auto* text = as<std::string>(argument)) return c10::IValue(*text);
      return std::nullopt;
    case c10::TypeKind::ScalarTypeType:
      if (const auto* dtype = as<DType>(argument)) return c10::IValue(scalar_type(*dtype));
      return std::nullopt;
    case c10::TypeKind::LayoutType:
      if (as<Argument::Layout>(argument) != nullptr) return c10::IValue(at::kStrided);
      return std::nullopt;
    case c10::TypeKind::MemoryFormatType:
      if (const auto* format = as<MemoryFormat>(argument)) {
        return c10::IValue(memory_format(*format));
      }
      return std::nullopt;
    case c10::TypeKind::DeviceObjType:
      if (as<Argument::Device>(argument) != nullptr) return c10::IValue(device);
      return std::nullopt;
    default:
      return std::nullopt;  // Generator, Dimname, Stream, Storage: only None, if optional
  }
}

}  // namespace

std::variant<std::vector<Slot>, std::string> convert_arguments(
    const c10::FunctionSchema& schema, const std::vector<Argument>& arguments, at::Device device) {
  const std::vector<c10::Argument>& wanted = schema.arguments();
  if (arguments.size() != wanted.size()) {
    return std::to_string(arguments.size()) + " arguments where the operator has " +
           std::to_string(wanted.size());
  }
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string where = "argument " + std::to_string(i) + " (" + wanted[i].name() + "): ";
    const bool* flag = as<bool>(arguments[i]);
    if (wanted[i].name() == "pin_memory" && flag != nullptr && *flag) {
      return where + "pinned memory is not there for candidates";
    }
    Converted slot =
        convert(arguments[i], wanted[i].real_type(), wanted[i].N().value_or(0), device);
    if (!slot) return where + "does not fit the type " + wanted[i].real_type()->str();
    slots.push_back(*std::move(slot));
  }
  return slots;
}

void push_arguments(const std::vector<Slot>& slots, const std::vector<at::Tensor>& values,
                    torch::jit::Stack& stack) {
  auto tensor = [&](int id) { return values[static_cast<std::size_t>(id)]; };
  for (const Slot& slot : slots) {
    if (const auto* ready = std::get_if<c10::IValue>(&slot)) {
      stack.push_back(*ready);
    } else if (const auto* one = std::get_if<TensorSlot>(&slot)) {
      stack.emplace_back(tensor(one->value));
    } else if (const auto* list = std::get_if<TensorListSlot>(&slot)) {
      c10::List<at::Tensor> tensors;
      for (const int id : list->values) tensors.push_back(tensor(id));
      stack.emplace_back(std::move(tensors));
    } else {
      c10::List<std::optional<at::Tensor>> tensors;
      for (const int id : std::get<OptionalTensorListSlot>(slot).values) {
        tensors.push_back(id < 0 ? std::optional<at::Tensor>() : tensor(id));
      }
      stack.emplace_back(std::move(tensors));
    }
  }
}

}  // namespace kagent::plan
