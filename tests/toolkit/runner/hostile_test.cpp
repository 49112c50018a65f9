// SPDX-License-Identifier: Apache-2.0
// Native code that attacks its server, and conversations that are no conversations.
#include "runner_fixture.h"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

namespace kagent::testing {
namespace {

using HostileTest = RunnerTest;

// Each attack writes errno, or 0 where it was let through.
constexpr const char* kSource = R"(
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static float outcome(long result) { return result < 0 ? static_cast<float>(errno) : 0.0f; }
extern "C" void kagent_launch_0(const void* const* a, const std::int64_t*) {
  float* y = *static_cast<float* const*>(a[0]);
  const pid_t parent = getppid();
  char path[64];
  char byte = 0;
  iovec ours{&byte, 1}, theirs{&byte, 1};
  y[0] = outcome(kill(parent, SIGKILL));
  y[1] = outcome(kill(-1, SIGKILL));
  y[2] = outcome(ptrace(PTRACE_ATTACH, parent, nullptr, nullptr));
  y[3] = outcome(process_vm_writev(parent, &ours, 1, &theirs, 1, 0));
  snprintf(path, sizeof path, "/proc/%d/mem", static_cast<int>(parent));
  y[4] = outcome(open(path, O_RDWR));
  const pid_t forked = fork();
  if (forked == 0) _exit(0);
  y[5] = outcome(forked);
  y[6] = outcome(socket(AF_INET, SOCK_STREAM, 0));
  y[7] = outcome(execl("/bin/true", "true", nullptr));
  int open_descriptors = 0;
  for (int fd = 3; fd < 1024; ++fd) open_descriptors += fcntl(fd, F_GETFD) >= 0;
  y[8] = static_cast<float>(open_descriptors);
}
)";

TEST_F(HostileTest, NativeCodeCannotReachItsServer) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({9}));
  maker.launch(maker.kernel(maker.unit(kSource), 0, "attack", {{"float*"}}), {y});
  const Evaluation evaluation = maker.finish({y});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  const std::vector<float> outcome = evaluation.outputs.read<float>(0);
  for (const std::size_t attack : {0, 1, 2, 3, 5, 6, 7}) {
    EXPECT_EQ(outcome[attack], EPERM) << "attack " << attack;
  }
  // Root may look into anything; in the sandbox the runner is not root.
  if (::geteuid() != 0) {
    EXPECT_NE(outcome[4], 0) << "opened the server's memory";
  }
  EXPECT_LE(outcome[8], 4) << "its own socket, and nothing of the server's";
  EXPECT_TRUE(server().ask({{"type", "hello"}}).contains("ok"));
}

TEST_F(HostileTest, ChildDiesWithItsServer) {
  RunnerServer own;
  RunnerChild child(own);
  const int pid = child.process_id();
  ::kill(own.process_id(), SIGKILL);
  EXPECT_TRUE(child.receive(std::chrono::seconds(10)).contains("closed"));
  for (int i = 0; i < 100 && ::kill(pid, 0) == 0; ++i) ::usleep(50'000);
  EXPECT_NE(::kill(pid, 0), 0) << "child " << pid << " outlived its server";
}

TEST_F(HostileTest, GarbageEndsTheChildAndNotTheServer) {
  RunnerChild child(server());
  const char garbage[] = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(child.channel_fd(), garbage, sizeof garbage, 0),
            static_cast<ssize_t>(sizeof garbage));
  EXPECT_TRUE(child.receive(std::chrono::seconds(10)).contains("closed"));
  EXPECT_EQ(child.wait()["ok"]["exited"], 0);
  RunnerChild next(server());
  EXPECT_TRUE(next.ask({{"type", "load"}}).contains("error"));
}

TEST_F(HostileTest, ArenasThatDoNotHoldTheirTensorsAreRefused) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({4}), counting(4));
  const Evaluation evaluation = maker.finish({x});
  Json load{{"type", "load"},
            {"plan", wire::to_json(evaluation.plan)},
            {"build", wire::to_json(evaluation.build)},
            {"weights", wire::to_json(evaluation.weights.layout())},
            {"inputs", Json::array({wire::to_json(evaluation.inputs[0].layout())})},
            {"outputs", wire::to_json(evaluation.outputs.layout())},
            {"numerics", "strict"},
            {"diagnostic", false},
            {"device_index", 0}};
  const sys::Fd weights = evaluation.weights.read_only();
  const sys::Fd inputs = evaluation.inputs[0].read_only();
  const std::vector<int> three{weights.get(), inputs.get(), evaluation.outputs.writable()};
  auto refused = [&](const Json& request, const std::vector<int>& descriptors) {
    RunnerChild child(server());
    const Json answer = child.ask(request, descriptors);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
  };
  EXPECT_NE(refused(load, {weights.get()}), "");
  Json beyond = load;
  beyond["inputs"][0]["entries"][0]["offset"] = 256;
  EXPECT_NE(refused(beyond, three), "");
  Json longer = load;  // the memory file is shorter than the layout says
  longer["inputs"][0]["bytes"] = 1 << 20;
  EXPECT_NE(refused(longer, three), "");
  Json other = load;
  other["plan"]["values"][0]["shape"] = {2};
  EXPECT_NE(refused(other, three), "");
  RunnerChild child(server());
  EXPECT_TRUE(child.ask(load, three).contains("ok"));
}

TEST_F(HostileTest, WithoutASocketTheProgramSaysHowItIsUsed) {
  auto capture = sys::OutputCapture::start(4096, 4096);
  ASSERT_TRUE(capture);
  sys::SpawnRequest request;
  request.arguments = {runner_program()};
  request.output = (*capture)->writer();
  auto process = sys::Process::spawn(request);
  ASSERT_TRUE(process);
  (*capture)->close_writer();
  const auto status = process->wait(sys::Process::Clock::now() + std::chrono::seconds(30));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 2);
  (*capture)->finish(1000);
  EXPECT_NE((*capture)->text().find("descriptor 3"), std::string::npos) << (*capture)->text();
}

}  // namespace
}  // namespace kagent::testing
