// SPDX-License-Identifier: Apache-2.0
// model_probe MODEL BASE_URL TIMEOUTS RETRIES ASKS SHARE: asks a model over HTTP as `kagent
// optimize` does, ASKS times with the history growing, and prints each reply as JSON,
// at last the most memory it had. For
// tests/cli/model_client_test.py.
#include "exit_codes.h"
#include "llm/open_model.h"
#include "sys/stop.h"
#include "wire/trajectory_json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  using namespace kagent;
  KAGENT_CHECK(argc == 7);
  sys::install_stop_handlers();
  llm::ModelChoice options;
  options.name = argv[1];
  options.base_url = argv[2];
  options.timeouts = argv[3];
  options.retries = std::atoi(argv[4]);
  auto model = llm::open_model(
      options, argv[6], [](const std::string& line) { fmt::print(stderr, "kagent: {}\n", line); });
  if (!model) return cli::report_failure(model.error(), false);
  ChatRequest request;
  request.system = "Be brief.";
  request.messages.emplace_back(UserMessage{"Begin."});
  request.tools.push_back({"bash", "runs", R"({"type":"object","properties":{}})"});
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    request.turn = i + 1;
    auto reply = model->chat->complete(request);
    if (!reply) return cli::report_failure(reply.error(), false);
    fmt::print("{}\n", wire::dump(wire::to_json(*reply)));
    ToolMessage results;
    for (const ToolCall& call : reply->calls) results.results.push_back({call.id, "done", false});
    request.messages.emplace_back(*std::move(reply));
    request.messages.emplace_back(std::move(results));
  }
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM", 0) == 0) fmt::print(stderr, "{}\n", line);
  }
  return 0;
}
