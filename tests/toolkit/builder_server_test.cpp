// SPDX-License-Identifier: Apache-2.0
// kagent-builder as kagent sees it: frames on descriptor 3, and what is left when it dies.
#include "builder_fixture.h"

#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "sys/files.h"
#include "sys/subprocess.h"
#include "wire/channel.h"
#include "wire/json.h"

namespace kagent::builder {
namespace {

using wire::Json;
using Clock = std::chrono::steady_clock;

const std::string kBomb =
    "template <long A, long B> struct F { static constexpr long value = F<A - 1, B * 2>::value + F<A - 1, B * 2 + 1>::value; };\n"
    "template <long B> struct F<0, B> { static constexpr long value = B; };\n";

class BuilderServer : public ::testing::Test {
 protected:
  void SetUp() override {
    auto scratch = sys::TemporaryDirectory::create("kagent-builder-test");
    ASSERT_TRUE(scratch);
    scratch_.emplace(std::move(*scratch));
    auto ends = wire::Channel::pair();
    ASSERT_TRUE(ends);
    sys::SpawnRequest request;
    request.arguments = {KAGENT_BUILDER_PROGRAM};
    request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + scratch_->path().string()};
    request.descriptors = {{ends->second.fd(), wire::kChannelDescriptor}};
    request.output = STDERR_FILENO;
    auto process = sys::Process::spawn(request);
    ASSERT_TRUE(process) << process.error().message;
    process_.emplace(std::move(*process));
    channel_.emplace(std::move(ends->first));
  }

  std::pair<Json, std::vector<sys::Fd>> ask(const Json& request) {
    EXPECT_TRUE(channel_->send(request));
    auto received = channel_->receive(Clock::now() + std::chrono::seconds(90));
    if (auto* frame = std::get_if<wire::Frame>(&received)) {
      return {frame->body, std::move(frame->descriptors)};
    }
    ADD_FAILURE() << "no answer";
    return {};
  }

  static Json build_request(const std::string& file, const std::string& text,
                            const std::string& backend = "cuda") {
    return {{"type", "build"}, {"backend", backend},
            {"architecture", backend == "cuda" ? "sm_90a" : "native"}, {"compiler", "automatic"},
            {"sources", {{file, text}}},
            {"kernels", {{{"kernel", 0}, {"source", file}, {"name", "k"}, {"options", Json::array()}}}}};
  }

  std::set<int> children() const {
    const std::string id = std::to_string(process_->id());
    std::ifstream file("/proc/" + id + "/task/" + id + "/children");
    return {std::istream_iterator<int>(file), std::istream_iterator<int>()};
  }

  std::set<std::string> left_over() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_->path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  /// Waits until nothing is left in the folder that the server had for temporary files.
  void expect_clean() const {
    const auto deadline = Clock::now() + std::chrono::seconds(10);
    while (!left_over().empty() && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_EQ(left_over(), std::set<std::string>{});
  }

  std::optional<sys::TemporaryDirectory> scratch_;
  std::optional<sys::Process> process_;
  std::optional<wire::Channel> channel_;
};

TEST_F(BuilderServer, SaysWhatItCanDo) {
  const Json body = ask({{"type", "hello"}}).first;
  ASSERT_TRUE(body.contains("ok")) << body;
  EXPECT_TRUE(body["ok"]["compilers"].is_array());
  EXPECT_FALSE(body["ok"]["compilers"].empty());
}

TEST_F(BuilderServer, BuildsBothKindsAndEndsCleanly) {
  auto [body, images] = ask(build_request("kernels/k.cu", "__global__ void k(float* x, int n) { x[n] = 1; }\n"));
  ASSERT_TRUE(body.contains("ok")) << body;
  const auto result = wire::parse<BuildResult>(body["ok"]["build"]);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(result->kernels.at(0).parameters.size(), 2u);
  EXPECT_NE(::fcntl(images[0].get(), F_GET_SEALS) & F_SEAL_WRITE, 0);
  auto [host, objects] = ask(build_request("kernels/k.cpp", "void k(float* x) { x[0] = 1; }\n", "cpu"));
  ASSERT_TRUE(host.contains("ok")) << host;
  EXPECT_EQ(objects.size(), 1u);
  channel_.reset();  // the server sees the end of the conversation
  const auto status = process_->wait(Clock::now() + std::chrono::seconds(20));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 0);
  expect_clean();
}

TEST_F(BuilderServer, FaultsAndErrorsAreAnswers) {
  const Json fault = ask(build_request("kernels/k.cu", "__global__ void k(float* x) { x[0] = bad; }\n")).first;
  ASSERT_TRUE(fault.contains("fault")) << fault;
  EXPECT_EQ(fault["fault"]["kind"], "build_failed");
  EXPECT_EQ(fault["fault"]["at"]["file"], "kernels/k.cu");
  for (const Json& wrong : {Json{{"type", "build"}}, Json{{"type", "nonsense"}}, Json{{"kind", 1}}, Json{{"type", 7}},
                            Json{{"type", "build"}, {"backend", "cuda"}, {"architecture", "; rm"}, {"compiler", "automatic"},
                                 {"sources", Json::object()}, {"kernels", Json::array()}}}) {
    const Json answer = ask(wrong).first;
    EXPECT_TRUE(answer.contains("error")) << answer;
  }
  EXPECT_TRUE(ask({{"type", "hello"}}).first.contains("ok"));
}

TEST_F(BuilderServer, SurvivesACompilerThatDies) {
  ASSERT_TRUE(ask({{"type", "hello"}}).first.contains("ok"));
  const std::set<int> before = children();
  // Instantiating this takes longer than we need to shoot at it.
  ASSERT_TRUE(channel_->send(build_request("kernels/k.cu", kBomb + "__global__ void k(long* x) { x[0] = F<40, 1>::value; }\n")));
  int victim = 0;
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (victim == 0 && Clock::now() < deadline) {
    for (const int child : children()) {
      if (before.count(child) == 0) victim = child;
    }
  }
  ASSERT_NE(victim, 0);
  ::kill(victim, SIGSEGV);
  auto received = channel_->receive(Clock::now() + std::chrono::seconds(30));
  const auto* frame = std::get_if<wire::Frame>(&received);
  ASSERT_NE(frame, nullptr);
  ASSERT_TRUE(frame->body.contains("fault")) << frame->body;
  EXPECT_TRUE(has(frame->body["fault"]["message"], "did not survive kernels/k.cu")) << frame->body;
  const Json next = ask(build_request("kernels/k.cu", "__global__ void k(float* x) { x[0] = 1; }\n")).first;
  EXPECT_TRUE(next.contains("ok")) << next;
}

TEST_F(BuilderServer, LeavesNothingWhenKilledInTheMiddle) {
  // Compiling these headers takes a while; the server is killed meanwhile.
  ASSERT_TRUE(channel_->send(build_request(
      "kernels/k.cpp", "#include <regex>\n#include <map>\n#include <functional>\nvoid k(float* x) { std::regex r(\"a+\"); x[0] = std::regex_match(\"a\", r); }\n",
      "cpu")));
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  bool compiling = false;
  while (!compiling && Clock::now() < deadline) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             scratch_->path(), std::filesystem::directory_options::skip_permission_denied)) {
      compiling = compiling || entry.path().filename() == "kagent_unit.cpp";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(compiling);
  process_->kill();
  expect_clean();
}

class BuilderLimits : public BuilderTest {};

TEST_F(BuilderLimits, EndlessCompilationEnds) {
  auto paths = CompilerPaths::read(KAGENT_PATHS_FILE);
  ASSERT_TRUE(paths);
  EngineLimits limits;
  limits.unit_seconds = 3;
  auto engine_or_error = Engine::create(std::move(*paths), limits);
  ASSERT_TRUE(engine_or_error);
  for (const bool host : {false, true}) {
    const auto started = Clock::now();
    const auto outcome = (*engine_or_error)->build(
        host ? one_host(kBomb + "void k(long* x) { x[0] = F<40, 1>::value; }\n")
             : one(kBomb + "__global__ void k(long* x) { x[0] = F<40, 1>::value; }\n"));
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto* found = std::get_if<Fault>(&*outcome);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->kind, FaultKind::build_failed);
    EXPECT_TRUE(has(found->message, "longer than 3 s")) << found->message;
    EXPECT_LT(Clock::now() - started, std::chrono::seconds(20));
  }
}

}  // namespace
}  // namespace kagent::builder
