// SPDX-License-Identifier: Apache-2.0
#include "fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace kagent::runner {
namespace {

using wire::Json;

constexpr auto kGrace = std::chrono::milliseconds(200);  // for a child that ends by itself
constexpr std::size_t kMaxChildren = 64;

Json error(const std::string& message) { return {{"error", {{"message", message}}}}; }

/// A thread of the warm process would be missing in its children, with the locks it held.
bool has_one_thread() {
  std::error_code code;
  int threads = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", code);
       !code && it != std::filesystem::directory_iterator(); it.increment(code)) {
    ++threads;
  }
  return threads <= 1;  // 0: no /proc to ask
}

}  // namespace

void ForkServer::serve() {
  for (;;) {
    bool channel_ready = false;
    bool channel_closed = false;
    wait_for_events(channel_ready, channel_closed);
    if (const auto waited = waited_answer()) {
      if (!channel_.send(*waited)) return;
    }
    if (waiting_for_ ? channel_closed : channel_ready && !answer_request()) return;
  }
}

/// One round of poll over the channel and every living child.
void ForkServer::wait_for_events(bool& channel_ready, bool& channel_closed) {
  std::vector<pollfd> waits;
  // While a `wait` is open nothing is read: one request at a time.
  const short wanted = waiting_for_ ? POLLRDHUP : POLLIN | POLLRDHUP;
  waits.push_back({channel_.fd(), wanted, 0});
  for (const Child& child : children_) {
    waits.push_back({child.status ? -1 : child.process.get(), POLLIN, 0});
    waits.push_back({child.status || child.kill_at ? -1 : child.socket.get(), POLLRDHUP, 0});
  }
  if (::poll(waits.data(), waits.size(), next_timeout()) < 0) return;  // EINTR: look again
  channel_ready = waits[0].revents != 0;
  channel_closed = (waits[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    tend(children_[i], waits[1 + 2 * i].revents, waits[2 + 2 * i].revents);
  }
}

void ForkServer::tend(Child& child, short process_events, short socket_events) {
  if (child.status) return;
  if (process_events != 0) {
    int status = 0;
    if (::waitpid(child.pid, &status, 0) == child.pid) child.status = status;
    child.socket.reset();  // now the other side sees that the child has gone
    return;
  }
  if (socket_events != 0) child.kill_at = Clock::now() + kGrace;
  if (child.kill_at && Clock::now() >= *child.kill_at) {
    ::kill(child.pid, SIGKILL);
    child.kill_at = Clock::now() + std::chrono::hours(1);  // dead or in the driver's hands
  }
}

int ForkServer::next_timeout() const {
  int timeout = -1;
  for (const Child& child : children_) {
    if (child.status || !child.kill_at) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(*child.kill_at - Clock::now());
    const int milliseconds = static_cast<int>(std::max<std::int64_t>(0, left.count() + 1));
    timeout = timeout < 0 ? milliseconds : std::min(timeout, milliseconds);
  }
  return timeout;
}

bool ForkServer::answer_request() {
  auto received = channel_.receive();
  auto* frame = std::get_if<wire::Frame>(&received);
  if (frame == nullptr) return false;
  const Json reply = answer(std::move(*frame));
  return reply.is_null() || bool(channel_.send(reply));
}

/// null: the answer comes later.
Json ForkServer::answer(wire::Frame frame) {
  const auto type = frame.body.find("type");
  const std::string word =
      type != frame.body.end() && type->is_string() ? type->get<std::string>() : "";
  if (word == "hello") return {{"ok", hello_}};
  if (word == "fork") return fork_child(std::move(frame.descriptors));
  if (word != "wait") return error("the runner's server does not know the request '" + word + "'");
  const auto pid = frame.body.find("pid");
  const bool known =
      pid != frame.body.end() && pid->is_number_integer() && find(pid->get<int>()) != nullptr;
  if (!known) return error("wait: no such child");
  waiting_for_ = pid->get<int>();
  const auto waited = waited_answer();
  return waited ? *waited : Json();
}

ForkServer::Child* ForkServer::find(int pid) {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& child) { return child.pid == pid; });
  return found == children_.end() ? nullptr : &*found;
}

/// The answer to an open `wait`, once its child is gone. The child is forgotten then.
std::optional<Json> ForkServer::waited_answer() {
  if (!waiting_for_) return std::nullopt;
  Child* child = find(*waiting_for_);
  if (child == nullptr || !child->status) return std::nullopt;
  const int status = *child->status;
  Json ok{{"exited", nullptr}, {"signal", nullptr}};
  if (WIFEXITED(status)) ok["exited"] = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ok["signal"] = WTERMSIG(status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGABRT) {   // see src/sandbox/fresh_child.cpp
    ok = {{"exited", nullptr}, {"signal", SIGABRT}};
  }
  if (const auto last = child->progress.last_step()) {
    ok["last_step"] = {{"file", last->at.file}, {"line", last->at.line}, {"kernel", last->kernel}};
  }
  std::erase_if(children_, [&](const Child& each) { return each.pid == *waiting_for_; });
  waiting_for_.reset();
  return Json{{"ok", std::move(ok)}};
}

Json ForkServer::fork_child(std::vector<sys::Fd> descriptors) {
  if (descriptors.size() != 1) return error("fork: one end of a socket pair must come along");
  if (!has_one_thread()) return error("fork: the runner's server has more than one thread");
  while (children_.size() >= kMaxChildren) {  // nobody waited for them
    const auto ended = std::find_if(children_.begin(), children_.end(),
                                    [](const Child& child) { return child.status.has_value(); });
    if (ended == children_.end()) return error("fork: too many children");
    children_.erase(ended);
  }
  auto progress = plan::ProgressPage::create();
  if (!progress) return error("fork: " + progress.error().message);
  std::fflush(nullptr);
  if (auto prepared = nest_.prepare(); !prepared) return error("fork: " + prepared.error().message);
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid != 0) nest_.close_door();
  if (pid < 0) return error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0) run_child(parent, std::move(descriptors[0]), *progress);
  sys::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return error("fork: this kernel has no pidfd_open; Linux 5.3 is needed");
  }
  children_.push_back(Child{pid, std::move(process), std::move(descriptors[0]),
                            *std::move(progress), std::nullopt, std::nullopt});
  return {{"ok", {{"pid", pid}}}};
}

void ForkServer::run_child(int parent, sys::Fd socket, plan::ProgressPage& progress) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto kept = static_cast<unsigned>(socket.get());
  if (kept > 3) ::close_range(3, kept - 1, 0);
  ::close_range(kept + 1, ~0u, 0);
  if (auto held = nest_.enter(parent, confinement_); !held) {
    std::fprintf(stderr, "kagent-runner: cannot isolate a child: %s\n", held.error().message.c_str());
    ::_exit(70);
  }
  work_(wire::Channel(std::move(socket)), progress);
  std::fflush(nullptr);
  ::_exit(0);  // no destructors: the parent's objects are in here too
}

}  // namespace kagent::runner
