// SPDX-License-Identifier: Apache-2.0
#include "llm/trouble.h"

#include "base/text.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>

namespace kagent::llm {
namespace {

using wire::Json;

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

/// {"error": {"message"}}, {"error": "…"}, {"message"}, and Gemini's list of one of these.
std::string message_in(const Json& json) {
  if (json.is_array() && !json.empty()) return message_in(json.front());
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object()) return "";
  for (const char* member : {"error", "message", "detail"}) {
    const auto at = json.find(member);
    if (at == json.end()) continue;
    if (std::string inner = message_in(*at); !inner.empty()) return inner;
  }
  return "";
}

std::string message_of(const std::string& body) {
  const auto json = wire::parse_text(body, "answer");
  std::string message = json ? message_in(*json) : body;
  if (message.empty()) message = body;
  return base::one_line(base::trim(message), 300);
}

TroubleKind kind_of_status(int status, const std::string& body) {
  if (has(body, "insufficient_quota") || has(body, "billing_error") || status == 402) {
    return TroubleKind::quota;
  }
  if (status == 429 || status == 529 || status == 503) return TroubleKind::overloaded;
  if (status >= 500 && (has(body, "expected peg") || has(body, "Failed to parse input") ||
                        has(body, "parse tool call"))) {
    return TroubleKind::unreadable;
  }
  if (says_context_exceeded(body)) return TroubleKind::context_exceeded;
  if (status == 413 || (status == 400 && body.empty())) return TroubleKind::context_exceeded;
  if (status >= 500 || status == 408 || status == 409) return TroubleKind::server;
  if (status == 401 || status == 403) return TroubleKind::key;
  if (status == 404) return TroubleKind::unknown_model;
  return TroubleKind::bad_request;
}

bool worth_a_retry(TroubleKind kind) {
  return kind == TroubleKind::overloaded || kind == TroubleKind::server ||
         kind == TroubleKind::unreadable;
}

const char* meaning(TroubleKind kind) {
  switch (kind) {
    case TroubleKind::overloaded:
      return "the server is busy or limits the rate";
    case TroubleKind::key:
      return "the key is not accepted";
    case TroubleKind::quota:
      return "the account has no credit left";
    case TroubleKind::unknown_model:
      return "there is no such model or address";
    case TroubleKind::context_exceeded:
      return "the conversation does not fit the model's context";
    case TroubleKind::unreadable:
      return "the server could not read its model's reply";
    case TroubleKind::bad_request:
      return "the server refuses the request";
    default:
      return "the server failed";
  }
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT" as seconds.
std::optional<std::time_t> date_in(const std::string& text) {
  std::tm time{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &time);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&time);
}

std::string header(const HttpHeaders& headers, const char* name) {
  const auto at = headers.find(name);
  return at == headers.end() ? "" : at->second;
}

}  // namespace

bool says_context_exceeded(const std::string& message) {
  const std::string text = base::to_lower(message);
  for (const char* words :
       {"prompt is too long", "prompt too long", "exceeds the context window",
        "maximum context length", "exceeds the available context size", "context_length_exceeded",
        "reduce the length", "exceed_context_size", "context window exceeds",
        "exceeds the maximum number of tokens", "request too large for model",
        "longer than the model's context length", "maximum prompt length",
        "exceeded model token limit", "input is too long", "context length is only",
        "too many tokens in the prompt", "input length and `max_tokens` exceed"}) {
    if (has(text, words)) return true;
  }
  return has(text, "input token count") && has(text, "exceeds");
}

std::optional<std::chrono::milliseconds> retry_after(const HttpHeaders& headers) {
  constexpr double kLongest = 24 * 3600 * 1000.0;
  std::optional<double> wait = number_in(header(headers, "retry-after-ms"));
  if (!wait) {
    wait = number_in(header(headers, "retry-after"));
    if (wait) *wait *= 1000;
  }
  if (!wait) {
    const auto then = date_in(header(headers, "retry-after"));
    const auto now = date_in(header(headers, "date"));
    if (then && now) wait = std::max(0.0, std::difftime(*then, *now)) * 1000;
  }
  if (!wait || !(*wait >= 0)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*wait, kLongest)));
}

Trouble trouble_of_status(int status, const HttpHeaders& headers, const std::string& body) {
  Trouble trouble;
  if (status >= 300 && status < 400) {
    trouble.kind = TroubleKind::bad_request;
    trouble.message = fmt::format(
        "HTTP {}: the server redirects, which is never followed with a key; set the base "
        "address to where it points ({})",
        status, base::one_line(header(headers, "location"), 200));
    return trouble;
  }
  trouble.kind = kind_of_status(status, body);
  const std::string said = message_of(body);
  trouble.message =
      fmt::format("HTTP {}: {}{}", status, meaning(trouble.kind), said.empty() ? "" : ": " + said);
  trouble.retry_after = retry_after(headers);
  trouble.retry = worth_a_retry(trouble.kind);
  const std::string advice = header(headers, "x-should-retry");
  if (advice == "true") trouble.retry = true;
  if (advice == "false") trouble.retry = false;
  return trouble;
}

Trouble trouble_in_stream(const std::string& text) {
  Trouble trouble;
  if (says_context_exceeded(text)) {
    trouble.kind = TroubleKind::context_exceeded;
  } else if (has(text, "overloaded") || has(text, "rate_limit")) {
    trouble.kind = TroubleKind::overloaded;
  } else if (has(text, "insufficient_quota") || has(text, "billing")) {
    trouble.kind = TroubleKind::quota;
  } else {
    trouble.kind = TroubleKind::server;
  }
  trouble.retry = worth_a_retry(trouble.kind);
  trouble.message = "the stream ended in an error: " + message_of(text);
  return trouble;
}

}  // namespace kagent::llm
