// SPDX-License-Identifier: Apache-2.0
#include "self_test.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "sandbox/fresh_child.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

std::string status_field(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":\t", 0) == 0) return line.substr(name.size() + 2);
  }
  return {};
}

bool can_write(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  ::close(fd);
  ::unlink(path);
  return true;
}

/// Whether a datagram can leave for another machine.
bool reaches_network() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(0x08080808);
  const bool reached = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return reached;
}

/// What a hostile program must not be able to do; empty where all is held.
std::string what_fails() {
  if (::getuid() == 0 || ::geteuid() == 0) return "still user 0";
  if (status_field("CapEff") != "0000000000000000") return "capabilities are left";
  if (status_field("NoNewPrivs") != "1") return "no_new_privs is not set";
  if (status_field("Seccomp") != "2") return "no system call filter";
  if (can_write("/usr/kagent-self-test") || can_write("/etc/kagent-self-test")) return "the system can be written";
  if (can_write("/proc/sys/kernel/hostname")) return "kernel settings can be written";
  const char* scratch = std::getenv("TMPDIR");
  if (scratch == nullptr || !can_write((std::string(scratch) + "/self-test").c_str())) return "no private folder to write in";
  if (reaches_network()) return "the network can be reached";
  if (::mount("none", "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0) return "mounts can be changed";
  return {};
}

std::string look_from_fresh_child(FreshNest& nest) {
  if (auto prepared = nest.prepare(); !prepared) return prepared.error().message;
  const int parent = ::getpid();
  const unsigned user = nest.next_user();
  const int pid = ::fork();
  if (pid == 0) {
    std::string why;
    if (auto entered = nest.enter(parent, {}); !entered) {
      why = entered.error().message;
    } else if (why = what_fails(); why.empty()) {
      if (::getpid() != 1) why = "a child shares the server's processes";
      else if (user != 0 && ::getuid() != user) why = "a child is no user of its own";
    }
    if (!why.empty()) std::printf("child: %s\n", why.c_str());
    std::fflush(stdout);
    ::_exit(why.empty() ? 0 : 1);
  }
  nest.close_door();
  int status = 1;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0) return "a child is not held";
  return {};
}

}  // namespace

int self_test() {
  std::string why;
  if (std::getenv(kNestVariable) != nullptr) {
    auto nest = FreshNest::open();
    for (int round = 0; round < 2 && why.empty(); ++round) why = look_from_fresh_child(nest);
  } else {
    why = what_fails();
  }
  std::printf("%s\n", why.empty() ? "held" : why.c_str());
  return why.empty() ? 0 : 1;
}

}  // namespace kagent::sandbox
