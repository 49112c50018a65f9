// SPDX-License-Identifier: Apache-2.0
#include "llm/fenced_client.h"

#include "base/text.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace kagent::llm {
namespace {

constexpr const char* kRules =
    "\n\nYou have no tools here. Answer with one whole candidate: every file complete, each in a "
    "fenced block whose first line names its path, for example\n```python model_new.py\n…\n```\n"
    "```cuda kernels/name.cu\n…\n```\nIt is judged as it stands, and you are told what came of it.";

bool is_path(const std::string& word) {
  return word.find('.') != std::string::npos && word.find_first_of("`{}=") == std::string::npos;
}

/// "python model_new.py" -> "model_new.py"; "kernels/a.cu" -> itself; "python" -> "".
std::string path_in(const std::string& info) {
  std::string path;
  for (const std::string& word : base::split(info, ' ')) {
    if (is_path(word)) path = word;
  }
  return path;
}

std::size_t fence_of(const std::string& line) {
  const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
  return ticks >= 3 ? ticks : 0;
}

/// History in a form without tools: results become what the user says.
ChatRequest without_tools(const ChatRequest& request) {
  ChatRequest plain;
  plain.system = request.system + kRules;
  plain.turn = request.turn;
  for (const Message& message : request.messages) {
    if (const auto* results = std::get_if<ToolMessage>(&message)) {
      std::string text;
      for (const ToolResult& result : results->results) text += result.text + "\n";
      plain.messages.emplace_back(UserMessage{std::move(text)});
    } else if (const auto* reply = std::get_if<Reply>(&message)) {
      Reply said = *reply;
      said.calls.clear();
      plain.messages.emplace_back(std::move(said));
    } else {
      plain.messages.push_back(message);
    }
  }
  return plain;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> fenced_files(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> files;
  std::size_t fence = 0;
  std::string path;
  std::string content;
  for (const std::string& line : base::split_lines(text)) {
    const std::size_t ticks = fence_of(line);
    if (fence == 0 && ticks > 0) {
      const std::string info(base::trim(std::string_view(line).substr(ticks)));
      fence = ticks;
      path = path_in(info);
      if (path.empty() && info.rfind("python", 0) == 0 && files.empty()) path = "model_new.py";
      content.clear();
    } else if (fence > 0 && ticks >= fence && base::trim(line).size() == ticks) {
      if (!path.empty()) files.emplace_back(path, content);
      fence = 0;
    } else if (fence > 0) {
      content += line + "\n";
    }
  }
  return files;  // a block without its end was cut off: it does not count
}

Result<Reply> FencedClient::complete(const ChatRequest& request) {
  KAGENT_TRY(Reply reply, model_->complete(without_tools(request)));
  reply.calls.clear();
  for (const auto& [path, content] : fenced_files(reply.text)) {
    reply.calls.push_back({fmt::format("block_{}_{}", request.turn, reply.calls.size() + 1),
                           "write_file", wire::dump({{"path", path}, {"text", content}})});
  }
  if (!reply.calls.empty()) {
    reply.calls.push_back({fmt::format("judge_{}", request.turn), "evaluate", "{}"});
    if (reply.end == ReplyEnd::finished) reply.end = ReplyEnd::tool_calls;
  }
  return reply;
}

}  // namespace kagent::llm
