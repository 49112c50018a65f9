// SPDX-License-Identifier: Apache-2.0
#include "llm/fenced_client.h"

#include "fakes/scripted_chat.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

TEST(FencedFiles, AreReadWithTheirPaths) {
  EXPECT_EQ(
      fenced_files(
          "So:\n```python model_new.py\na\n\nb\n```\n```kernels/a.cu\nc\n```\n```\nskip\n```\n"),
      (Files{{"model_new.py", "a\n\nb\n"}, {"kernels/a.cu", "c\n"}}));
  EXPECT_EQ(fenced_files("```python\na\n```"), (Files{{"model_new.py", "a\n"}}));
  EXPECT_EQ(fenced_files("````python\n```\nx\n````"), (Files{{"model_new.py", "```\nx\n"}}));
  EXPECT_TRUE(fenced_files("```python model_new.py\ncut off").empty());
  EXPECT_TRUE(fenced_files("no block").empty());
}

TEST(FencedClient, LooksLikeCalls) {
  auto scripted = std::make_unique<fakes::ScriptedChat>(
      std::vector<Reply>{fakes::reply({}, "```python\na\n```"), fakes::reply({}, "hm")});
  const fakes::ScriptedChat& chat = *scripted;
  FencedClient client(std::move(scripted));
  ChatRequest request;
  request.tools.push_back({"bash", "", "{}"});
  const Reply first = *client.complete(request);
  ASSERT_EQ(first.calls.size(), 2u);
  EXPECT_EQ(first.calls[0].tool, "write_file");
  EXPECT_EQ(first.calls[1].tool, "evaluate");
  EXPECT_EQ(first.end, ReplyEnd::tool_calls);
  request.messages.emplace_back(first);
  request.messages.emplace_back(
      ToolMessage{{{"", "wrote", false}, {"", "outcome: slower", false}}});
  EXPECT_TRUE(client.complete(request)->calls.empty());
  EXPECT_TRUE(chat.requests[1].tools.empty());
  EXPECT_EQ(std::get<UserMessage>(chat.requests[1].messages[1]).text, "wrote\noutcome: slower\n");
}

}  // namespace
}  // namespace kagent::llm
