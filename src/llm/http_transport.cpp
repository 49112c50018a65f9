// SPDX-License-Identifier: Apache-2.0
#include "llm/http_transport.h"

#include "base/text.h"
#include "sys/environment.h"
#include "sys/stop.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <mutex>

namespace kagent::llm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxErrorBytes = 64u << 10;
constexpr std::chrono::milliseconds kMostForClosing{1000};

void start_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    sys::forget_variable("SSLKEYLOGFILE");  // libcurl would write the session's keys there
    curl_global_init(CURL_GLOBAL_DEFAULT);
  });
}

/// libcurl itself reads neither variable; only its command does.
std::string certificate_file() {
  for (const char* name : {"KAGENT_CA_FILE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (std::string value = sys::variable(name); !value.empty()) return value;
  }
  return "";
}

/// One answer as it comes in; libcurl's callbacks end here.
struct Incoming {
  const HttpTransport::OnBytes& on_bytes;
  CURL* easy;
  HttpAnswer answer;
  Clock::time_point last_progress = Clock::now();
  bool any_progress = false;
  bool complete = false;

  long status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
};

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  const std::string_view line(bytes, count);
  const std::size_t colon = line.find(':');
  if (line.rfind("HTTP/", 0) == 0) incoming.answer.headers.clear();  // a 100 or a proxy came before
  if (colon != std::string_view::npos && incoming.answer.headers.size() < 200) {
    incoming.answer.headers[base::to_lower(line.substr(0, colon))] =
        base::trim(line.substr(colon + 1));
  }
  return count;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  const long status = incoming.status();
  if (status < 200 || status >= 300) {
    std::string& body = incoming.answer.body;
    body.append(bytes, std::min(count, kMaxErrorBytes - std::min(body.size(), kMaxErrorBytes)));
    return count;
  }
  const Took took = incoming.on_bytes(incoming.answer.headers, {bytes, count});
  if (took == Took::enough) {
    incoming.answer.cut_by_listener = true;
    return CURL_WRITEFUNC_ERROR;
  }
  if (took == Took::complete) incoming.complete = true;
  if (took == Took::progress) {
    incoming.any_progress = true;
    incoming.last_progress = Clock::now();
  }
  return count;
}

Trouble connection_trouble(CURLcode code, const char* detail) {
  const bool slow = code == CURLE_OPERATION_TIMEDOUT;
  Trouble trouble{slow ? TroubleKind::timeout : TroubleKind::connection, "", {}, true};
  // A certificate that is not accepted or a bad proxy will be so the next time too.
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
      code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_URL_MALFORMAT) {
    trouble.retry = false;
  }
  trouble.message = base::one_line(
      detail[0] != '\0' ? std::string(detail) : std::string(curl_easy_strerror(code)), 300);
  return trouble;
}

Trouble too_slow(const char* what, std::chrono::milliseconds limit) {
  return {TroubleKind::timeout,
          fmt::format("{} for {:.1f} s", what, static_cast<double>(limit.count()) / 1000),
          {},
          true};
}

}  // namespace

struct HttpTransport::Handles {
  CURLM* multi = curl_multi_init();
  CURL* easy = curl_easy_init();
  curl_slist* headers = nullptr;
  char detail[CURL_ERROR_SIZE] = {};

  ~Handles() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  void add_header(const std::string& line) { headers = curl_slist_append(headers, line.c_str()); }

  void prepare(const HttpRequest& request, const HttpTimeouts& timeouts) {
    curl_easy_reset(easy);
    curl_slist_free_all(headers);
    headers = nullptr;
    detail[0] = '\0';
    add_header("content-type: application/json");
    add_header("accept: text/event-stream");
    add_header("Expect:");
    for (const std::string& line : request.headers) add_header(line);
    if (!request.key.empty()) add_header(request.key_header + request.key.reveal());
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_PROXYHEADER, nullptr);
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeouts.connect.count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeouts.total.count()));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "kagent");
    // Plain http is for servers on this machine: through a proxy the key would leave it in the open.
    if (request.url.rfind("http://", 0) == 0) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    if (const std::string file = certificate_file(); !file.empty()) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, file.c_str());
    }
  }

  /// Until it is done, too slow, or a stop is requested.
  void perform(Incoming& incoming, const HttpTimeouts& timeouts) {
    int running = 1;
    while (true) {
      curl_multi_perform(multi, &running);
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        if (code != CURLE_OK && !incoming.answer.cut_by_listener && !incoming.complete) {
          incoming.answer.trouble = connection_trouble(code, detail);
        }
        return;
      }
      if (sys::stop_requested() != 0) {
        incoming.answer.trouble =
            Trouble{TroubleKind::interrupted, "stopped by a signal", {}, false};
        return;
      }
      auto limit = incoming.any_progress ? timeouts.idle : timeouts.first;
      if (incoming.complete) limit = kMostForClosing;
      const auto left_time = std::chrono::duration_cast<std::chrono::milliseconds>(
          incoming.last_progress + limit - Clock::now());
      if (left_time.count() <= 0) {
        if (incoming.complete) return;
        incoming.answer.trouble = too_slow(
            incoming.any_progress ? "the stream brought nothing" : "no reply began", limit);
        return;
      }
      curl_waitfd stop{sys::stop_fd(), CURL_WAIT_POLLIN, 0};
      const int wait = static_cast<int>(std::min<long long>(left_time.count(), 1000));
      curl_multi_poll(multi, &stop, stop.fd >= 0 ? 1 : 0, wait, nullptr);
    }
  }
};

HttpTransport::HttpTransport() = default;
HttpTransport::~HttpTransport() = default;

HttpAnswer HttpTransport::post(const HttpRequest& request, const HttpTimeouts& timeouts,
                               const OnBytes& on_bytes) {
  start_curl_once();
  if (!handles_) handles_ = std::make_unique<Handles>();
  handles_->prepare(request, timeouts);
  Incoming incoming{on_bytes, handles_->easy, {}};
  curl_easy_setopt(handles_->easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(handles_->easy, CURLOPT_HEADERDATA, &incoming);
  curl_easy_setopt(handles_->easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(handles_->easy, CURLOPT_WRITEDATA, &incoming);
  curl_multi_add_handle(handles_->multi, handles_->easy);
  handles_->perform(incoming, timeouts);
  incoming.answer.status = static_cast<int>(incoming.status());
  curl_multi_remove_handle(handles_->multi, handles_->easy);
  return std::move(incoming.answer);
}

}  // namespace kagent::llm
