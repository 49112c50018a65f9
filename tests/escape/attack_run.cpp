// SPDX-License-Identifier: Apache-2.0
#include "attack_run.h"

#include "sandbox/child.h"
#include "sys/capture.h"

namespace kagent::escape {
namespace {

/// What src/evaluator/programs.cpp and the shell give, with smaller limits: a flood is over sooner.
sandbox::Policy policy_for(const TargetsOnHost& host, sandbox::Tier tier, const std::string& role) {
  sandbox::Policy policy;
  host.add_to(policy, tier);
  policy.read_only.push_back({KAGENT_ATTACKER, KAGENT_ATTACKER});
  // A child's own /tmp must not hide it.
  if (sandbox::has_own_root(tier)) policy.read_only.push_back({policy.read_only.front().ours, "/tmp/shown in scratch"});
  policy.calls = role == "tools" ? sandbox::Calls::tools : sandbox::Calls::server;
  policy.scratch_bytes = 32ull << 20;
  policy.tree_bytes = 1ull << 30;
  policy.limits.data_bytes = 512ul << 20;
  policy.limits.file_bytes = 64ul << 20;
  policy.limits.processes = 256;
  return policy;
}

}  // namespace

AttackResult run_attack(const TargetsOnHost& host, sandbox::Tier tier, const std::string& role, const std::string& name) {
  host.forget_beat();
  sys::SpawnRequest request;
  request.arguments = {KAGENT_ATTACKER, role, name, to_text(host.seen_from(tier))};
  request.environment = {"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp"};
  auto capture = sys::OutputCapture::start(1 << 16, 1 << 16);
  if (!capture) return {false, false, capture.error().message};
  request.output = (*capture)->writer();
  auto child = sandbox::Child::start(std::move(request), policy_for(host, tier, role), tier);
  if (!child) return {false, false, child.error().message};
  (*capture)->close_writer();
  const auto status = child->wait(sandbox::Child::Clock::now() + std::chrono::seconds(60));
  child->kill();
  (*capture)->finish(2000);
  AttackResult result;
  result.how = (*capture)->text();
  while (!result.how.empty() && result.how.back() == '\n') result.how.pop_back();
  // An attacker that a limit has killed was refused.
  result.tried = status && (status->signal || status->code == 0 || status->code == 1);
  if (status && !result.tried) result.how += " (" + status->describe() + ")";
  result.refused = result.tried && status->code != 1;
  const auto through = [&](const char* how) {
    result.refused = false;
    result.how += how;
  };
  if (!host.victim_lives()) through(" the victim is dead");
  if (host.datagram_came()) through(" a datagram came");
  if (host.host_was_written()) through(" the host's files changed");
  if (host.still_beats()) through(" somebody was left behind");
  return result;
}

}  // namespace kagent::escape
