// SPDX-License-Identifier: Apache-2.0
#include "llm/http_model.h"

#include "base/text.h"
#include "llm/anthropic_stream.h"
#include "llm/openai_stream.h"
#include "sys/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace kagent::llm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestDelay{60'000};
constexpr milliseconds kLongestWish{600'000};  // of a server; a longer one ends the run

/// Any time up to a bound that doubles: many clients must not come back together.
milliseconds random_delay(milliseconds first, int attempts) {
  static std::mt19937_64 random{std::random_device{}()};
  const auto bound = std::min(kLongestDelay, first * (1 << std::min(attempts, 6)));
  if (bound.count() < 1) return milliseconds(0);
  return milliseconds(std::uniform_int_distribution<long>(1, bound.count())(random));
}

std::unique_ptr<ReplyStream> stream_for(Api api, int turn) {
  if (api == Api::anthropic) return std::make_unique<AnthropicStream>();
  return std::make_unique<OpenAiStream>(turn);
}

/// Hears one answer: a stream of events, or one JSON object where the server does not stream.
class Listener {
 public:
  explicit Listener(ReplyStream& stream) : stream_(stream) {}

  Took take(const HttpHeaders& headers, std::string_view bytes) {
    const auto type = headers.find("content-type");
    whole_ = type != headers.end() && type->second.find("json") != std::string::npos;
    last_ = Heard::nothing;
    progress_ = false;
    if (whole_) {
      body_.append(bytes);
      if (body_.size() > 2 * kMaxReplyBytes) last_ = Heard::trouble;
      progress_ = true;
    } else {
      events_.feed(bytes, [this](ServerEvent event) { hear(event); });
    }
    if (last_ == Heard::trouble || last_ == Heard::too_much) return Took::enough;
    if (stream_.complete()) return Took::complete;
    return progress_ ? Took::progress : Took::nothing;
  }

  void finish() {
    if (whole_) {
      last_ = stream_.take_whole(body_);
    } else if (last_ != Heard::trouble && last_ != Heard::too_much) {
      events_.finish([this](ServerEvent event) { hear(event); });
    }
  }

  bool too_much() const { return last_ == Heard::too_much; }

 private:
  void hear(const ServerEvent& event) {
    if (last_ == Heard::trouble || last_ == Heard::too_much) return;
    last_ = stream_.take(event);
    progress_ = progress_ || last_ == Heard::progress;
  }

  ReplyStream& stream_;
  EventStream events_;
  std::string body_;
  Heard last_ = Heard::nothing;
  bool whole_ = false;
  bool progress_ = false;
};

Reply said_nothing(ReplyEnd end) {
  Reply reply;
  reply.raw = R"({"role":"assistant","content":null})";
  reply.end = end;
  return reply;
}

}  // namespace

HttpModel::HttpModel(HttpModelSettings settings, OnNotice on_notice)
    : settings_(std::move(settings)),
      on_notice_(std::move(on_notice)),
      gate_(EndpointGate::of(settings_.endpoint.url, settings_.endpoint.key.reveal())) {}

HttpRequest HttpModel::http_request(const ChatRequest& request) const {
  const Endpoint& endpoint = settings_.endpoint;
  HttpRequest http;
  http.url = endpoint.url;
  http.key = endpoint.key;
  if (endpoint.api == Api::anthropic) {
    http.headers = {"anthropic-version: 2023-06-01"};
    http.key_header = "x-api-key: ";
    http.body = anthropic_body(request, settings_.model, settings_.sampling);
  } else {
    http.key_header = "authorization: Bearer ";
    http.body = openai_body(request, settings_.model, settings_.sampling, endpoint);
  }
  return http;
}

HttpModel::Attempt HttpModel::attempt(const HttpRequest& request, int turn) {
  const auto stream = stream_for(settings_.endpoint.api, turn);
  Listener listener(*stream);
  HttpAnswer answer = transport_.post(request, settings_.timeouts,
                                      [&](const HttpHeaders& headers, std::string_view bytes) {
                                        return listener.take(headers, bytes);
                                      });
  if (answer.trouble && answer.trouble->kind == TroubleKind::interrupted) {
    return {{}, *answer.trouble};
  }
  if (answer.status != 0 && (answer.status < 200 || answer.status >= 300)) {
    return {{}, trouble_of_status(answer.status, answer.headers, answer.body)};
  }
  // What is cut off after the end frame is no part of the reply: asking again would cost a second one.
  const bool all_said = stream->ended() && !stream->trouble();
  if (!answer.trouble && !answer.cut_by_listener) listener.finish();
  if (stream->trouble() && !all_said) return {{}, *stream->trouble()};
  if (stream->ended() || listener.too_much()) return {stream->reply(), {}};
  if (answer.trouble) return {{}, *answer.trouble};
  return {{},
          {TroubleKind::connection,
           fmt::format("the stream ended without its end frame, after {} bytes of a reply",
                       stream->bytes()),
           {},
           true}};
}

bool HttpModel::wait_for_turn(const Trouble& trouble, int attempts) {
  const auto delay = trouble.retry_after.value_or(random_delay(settings_.first_delay, attempts));
  const auto until = EndpointGate::Clock::now() + delay;
  if (trouble.kind == TroubleKind::overloaded) gate_->close_until(until);
  if (on_notice_) {
    on_notice_(fmt::format("{}: {}; asking again in {:.1f} s ({} of {})", settings_.name,
                           settings_.endpoint.key.redact(trouble.message),
                           static_cast<double>(delay.count()) / 1000, attempts, settings_.retries));
  }
  return !sys::sleep_unless_stopped(delay);
}

/// The key must not get into a record, even where a server says it back.
Reply HttpModel::finished(Reply reply) const {
  const Secret& key = settings_.endpoint.key;
  reply.raw = key.redact(std::move(reply.raw));
  reply.text = key.redact(std::move(reply.text));
  reply.tokens = key.redact(std::move(reply.tokens));
  for (ToolCall& call : reply.calls) call.arguments = key.redact(std::move(call.arguments));
  if (settings_.price) reply.usage.cost_usd = settings_.price->cost(reply.usage);
  return reply;
}

Result<Reply> HttpModel::complete(const ChatRequest& request) {
  const HttpRequest http = http_request(request);
  bool unreadable = false;
  for (int attempts = 1;; ++attempts) {
    const auto wait = gate_->wait(EndpointGate::Clock::now());
    if (wait.count() > 0) {
      if (sys::sleep_unless_stopped(wait)) return Error{ErrorKind::interrupted, "stopped"};
    }
    Attempt tried = attempt(http, request.turn);
    if (tried.reply) return finished(*std::move(tried.reply));
    const Trouble& trouble = tried.trouble;
    if (trouble.kind == TroubleKind::interrupted) return Error{ErrorKind::interrupted, "stopped"};
    if (trouble.kind == TroubleKind::context_exceeded) {
      return said_nothing(ReplyEnd::context_exceeded);
    }
    // Once more, then the model is told to write less: it is its own reply that cannot be read.
    if (trouble.kind == TroubleKind::unreadable && std::exchange(unreadable, true)) {
      return said_nothing(ReplyEnd::length);
    }
    const bool too_long = trouble.retry_after.value_or(milliseconds(0)) > kLongestWish;
    if (!trouble.retry || attempts > settings_.retries || too_long) {
      std::string message = settings_.name + ": " + trouble.message;
      if (too_long) {
        message += fmt::format(" (it asks to wait for {} s)", trouble.retry_after->count() / 1000);
      } else if (trouble.retry) {
        message += fmt::format(" (asked {} times)", attempts);
      }
      return Error{ErrorKind::network, settings_.endpoint.key.redact(std::move(message))};
    }
    if (!wait_for_turn(trouble, attempts)) return Error{ErrorKind::interrupted, "stopped"};
  }
}

}  // namespace kagent::llm
