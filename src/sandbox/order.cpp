// SPDX-License-Identifier: Apache-2.0
#include "sandbox/order.h"

#include <nlohmann/json.hpp>

namespace kagent::sandbox {
namespace {

using Json = nlohmann::json;

Json mounts_to_json(const std::vector<Mount>& mounts) {
  Json list = Json::array();
  for (const auto& mount : mounts) list.push_back({mount.ours.string(), mount.theirs.string()});
  return list;
}

std::vector<Mount> mounts_from_json(const Json& list) {
  std::vector<Mount> mounts;
  for (const auto& pair : list) mounts.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return mounts;
}

}  // namespace

std::string to_text(const Order& order) {
  const Policy& policy = order.policy;
  return Json{{"tier", word(order.tier)},
              {"was_root", order.was_root},
              {"read_only", mounts_to_json(policy.read_only)},
              {"read_write", mounts_to_json(policy.read_write)},
              {"gpu", policy.gpu == GpuAccess::devices},
              {"server", policy.calls == Calls::server},
              {"directory", policy.directory},
              {"scratch_bytes", policy.scratch_bytes},
              {"processes", policy.limits.processes.value_or(0)}}
      .dump();
}

Result<Order> parse_order(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Order order;
    KAGENT_TRY(order.tier, tier_of(json.at("tier").get<std::string>()));
    order.was_root = json.at("was_root").get<bool>();
    order.policy.read_only = mounts_from_json(json.at("read_only"));
    order.policy.read_write = mounts_from_json(json.at("read_write"));
    order.policy.gpu = json.at("gpu").get<bool>() ? GpuAccess::devices : GpuAccess::none;
    order.policy.calls = json.at("server").get<bool>() ? Calls::server : Calls::tools;
    order.policy.directory = json.at("directory").get<std::string>();
    order.policy.scratch_bytes = json.at("scratch_bytes").get<std::uint64_t>();
    if (const auto most = json.at("processes").get<unsigned long>(); most > 0) order.policy.limits.processes = most;
    return order;
  } catch (const Json::exception& exception) {
    return Error{ErrorKind::usage, std::string("not an order: ") + exception.what()};
  }
}

}  // namespace kagent::sandbox
