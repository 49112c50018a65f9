// SPDX-License-Identifier: Apache-2.0
// A warm server forks a child for each candidate. FreshNest gives every child PID, mount and IPC
// namespaces, a /proc, a /tmp and a user of its own, so that a hostile one finds neither the server nor
// its siblings (pitfall 19). Used between fork and work:
//
//   nest.prepare();                 // server: the next fork opens a PID namespace
//   if (fork() == 0) nest.enter(confinement); ...
//   nest.close_door();              // server: forks are ordinary again
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "sandbox/landlock.h"
#include "sys/fd.h"

namespace kagent::sandbox {

/// How a child is held, on top of what its server is held to.
struct Confinement {
  bool programs = false;                  // may start other processes and programs (compilers do)
  bool gpu = false;                       // may use the card's driver
  std::vector<std::string> kept_folders;  // below /tmp; stay where they are in the child's private /tmp
  const FileAccess* files = nullptr;      // a Landlock wall around it, where the kernel has Landlock
};

class FreshNest {
 public:
  /// What the launcher left to this server; without it (no namespaces) children share the server's.
  static FreshNest open();

  /// Whether children get namespaces and a user of their own.
  bool fresh() const { return own_pid_namespace_.get() >= 0; }

  /// The user of the next child: whoever shares a folder with it makes that folder the user's. 0: ours.
  unsigned next_user() const;

  /// Before fork(). The process must have one thread.
  Result<void> prepare();
  /// In the parent, after fork(), whether or not that worked.
  void close_door();
  /// In the child. parent: the server's pid. Descriptors are the caller's business. After an Error the
  /// child must end.
  Result<void> enter(int parent, const Confinement& confinement);

 private:
  sys::Fd own_pid_namespace_;
  bool users_ = false;       // whether the users of children are mapped
  std::uint64_t bytes_ = 0;  // of /tmp and /dev/shm each
  unsigned count_ = 0;       // children so far
};

/// Environment of a server: "KAGENT_NEST=users:4294967296", or without users "KAGENT_NEST=same:…".
inline constexpr const char* kNestVariable = "KAGENT_NEST";

/// No other process without privileges may look into this one.
void hide_server();

}  // namespace kagent::sandbox
