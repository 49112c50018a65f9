// SPDX-License-Identifier: Apache-2.0
// One POST over libcurl whose answer is heard piece by piece. No redirects, time-outs on
// everything.
#pragma once

#include "llm/endpoint.h"
#include "llm/trouble.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::llm {

struct HttpTimeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first{600'000};  // until the first progress: queues, long prompts
  std::chrono::milliseconds idle{300'000};   // between two pieces of progress
  std::chrono::milliseconds total{1'800'000};
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "name: value", none of them secret
  std::string key_header;            // "x-api-key: " or "authorization: Bearer "; the key follows
  Secret key;                        // empty: no such header
  std::string body;                  // JSON
};

/// What the listener made of the bytes. Only progress keeps a slow stream alive: pings do not.
/// complete: all is said, the connection need only be closed; enough: do not read further.
enum class Took { nothing, progress, complete, enough };

struct HttpAnswer {
  int status = 0;
  HttpHeaders headers;
  std::string body;                // of any status but 2xx, and its beginning only
  bool cut_by_listener = false;    // it had enough
  std::optional<Trouble> trouble;  // connection, timeout, interrupted
};

class HttpTransport {
 public:
  HttpTransport();
  ~HttpTransport();
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  /// on_bytes gets the body of a 2xx answer; headers are complete by then.
  using OnBytes = std::function<Took(const HttpHeaders& headers, std::string_view bytes)>;
  HttpAnswer post(const HttpRequest& request, const HttpTimeouts& timeouts,
                  const OnBytes& on_bytes);

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;  // made with the first request: libcurl's set-up takes time
};

}  // namespace kagent::llm
