// SPDX-License-Identifier: Apache-2.0
// Python dicts and lists to nlohmann's JSON and back, by way of text.
#pragma once

#include <string>

#include <kagent/result.h>

#include <nlohmann/json.hpp>
#include <pybind11/pybind11.h>

namespace kagent::reference {

inline nlohmann::json from_python(const pybind11::handle& value) {
  const auto text = pybind11::module_::import("json").attr("dumps")(value).cast<std::string>();
  return nlohmann::json::parse(text);
}

inline pybind11::object to_python(const nlohmann::json& json) {
  return pybind11::module_::import("json").attr("loads")(
      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Errors become kagent_native.TaskError where the task is to blame, kagent_native.Error else.
[[noreturn]] void raise(const Error& error);

template <typename T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

inline void unwrap(const Result<void>& result) {
  if (!result) raise(result.error());
}

}  // namespace kagent::reference
