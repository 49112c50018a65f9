// SPDX-License-Identifier: Apache-2.0
#include "runner_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace kagent::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

Json receive_from(wire::Channel& channel, std::chrono::milliseconds patience) {
  auto received = channel.receive(wire::Channel::Clock::now() + patience);
  if (auto* frame = std::get_if<wire::Frame>(&received)) return frame->body;
  const auto failure = std::get<wire::ReceiveFailure>(received);
  return {{failure == wire::ReceiveFailure::timeout ? "timeout" : "closed", true}};
}

std::int64_t storage_bytes(const TensorSpec& spec) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return 0;
    last += (spec.shape[i] - 1) * spec.stride[i];
  }
  return (last + 1) * size_of(spec.dtype);
}

}  // namespace

std::string runner_program() { return KAGENT_TEST_RUNNER; }

void Arena::add(const std::string& name, const TensorSpec& spec, const std::string& bytes) {
  ArenaEntry entry{name, spec, static_cast<std::int64_t>((content_.size() + 255) / 256 * 256),
                   storage_bytes(spec)};
  content_.resize(static_cast<std::size_t>(entry.offset), '\0');
  content_ += bytes;
  content_.resize(static_cast<std::size_t>(entry.offset + entry.bytes), '\0');
  layout_.entries.push_back(entry);
}

void Arena::create() {
  layout_.bytes = static_cast<std::int64_t>(content_.size());
  memory_ = sys::Fd(::memfd_create("arena", MFD_CLOEXEC));
  expect(bool(memory_), "memfd_create");
  expect(::write(memory_.get(), content_.data(), content_.size()) ==
             static_cast<ssize_t>(content_.size()),
         "write arena");
}

std::string Arena::read_bytes(std::size_t entry) const {
  const ArenaEntry& place = layout_.entries.at(entry);
  std::string bytes(static_cast<std::size_t>(place.bytes), '\0');
  expect(::pread(memory_.get(), bytes.data(), bytes.size(), place.offset) == place.bytes, "pread");
  return bytes;
}

void Arena::write_bytes(std::size_t entry, const std::string& bytes) {
  const std::int64_t offset = layout_.entries.at(entry).offset;
  expect(::pwrite(memory_.get(), bytes.data(), bytes.size(), offset) ==
             static_cast<ssize_t>(bytes.size()),
         "pwrite");
}

sys::Fd Arena::read_only() const {
  const std::string path = "/proc/self/fd/" + std::to_string(memory_.get());
  return sys::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

RunnerServer::RunnerServer() {
  auto capture = sys::OutputCapture::start(1 << 16, 1 << 16);
  expect(bool(capture), "capture");
  capture_ = *std::move(capture);
  auto ends = wire::Channel::pair();
  expect(bool(ends), "socket pair");
  sys::SpawnRequest request;
  request.arguments = {runner_program()};
  request.environment = {"PATH=/usr/bin:/bin", "GOMP_SPINCOUNT=0", "OMP_WAIT_POLICY=PASSIVE"};
  request.descriptors = {{ends->second.fd(), wire::kChannelDescriptor}};
  request.output = capture_->writer();
  auto process = sys::Process::spawn(request);
  expect(bool(process), "spawn");
  process_ = std::make_unique<sys::Process>(*std::move(process));
  channel_ = std::make_unique<wire::Channel>(std::move(ends->first));
  capture_->close_writer();
}

RunnerServer::~RunnerServer() { process_->kill(); }

Json RunnerServer::ask(const Json& request, const std::vector<int>& descriptors) {
  expect(bool(channel_->send(request, descriptors)), "send to the server");
  return receive_from(*channel_, kPatience);
}

RunnerChild::RunnerChild(RunnerServer& server) : server_(server) {
  auto ends = wire::Channel::pair();
  expect(bool(ends), "socket pair");
  const Json answer = server.ask({{"type", "fork"}}, {ends->second.fd()});
  expect(answer.contains("ok"), "fork: " + answer.dump() + server.log());
  pid_ = answer["ok"]["pid"].get<int>();
  channel_ = std::make_unique<wire::Channel>(std::move(ends->first));
}

void RunnerChild::send(const Json& request, const std::vector<int>& descriptors) {
  expect(bool(channel_->send(request, descriptors)), "send to the child");
}

Json RunnerChild::receive(std::chrono::milliseconds patience) {
  return receive_from(*channel_, patience);
}

Json RunnerChild::ask(const Json& request, const std::vector<int>& descriptors,
                      std::chrono::milliseconds patience) {
  send(request, descriptors);
  return receive(patience);
}

Json RunnerChild::load(const Evaluation& evaluation, bool diagnostic) {
  Json inputs = Json::array();
  std::vector<sys::Fd> owned;
  owned.push_back(evaluation.weights.read_only());
  for (const Arena& set : evaluation.inputs) {
    inputs.push_back(wire::to_json(set.layout()));
    owned.push_back(set.read_only());
  }
  std::vector<int> descriptors;
  for (const sys::Fd& fd : owned) descriptors.push_back(fd.get());
  descriptors.push_back(evaluation.outputs.writable());
  for (const sys::Fd& image : evaluation.images) descriptors.push_back(image.get());
  return ask({{"type", "load"},
              {"plan", wire::to_json(evaluation.plan)},
              {"build", wire::to_json(evaluation.build)},
              {"weights", wire::to_json(evaluation.weights.layout())},
              {"inputs", inputs},
              {"outputs", wire::to_json(evaluation.outputs.layout())},
              {"numerics", "strict"},
              {"diagnostic", diagnostic},
              {"device_index", 0}},
             descriptors);
}

void RunnerChild::start(const Evaluation& evaluation, bool diagnostic) {
  const Json loaded = load(evaluation, diagnostic);
  ASSERT_TRUE(loaded.contains("ok")) << loaded.dump();
  const Json prepared = ask({{"type", "prepare"}});
  ASSERT_TRUE(prepared.contains("ok")) << prepared.dump();
}

Json RunnerChild::wait() { return server_.ask({{"type", "wait"}, {"pid", pid_}}); }

}  // namespace kagent::testing
