// SPDX-License-Identifier: Apache-2.0
// model_probe MODEL BASE_URL TIMEOUTS RETRIES ASKS SHARE [fresh]: asks a model over HTTP as `kagent optimize` does,
// ASKS times with the history growing, and prints each reply as one line of JSON, at last the most memory it had.
// fresh: each is the first of a conversation, retries wait no time of their own, and a failure is a last line
// {"error", "exit"}. For tests/cli/model_client_test.py and model_cuts_test.py.
#include "exit_codes.h"
#include "llm/open_model.h"
#include "sys/stop.h"
#include "wire/trajectory_json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

using namespace kagent;

ChatRequest first_request() {
  ChatRequest request;
  request.system = "Be brief.";
  request.messages.emplace_back(UserMessage{"Begin."});
  request.tools.push_back({"bash", "runs", R"({"type":"object","properties":{}})"});
  return request;
}

void ask_afresh(ChatClient& chat, int asks) {
  for (int i = 0; i < asks && sys::stop_requested() == 0; ++i) {
    const auto reply = chat.complete(first_request());
    const wire::Json line = reply ? wire::to_json(*reply)
                                  : wire::Json{{"error", reply.error().message}, {"exit", cli::exit_code(reply.error())}};
    fmt::print("{}\n", wire::dump(line));
    if (!reply) return;
  }
}

int converse(ChatClient& chat, int asks) {
  ChatRequest request = first_request();
  for (int i = 0; i < asks; ++i) {
    request.turn = i + 1;
    auto reply = chat.complete(request);
    if (!reply) return cli::report_failure(reply.error(), false);
    fmt::print("{}\n", wire::dump(wire::to_json(*reply)));
    ToolMessage results;
    for (const ToolCall& call : reply->calls) results.results.push_back({call.id, "done", false});
    request.messages.emplace_back(*std::move(reply));
    request.messages.emplace_back(std::move(results));
  }
  return 0;
}

void print_peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM", 0) == 0) fmt::print(stderr, "{}\n", line);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool fresh = argc == 8 && std::string(argv[7]) == "fresh";
  KAGENT_CHECK(argc == 7 || fresh);
  sys::install_stop_handlers();
  llm::ModelChoice options;
  options.name = argv[1];
  options.base_url = argv[2];
  options.timeouts = argv[3];
  options.retries = std::atoi(argv[4]);
  if (fresh) options.first_delay = std::chrono::milliseconds(0);
  auto model = llm::open_model(options, argv[6], [fresh](const std::string& line) {
    if (!fresh) fmt::print(stderr, "kagent: {}\n", line);
  });
  if (!model) return cli::report_failure(model.error(), false);
  int code = 0;
  if (fresh) {
    ask_afresh(*model->chat, std::atoi(argv[5]));
  } else {
    code = converse(*model->chat, std::atoi(argv[5]));
  }
  if (code == 0) print_peak_memory();
  return code;
}
