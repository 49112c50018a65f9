// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/chat.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kagent::llm {

/// Files in the fenced blocks of a text: path and content, in order. The path stands behind the
/// language (```cuda kernels/a.cu) or alone behind the fence; a first python block without one is
/// model_new.py. Blocks without a path are left out.
std::vector<std::pair<std::string, std::string>> fenced_files(const std::string& text);

/// For models without tools (--protocol single): no tool is offered, each reply is one candidate in
/// fenced blocks. To the loop it looks like calls of write_file and evaluate; the reply's raw text
/// stays what the model said.
class FencedClient : public ChatClient {
 public:
  explicit FencedClient(std::unique_ptr<ChatClient> model) : model_(std::move(model)) {}

  std::string name() const override { return model_->name(); }
  Result<Reply> complete(const ChatRequest& request) override;

 private:
  std::unique_ptr<ChatClient> model_;
};

}  // namespace kagent::llm
