// SPDX-License-Identifier: Apache-2.0
// What the attacks aim at, put up on the host for as long as the object lives.
#pragma once

#include <string>

#include "attacks.h"
#include "sandbox/policy.h"
#include "sys/files.h"

namespace kagent::escape {

class TargetsOnHost {
 public:
  TargetsOnHost();
  ~TargetsOnHost();
  TargetsOnHost(const TargetsOnHost&) = delete;
  TargetsOnHost& operator=(const TargetsOnHost&) = delete;

  /// As an attacker in this tier would know them.
  Targets seen_from(sandbox::Tier tier) const;
  /// What the policy of every role names.
  void add_to(sandbox::Policy& policy, sandbox::Tier tier) const;

  // What only the host can see.
  bool victim_lives() const;
  bool datagram_came() const;
  bool host_was_written() const;
  /// Whether somebody still writes to own/beat.
  bool still_beats() const;
  void forget_beat() const;

 private:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  sys::TemporaryDirectory folder_;
  Targets targets_;
  sys::Fd unix_socket_, abstract_socket_, tcp_, udp_;
  int shared_memory_ = -1;
};

}  // namespace kagent::escape
