// SPDX-License-Identifier: Apache-2.0
#include "attacks.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace kagent::escape {
namespace {

namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool can_create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

bool can_open_for_writing(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

std::vector<int> processes() {
  std::vector<int> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/proc", code)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0) found.push_back(pid);
  }
  return found;
}

// --- files ---
std::string write_outside(const Targets& targets) {
  for (const std::string& folder : {std::string("/usr"), std::string("/etc"), std::string("/"), targets.writable_folder,
                                   fs::path(targets.frozen_file).parent_path().string()}) {
    if (can_create(folder + "/kagent-escape")) return "made a file in " + folder;
  }
  return {};
}

std::string read_secret(const Targets& targets) {
  if (slurp(targets.secret_file).find(targets.secret) != std::string::npos) return "read " + targets.secret_file;
  for (const std::string path : {"/proc/1/root", "/proc/self/root/../..", "/dev/fd/../../.."}) {
    if (slurp(path + targets.secret_file).find(targets.secret) != std::string::npos) return "read it through " + path;
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string(*entry).find(targets.secret) != std::string::npos) return "found it in the environment";
  }
  return {};
}

std::string change_frozen(const Targets& targets) {
  const std::string& file = targets.frozen_file;
  const std::string folder = fs::path(file).parent_path().string();
  if (can_open_for_writing(file)) return "opened " + file + " for writing";
  if (::truncate(file.c_str(), 0) == 0) return "truncated it";
  if (::chmod(file.c_str(), 0777) == 0 && can_open_for_writing(file)) return "changed its mode and opened it";
  if (::rename(file.c_str(), (folder + "/other").c_str()) == 0) return "renamed it";
  if (::unlink(file.c_str()) == 0) return "removed it";
  if (::link(file.c_str(), (targets.own_folder + "/linked").c_str()) == 0) return "made a hard link to it";
  return {};
}

std::string links_out(const Targets& targets) {
  const std::string link = targets.own_folder + "/way-out";
  if (::symlink(targets.secret_file.c_str(), link.c_str()) == 0 && slurp(link).find(targets.secret) != std::string::npos) {
    return "read the secret through a symbolic link";
  }
  ::unlink(link.c_str());
  if (::link(targets.secret_file.c_str(), link.c_str()) == 0) return "made a hard link to the secret";
  if (::link("/etc/passwd", link.c_str()) == 0) return "made a hard link to /etc/passwd";
  return {};
}

// --- processes ---
std::string read_environments(const Targets& targets) {
  for (const int pid : processes()) {
    if (slurp("/proc/" + std::to_string(pid) + "/environ").find(targets.secret) != std::string::npos) {
      return "read the environment of process " + std::to_string(pid);
    }
  }
  return {};
}

std::string read_memories(const Targets& targets) {
  for (const int pid : processes()) {
    if (pid == ::getpid()) continue;
    if (const int fd = ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) {
      ::close(fd);
      return "opened the memory of process " + std::to_string(pid);
    }
  }
  char byte = 0;
  iovec own{&byte, 1};
  iovec other{const_cast<char**>(environ), 1};
  if (::process_vm_readv(targets.victim, &own, 1, &other, 1, 0) >= 0) return "read the victim's memory";
  return {};
}

std::string trace(const Targets& targets) {
  if (::ptrace(PTRACE_ATTACH, targets.victim, nullptr, nullptr) == 0) return "traces the victim";
  if (targets.server != 0 && ::ptrace(PTRACE_ATTACH, targets.server, nullptr, nullptr) == 0) return "traces the server";
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) return "tracing is possible";
  return {};
}

std::string signal_others(const Targets& targets) {
  if (::kill(targets.victim, SIGKILL) == 0) return "killed the victim";
  if (targets.server > 1 && ::kill(targets.server, 0) == 0) return "may signal the server";
  if (::getppid() > 1 && ::kill(::getppid(), 0) == 0 && targets.server != 0) return "may signal its parent";
  return {};
}

std::string find_server(const Targets& targets) {
  if (targets.server == 0) return {};
  if (::getppid() != 0) return "sees its server as process " + std::to_string(::getppid());
  return {};
}

std::string be_server_user(const Targets& targets) {
  struct stat status {};
  // The server's own folder is mounted for it: whoever owns that is the server's user.
  if (targets.server == 0 || ::stat(targets.own_folder.c_str(), &status) != 0) return {};
  if (status.st_uid == ::getuid()) return "runs as its server's user";
  return {};
}

std::string open_server_memory(const Targets& targets) {
  if (targets.server == 0 || ::getppid() == 0) return {};
  for (const char* name : {"mem", "environ", "maps"}) {
    const int fd = ::open(("/proc/" + std::to_string(::getppid()) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) return std::string("opened its server's ") + name;
  }
  return {};
}

std::string fork_bomb(const Targets&) {
  constexpr int kMany = 3000;
  std::vector<pid_t> children;
  int started = 0;
  for (; started < kMany; ++started) {
    const int pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    children.push_back(pid);
  }
  for (const int pid : children) ::kill(pid, SIGKILL);
  for (const int pid : children) ::waitpid(pid, nullptr, 0);
  return started == kMany ? "started 3000 processes" : "";
}

void* sleep_for_ever(void*) {
  for (;;) ::pause();
}

std::string thread_bomb(const Targets&) {
  constexpr int kMany = 3000;
  int started = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 10);
  for (; started < kMany; ++started) {
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, sleep_for_ever, nullptr) != 0) break;
  }
  return started == kMany ? "started 3000 threads" : "";
}

/// Never ends: a grandchild in a session of its own writes on and on.
std::string leave_somebody(const Targets& targets) {
  const int pid = ::fork();
  if (pid < 0) return {};   // refused
  if (pid == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    for (int beat = 0; beat < 600; ++beat) {   // a minute at most, should the suite fail
      std::ofstream(targets.own_folder + "/beat", std::ios::app) << '.' << std::flush;
      ::usleep(100'000);
    }
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  ::usleep(250'000);
  return {};   // the suite looks whether it still beats
}

std::string stay(const Targets& targets) {
  leave_somebody(targets);
  for (int beat = 0; beat < 600; ++beat) {
    std::ofstream(targets.own_folder + "/beat", std::ios::app) << '.' << std::flush;
    ::usleep(100'000);
  }
  return {};
}

// --- the kernel ---
std::string change_mounts(const Targets&) {
  if (::mount("none", "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0) return "remounted /usr";
  if (::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr) == 0) return "mounted something";
  if (::umount2("/proc", MNT_DETACH) == 0) return "unmounted /proc";
  if (::unshare(CLONE_NEWUSER) == 0) return "made a user namespace";
  if (::unshare(CLONE_NEWNS) == 0) return "made a mount namespace";
  return {};
}

std::string kernel_settings(const Targets&) {
  for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
                           "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    if (can_open_for_writing(path)) return std::string("may write ") + path;
  }
  return {};
}

std::string kernel_keys(const Targets&) {
  if (::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) >= 0) return "reaches a keyring";
  if (::syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */) >= 0) return "userfaultfd";
  char parameters[256] = {};
  if (::syscall(SYS_io_uring_setup, 4, parameters) >= 0) return "io_uring";
  return {};
}

std::string other_user(const Targets&) {
  if (::getuid() == 0 || ::geteuid() == 0) return "is root";
  for (const unsigned user : {0u, 65534u, 65001u}) {
    if (user != ::getuid() && ::syscall(SYS_setresuid, user, user, user) == 0) return "became user " + std::to_string(user);
  }
  return {};
}

std::string new_program(const Targets& targets) {
  if (targets.server == 0) return {};   // tools may
  const int pid = static_cast<int>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid == 0) ::_exit(0);
  if (pid > 0) {
    ::waitpid(pid, nullptr, 0);
    return "started a process";
  }
  return {};
}

// --- the network ---
std::string tcp(const Targets& targets) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(targets.tcp_port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? "connected" : "";
}

std::string udp(const Targets& targets) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(targets.udp_port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::sendto(fd, "out", 3, 0, reinterpret_cast<sockaddr*>(&address), sizeof address);
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(0x08080808);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return "has a route to a name server";
  return {};   // the suite looks whether the datagram came
}

std::string connect_local(const sockaddr_un& address, std::size_t size) {
  for (const int kind : {SOCK_STREAM, SOCK_DGRAM}) {
    const int fd = ::socket(AF_UNIX, kind, 0);
    if (fd < 0) continue;
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) == 0;
    ::close(fd);
    if (connected) return "connected";
  }
  return {};
}

std::string unix_socket(const Targets& targets) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, targets.socket_path.c_str(), sizeof address.sun_path - 1);
  return connect_local(address, sizeof address);
}

std::string abstract_socket(const Targets& targets) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, targets.abstract_name.data(), targets.abstract_name.size());
  return connect_local(address, offsetof(sockaddr_un, sun_path) + 1 + targets.abstract_name.size());
}

/// Families that no network namespace holds back.
std::string other_sockets(const Targets&) {
  for (const int family : {38 /* AF_ALG */, 40 /* AF_VSOCK */, AF_INET, AF_PACKET}) {
    if (::socket(family, SOCK_STREAM, 0) >= 0 || ::socket(family, SOCK_DGRAM, 0) >= 0 || ::socket(family, SOCK_SEQPACKET, 0) >= 0) {
      return "made a socket of family " + std::to_string(family);
    }
  }
  return {};
}

std::string shared_memory(const Targets& targets) {
  return ::shmget(targets.shared_memory_key, 4096, 0) >= 0 ? "found the host's shared memory" : "";
}

// --- floods (the suite's policies allow 512 MiB of memory, a GiB for the tree, 32 MiB of scratch and files of 64 MiB) ---
std::string memory_bomb(const Targets&) {
  constexpr std::size_t kBytes = 1ul << 30;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? "got a GiB of memory" : "";
}

/// Memory that no limit of a process counts.
std::string memory_files(const Targets&) {
  const std::string block(1 << 20, 'x');
  for (int file = 0; file < 25; ++file) {
    const int fd = ::memfd_create("flood", 0);
    if (fd < 0) return {};
    for (int i = 0; i < 60; ++i) {
      if (::write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) return {};
    }
  }
  return "filled 1500 MiB of memory files";
}

std::string fill(const std::string& path, std::size_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return {};
  const std::string block(1 << 20, 'x');
  std::size_t written = 0;
  while (written < bytes) {
    const auto got = ::write(fd, block.data(), block.size());
    if (got <= 0) break;
    written += static_cast<std::size_t>(got);
  }
  ::close(fd);
  ::unlink(path.c_str());
  return written >= bytes ? "wrote " + std::to_string(bytes >> 20) + " MiB to " + path : "";
}

std::string scratch_flood(const Targets&) {
  for (const std::string folder : {"/tmp", "/dev/shm"}) {
    if (auto through = fill(folder + "/flood", 40ul << 20); !through.empty()) return through;
  }
  return {};
}

std::string large_file(const Targets& targets) { return fill(targets.own_folder + "/flood", 80ul << 20); }

std::string descriptors(const Targets&) {
  for (int fd = 3; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) return "descriptor " + std::to_string(fd) + " was left open";
  }
  return {};
}

}  // namespace

const std::map<std::string, Attack>& attacks() {
  static const std::map<std::string, Attack> all{
      {"write_outside", write_outside},     {"read_secret", read_secret},
      {"change_frozen", change_frozen},     {"links_out", links_out},
      {"read_environments", read_environments}, {"read_memories", read_memories},
      {"trace", trace},                     {"signal_others", signal_others},
      {"find_server", find_server},         {"be_server_user", be_server_user},
      {"open_server_memory", open_server_memory}, {"fork_bomb", fork_bomb},
      {"thread_bomb", thread_bomb},         {"leave_somebody", leave_somebody},
      {"stay", stay},                       {"change_mounts", change_mounts},
      {"kernel_settings", kernel_settings}, {"kernel_keys", kernel_keys},
      {"other_user", other_user},           {"new_program", new_program},
      {"tcp", tcp},                         {"udp", udp},
      {"unix_socket", unix_socket},         {"abstract_socket", abstract_socket},
      {"other_sockets", other_sockets},     {"shared_memory", shared_memory},
      {"memory_bomb", memory_bomb},         {"memory_files", memory_files},
               {"scratch_flood", scratch_flood},
      {"large_file", large_file},           {"descriptors", descriptors}};
  return all;
}

std::string to_text(const Targets& t) {
  return nlohmann::json{{"secret_file", t.secret_file}, {"secret", t.secret}, {"writable_folder", t.writable_folder},
                        {"frozen_file", t.frozen_file}, {"own_folder", t.own_folder}, {"socket_path", t.socket_path},
                        {"abstract_name", t.abstract_name}, {"tcp_port", t.tcp_port}, {"udp_port", t.udp_port},
                        {"victim", t.victim}, {"shared_memory_key", t.shared_memory_key}, {"server", t.server}}
      .dump();
}

Targets read_targets(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Targets t;
  t.secret_file = json.at("secret_file");
  t.secret = json.at("secret");
  t.writable_folder = json.at("writable_folder");
  t.frozen_file = json.at("frozen_file");
  t.own_folder = json.at("own_folder");
  t.socket_path = json.at("socket_path");
  t.abstract_name = json.at("abstract_name");
  t.tcp_port = json.at("tcp_port");
  t.udp_port = json.at("udp_port");
  t.victim = json.at("victim");
  t.shared_memory_key = json.at("shared_memory_key");
  t.server = json.at("server");
  return t;
}

}  // namespace kagent::escape
