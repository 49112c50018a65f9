// SPDX-License-Identifier: Apache-2.0
#include "sandbox/probe.h"

#include <chrono>

#include "sandbox/child.h"
#include "sandbox/landlock.h"
#include "sys/capture.h"

#include <unistd.h>

namespace kagent::sandbox {
namespace {

/// Runs `kagent-sandbox --self-test` inside; empty where it says "held".
Result<std::string> self_test(Tier tier, Calls calls) {
  KAGENT_TRY(const auto program, launcher());
  sys::SpawnRequest request;
  request.arguments = {program.string(), "--self-test"};
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "HOME=/tmp"};
  Policy policy;
  policy.calls = calls;
  policy.read_only.push_back({program, program});
  KAGENT_TRY(auto capture, sys::OutputCapture::start(4096, 4096));
  request.output = capture->writer();
  KAGENT_TRY(Child child, Child::start(std::move(request), policy, tier));
  capture->close_writer();
  const auto status = child.wait(Child::Clock::now() + std::chrono::seconds(10));
  child.kill();
  capture->finish(1000);
  const std::string said = capture->text();
  if (status && status->code == 0 && said == "held\n") return std::string();
  const std::string line = said.substr(0, said.find('\n'));
  return line.empty() ? (status ? status->describe() : "no answer within 10 s") : line;
}

}  // namespace

Result<Holding> probe(Tier tier) {
  if (tier == Tier::none) return Holding{};
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::environment, "sandbox " + std::string(word(tier)) + " does not hold here: " + why};
  };
  if (tier == Tier::namespaces && ::geteuid() != 0) return refuse("without bubblewrap it needs root");
  if (tier == Tier::landlock && landlock_version() == 0) return refuse("this kernel has no Landlock");
  auto why = self_test(tier, Calls::tools);
  if (!why) return refuse(why.error().message);
  if (!why->empty()) return refuse(*why);
  Holding holding;
  holding.tier = tier;
  holding.landlock_version = landlock_version();
  holding.control_group = ControlGroup::create(1ull << 30, 64).has_value();
  if (has_own_root(tier)) {
    const auto server = self_test(tier, Calls::server);
    holding.fresh_children = server && server->empty();
  }
  return holding;
}

Result<Holding> probe_best() {
  std::string reasons;
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock}) {
    auto holding = probe(tier);
    if (holding) return holding;
    reasons += (reasons.empty() ? "" : "; ") + holding.error().message;
  }
  return Error{ErrorKind::environment, reasons + "; see docs/sandbox.md, or type --sandbox none"};
}

}  // namespace kagent::sandbox
