// SPDX-License-Identifier: Apache-2.0
#include "targets_on_host.h"

#include <csignal>
#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::escape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "open-sesame-4711";

sys::Fd listen_on(const sockaddr_un& address, std::size_t size) {
  sys::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size));
  ::listen(fd.get(), 8);
  return fd;
}

sys::Fd internet_socket(int kind, int& port) {
  sys::Fd fd(::socket(AF_INET, kind | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  if (kind == SOCK_STREAM) ::listen(fd.get(), 8);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return fd;
}

/// A process of the sandbox's own user on the host, with a secret in its environment.
int start_victim() {
  const int pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::geteuid() == 0) {
    ::syscall(SYS_setresgid, sys::kSandboxUser, sys::kSandboxUser, sys::kSandboxUser);
    ::syscall(SYS_setresuid, sys::kSandboxUser, sys::kSandboxUser, sys::kSandboxUser);
  }
  char* const arguments[] = {const_cast<char*>("sleep"), const_cast<char*>("600"), nullptr};
  const std::string secret = std::string("API_KEY=") + kSecret;
  char* const environment[] = {const_cast<char*>(secret.c_str()), nullptr};
  ::execve("/bin/sleep", arguments, environment);
  ::_exit(1);
}

}  // namespace

TargetsOnHost::TargetsOnHost() : folder_(*sys::TemporaryDirectory::create("kagent-escape")) {
  ::umask(022);
  for (const char* name : {"secret", "open", "frozen", "own"}) fs::create_directory(path(name));
  static_cast<void>(sys::write_file_atomically(path("secret/key"), kSecret, 0644));
  static_cast<void>(sys::write_file_atomically(path("frozen/model_new.py"), "frozen", 0666));
  fs::permissions(folder_.path(), fs::perms(0755));
  // Whatever modes would hold back is not what is tested here.
  for (const char* name : {"open", "frozen", "own", "frozen/model_new.py"}) fs::permissions(path(name), fs::perms(0777));
  static_cast<void>(sys::give_to_sandbox_user(path("own")));

  targets_.secret_file = path("secret/key");
  targets_.secret = kSecret;
  targets_.writable_folder = path("open");
  targets_.socket_path = path("open/socket");
  targets_.abstract_name = "kagent-escape-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, targets_.socket_path.c_str(), sizeof address.sun_path - 1);
  unix_socket_ = listen_on(address, sizeof address);
  ::chmod(targets_.socket_path.c_str(), 0777);
  std::memset(address.sun_path, 0, sizeof address.sun_path);
  std::memcpy(address.sun_path + 1, targets_.abstract_name.data(), targets_.abstract_name.size());
  abstract_socket_ = listen_on(address, offsetof(sockaddr_un, sun_path) + 1 + targets_.abstract_name.size());
  tcp_ = internet_socket(SOCK_STREAM, targets_.tcp_port);
  udp_ = internet_socket(SOCK_DGRAM, targets_.udp_port);
  targets_.shared_memory_key = 0x4b000000 + ::getpid();
  shared_memory_ = ::shmget(targets_.shared_memory_key, 4096, IPC_CREAT | 0666);
  targets_.victim = start_victim();
}

TargetsOnHost::~TargetsOnHost() {
  ::kill(targets_.victim, SIGKILL);
  ::waitpid(targets_.victim, nullptr, 0);
  if (shared_memory_ >= 0) ::shmctl(shared_memory_, IPC_RMID, nullptr);
}

Targets TargetsOnHost::seen_from(sandbox::Tier tier) const {
  Targets seen = targets_;
  seen.own_folder = sandbox::place(path("own"), "/own", tier).theirs;
  seen.frozen_file = sandbox::place(path("frozen"), "/frozen", tier).theirs / "model_new.py";
  return seen;
}

void TargetsOnHost::add_to(sandbox::Policy& policy, sandbox::Tier tier) const {
  policy.read_write.push_back(sandbox::place(path("own"), "/own", tier));
  policy.read_only.push_back(sandbox::place(path("frozen"), "/frozen", tier));
}

bool TargetsOnHost::victim_lives() const { return ::waitpid(targets_.victim, nullptr, WNOHANG) == 0; }

bool TargetsOnHost::datagram_came() const {
  char byte = 0;
  return ::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0;
}

bool TargetsOnHost::host_was_written() const {
  const auto text = sys::read_file(path("frozen/model_new.py"), 100);
  return fs::exists(path("open/kagent-escape")) || fs::exists(path("frozen/kagent-escape")) || !text || *text != "frozen";
}

bool TargetsOnHost::still_beats() const {
  std::error_code code;
  const auto before = fs::file_size(path("own/beat"), code);
  if (code) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  return fs::file_size(path("own/beat"), code) != before;
}

void TargetsOnHost::forget_beat() const {
  std::error_code code;
  fs::remove(path("own/beat"), code);
}

}  // namespace kagent::escape
