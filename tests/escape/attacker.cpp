// SPDX-License-Identifier: Apache-2.0
// kagent-attacker ROLE ATTACK TARGETS: the hostile program of the escape suite. Prints how it got through.
//   tools     attacks at once, as the reference's task.py and the agent's shell do
//   leaf      is a warm server and attacks from a child: the recorder's and the runner's candidates
//   compiler  as leaf, from a child that may start programs: the builder's sources
// Exit code 0: refused. 1: got through. 2: could not even try.
#include <cstdio>
#include <string>

#include "attacks.h"
#include "sandbox/fresh_child.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kagent;

int attack(const std::string& name, const escape::Targets& targets) {
  const std::string through = escape::attacks().at(name)(targets);
  if (through.empty()) return 0;
  std::printf("%s\n", through.c_str());
  std::fflush(stdout);
  return 1;
}

/// As the servers do around a candidate, for a second one: the first child has come and gone.
int attack_from_child(const std::string& name, escape::Targets targets, bool programs) {
  sandbox::hide_server();
  auto nest = sandbox::FreshNest::open();
  targets.server = ::getpid();
  const char* shown = "/tmp/shown in scratch/model_new.py";
  const bool sees = ::access(shown, R_OK) == 0;
  int status = 0;
  for (const bool harmless : {true, false}) {
    if (auto prepared = nest.prepare(); !prepared) {
      std::printf("%s\n", prepared.error().message.c_str());
      return 2;
    }
    const int pid = ::fork();
    if (pid == 0) {
      ::syscall(SYS_close_range, 3U, ~0U, 0);
      sandbox::Confinement confinement;
      confinement.programs = programs;
      const sandbox::FileAccess files{{"/"}, {targets.own_folder, "/tmp", "/dev"}, {}};
      if (programs) confinement.files = &files;   // as the builder does
      if (auto held = nest.enter(targets.server, confinement); !held) {
        std::printf("%s\n", held.error().message.c_str());
        std::fflush(stdout);
        ::_exit(2);
      }
      if (sees != (::access(shown, R_OK) == 0)) {
        std::printf("a child does not see what its server is shown below /tmp\n");
        std::fflush(stdout);
        ::_exit(2);
      }
      ::_exit(harmless ? 0 : attack(name, targets));
    }
    nest.close_door();
    if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return 2;
    if (!WIFEXITED(status)) return 2;
    if (harmless && WEXITSTATUS(status) != 0) return 2;
  }
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 4 || escape::attacks().count(arguments[2]) == 0) return 2;
  const std::string role = arguments[1];
  const auto targets = escape::read_targets(arguments[3]);
  if (role == "tools") return attack(arguments[2], targets);
  return attack_from_child(arguments[2], targets, role == "compiler");
}
