// SPDX-License-Identifier: Apache-2.0
// kagent-bench-spawn [RUNS]: what starting something costs, in milliseconds, beside a plain fork.
//   cold: a program in a sandbox of its own, from start to its end (/bin/true)
//   warm: a child of a warm server that holds 256 MiB, from before the fork until it is confined
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sandbox/child.h"
#include "sandbox/fresh_child.h"
#include "sandbox/probe.h"

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kagent;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

void print(const std::string& what, std::vector<double> times, double plain) {
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%-34s median %7.2f ms   p90 %7.2f ms   over plain %+7.2f ms\n", what.c_str(), median,
              times[times.size() * 9 / 10], median - plain);
  std::fflush(stdout);
}

double median_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<double> cold(sandbox::Tier tier, int runs) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    sys::SpawnRequest request;
    request.arguments = {"/bin/true"};
    request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp"};
    sandbox::Policy policy;
    if (tier == sandbox::Tier::none) policy.directory = "/";
    const auto start = Clock::now();
    auto child = sandbox::Child::start(std::move(request), policy, tier);
    if (!child || child->wait()->code != 0) std::exit(1);
    times.push_back(milliseconds(Clock::now() - start));
  }
  return times;
}

/// Runs inside, as a server: prints one line a child, plain ones first.
int serve(int runs) {
  std::vector<char> held(256u << 20, 'x');
  auto nest = sandbox::FreshNest::open();
  std::vector<double> plain, fresh;
  for (int i = 0; i < runs; ++i) {
    for (const bool confined : {false, true}) {
      int ends[2];
      if (::pipe(ends) != 0) return 1;
      const int server = ::getpid();
      const auto start = Clock::now();
      if (confined && !nest.prepare()) return 1;
      const int pid = ::fork();
      if (pid == 0) {
        const bool ready = !confined || bool(nest.enter(server, {}));
        [[maybe_unused]] const auto told = ::write(ends[1], ready ? "+" : "-", 1);
        ::_exit(0);
      }
      if (confined) nest.close_door();
      char byte = 0;
      if (::read(ends[0], &byte, 1) != 1 || byte != '+') return 1;
      (confined ? fresh : plain).push_back(milliseconds(Clock::now() - start));
      ::waitpid(pid, nullptr, 0);
      ::close(ends[0]);
      ::close(ends[1]);
    }
  }
  print("  plain fork", plain, median_of(plain));
  print(nest.fresh() ? "  fresh child" : "  child (shares the server's)", fresh, median_of(plain));
  return held[1] == 'x' ? 0 : 1;
}

int warm(const char* self, sandbox::Tier tier, int runs) {
  sys::SpawnRequest request;
  request.arguments = {self, "--serve", std::to_string(runs)};
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp"};
  request.output = STDOUT_FILENO;
  sandbox::Policy policy;
  policy.calls = sandbox::Calls::server;
  policy.read_only.push_back({self, self});
  auto child = sandbox::Child::start(std::move(request), policy, tier);
  if (!child) {
    std::fprintf(stderr, "%s\n", child.error().message.c_str());
    return 1;
  }
  return child->wait()->code.value_or(1);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 3 && std::string(arguments[1]) == "--serve") return serve(std::atoi(arguments[2]));
  const int runs = argument_count > 1 ? std::atoi(arguments[1]) : 50;
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  const double plain = median_of(cold(sandbox::Tier::none, runs));
  print("cold, none", cold(sandbox::Tier::none, runs), plain);
  for (const auto tier : {sandbox::Tier::bubblewrap, sandbox::Tier::namespaces, sandbox::Tier::landlock}) {
    if (auto holding = sandbox::probe(tier); !holding) {
      std::printf("%s\n", holding.error().message.c_str());
      continue;
    }
    print(std::string("cold, ") + sandbox::word(tier), cold(tier, runs), plain);
    std::printf("warm, %s\n", sandbox::word(tier));
    std::fflush(stdout);
    if (warm(self, tier, runs) != 0) return 1;
  }
  return 0;
}
