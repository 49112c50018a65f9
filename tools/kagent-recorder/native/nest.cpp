// SPDX-License-Identifier: Apache-2.0
// src/sandbox/fresh_child.h for Python, by ctypes. One nest a process. Functions return an empty text, or
// what went wrong; it is good until the next call.
#include <string>

#include "sandbox/fresh_child.h"

namespace {

kagent::sandbox::FreshNest& nest() {
  static auto* the_nest = new kagent::sandbox::FreshNest(kagent::sandbox::FreshNest::open());
  return *the_nest;
}

const char* told(const kagent::Result<void>& result) {
  static auto* text = new std::string;
  *text = result ? std::string() : result.error().message;
  return text->c_str();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int kagent_nest_is_fresh() { return nest().fresh() ? 1 : 0; }
__attribute__((visibility("default"))) const char* kagent_nest_prepare() { return told(nest().prepare()); }
__attribute__((visibility("default"))) void kagent_nest_close_door() { nest().close_door(); }
/// A leaf: no programs, no card.
__attribute__((visibility("default"))) const char* kagent_nest_enter(int parent) { return told(nest().enter(parent, {})); }
__attribute__((visibility("default"))) void kagent_nest_hide_server() { kagent::sandbox::hide_server(); }
}
