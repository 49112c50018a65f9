// SPDX-License-Identifier: Apache-2.0
// What a hostile program tries. Each attack returns how it got through, or an empty text where it was
// refused. They run inside the sandbox; the targets are put up outside by the suite (targets.h).
#pragma once

#include <map>
#include <string>

namespace kagent::escape {

/// Where the targets are: what a well-informed attacker would know.
struct Targets {
  std::string secret_file;       // readable by everybody on the host, not named by any policy
  std::string secret;            // what it holds, and what the victim has in its environment
  std::string writable_folder;   // of everybody on the host, not named by any policy
  std::string frozen_file;       // named by the policy, read-only; as seen inside
  std::string own_folder;        // named by the policy, read-write; as seen inside
  std::string socket_path;       // a Unix socket that listens, open to everybody
  std::string abstract_name;     // an abstract one
  int tcp_port = 0;              // on 127.0.0.1
  int udp_port = 0;
  int victim = 0;                // pid on the host of a process of the sandbox's own user
  int shared_memory_key = 0;     // System V, mode 0666
  int server = 0;                // pid of the warm server, as it sees itself; 0: none
};

std::string to_text(const Targets& targets);
Targets read_targets(const std::string& text);

using Attack = std::string (*)(const Targets&);
const std::map<std::string, Attack>& attacks();

}  // namespace kagent::escape
