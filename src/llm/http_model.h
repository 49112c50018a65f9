// SPDX-License-Identifier: Apache-2.0
// A model behind an HTTP endpoint: streams its replies, asks again where that can help, accounts
// for tokens and money.
#pragma once

#include <kagent/chat.h>

#include "llm/endpoint.h"
#include "llm/endpoint_gate.h"
#include "llm/http_transport.h"
#include "llm/price_table.h"
#include "llm/reply_stream.h"
#include "llm/request_body.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kagent::llm {

struct HttpModelSettings {
  std::string name;   // provider/model, as the user wrote it
  std::string model;  // as the server knows it
  Endpoint endpoint;
  Sampling sampling;
  HttpTimeouts timeouts;
  int retries = 8;
  std::chrono::milliseconds first_delay{500};  // bound of the wait before the first retry; doubles
  std::optional<Price> price;
};

/// One line a notice: a retry and its reason. Without keys.
using OnNotice = std::function<void(const std::string& line)>;

class HttpModel : public ChatClient {
 public:
  HttpModel(HttpModelSettings settings, OnNotice on_notice);

  std::string name() const override { return settings_.name; }
  Result<Reply> complete(const ChatRequest& request) override;

 private:
  struct Attempt {
    std::optional<Reply> reply;
    Trouble trouble;
  };

  Attempt attempt(const HttpRequest& request, int turn);
  HttpRequest http_request(const ChatRequest& request) const;
  Reply finished(Reply reply) const;
  /// false: a stop was requested meanwhile.
  bool wait_for_turn(const Trouble& trouble, int attempts);

  HttpModelSettings settings_;
  OnNotice on_notice_;
  HttpTransport transport_;
  std::shared_ptr<EndpointGate> gate_;
};

}  // namespace kagent::llm
