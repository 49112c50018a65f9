// SPDX-License-Identifier: Apache-2.0
// Why a request brought no reply, and whether asking again can help. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace kagent::llm {

enum class TroubleKind {
  overloaded,        // 429, 529, 503: ask later
  server,            // other 5xx, an error within the stream
  connection,        // not reached, reset, ended without its end frame
  timeout,           // nothing came for too long
  unreadable,        // the server could not read what its own model wrote (llama.cpp)
  context_exceeded,  // the request does not fit the model's context
  key,               // 401, 403
  quota,             // 402, insufficient_quota
  unknown_model,     // 404
  bad_request,       // other 4xx, a redirect
  interrupted,       // Ctrl-C
};

struct Trouble {
  TroubleKind kind = TroubleKind::server;
  std::string message;                                   // one line, without keys
  std::optional<std::chrono::milliseconds> retry_after;  // what the server asks for
  bool retry = false;                                    // asking again can help
};

using HttpHeaders = std::map<std::string, std::string>;  // names in lower case

/// What an answer other than 2xx means. body: as much of it as was read.
Trouble trouble_of_status(int status, const HttpHeaders& headers, const std::string& body);

/// An error object inside a stream that began with 200; text: its JSON.
Trouble trouble_in_stream(const std::string& text);

/// Whether a server's message says that the request is longer than the model's context.
bool says_context_exceeded(const std::string& message);

/// retry-after-ms, or retry-after in seconds or as a date, which counts from the answer's own date.
std::optional<std::chrono::milliseconds> retry_after(const HttpHeaders& headers);

}  // namespace kagent::llm
