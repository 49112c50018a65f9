// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/render.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::report {
namespace {

constexpr std::size_t kMaxBody = 200'000;   // of one fold: a page must open in a browser

/// 'sha256-…' as a Content-Security-Policy names an inline script or style.
std::string policy_hash(const std::string& text) {
  const std::string hex = base::sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base::base64_encode(bytes) + "'";
}

wire::Json number(double value) { return std::isfinite(value) ? wire::Json(value) : wire::Json(nullptr); }

wire::Json chart_json(const Chart& chart) {
  wire::Json series = wire::Json::array();
  for (const auto& each : chart.series) {
    wire::Json values = wire::Json::array(), low = wire::Json::array(), high = wire::Json::array();
    for (const auto& value : each.values) {
      values.push_back(number(value.value));
      low.push_back(number(value.low));
      high.push_back(number(value.high));
    }
    series.push_back({{"name", each.name}, {"values", std::move(values)}, {"low", std::move(low)}, {"high", std::move(high)}});
  }
  const char* kind = chart.kind == ChartKind::bars ? "bars" : chart.kind == ChartKind::columns ? "columns" : "line";
  return {{"kind", kind}, {"title", chart.title}, {"unit", chart.unit}, {"logarithmic", chart.logarithmic},
          {"base", chart.base}, {"labels", chart.labels}, {"series", std::move(series)}};
}

/// JSON that no HTML parser takes for the end of a script element or the start of a comment.
std::string script_json(const wire::Json& json) {
  std::string text;
  for (const char c : wire::dump(json)) {
    switch (c) {
      case '<': text += "\\u003c"; break;
      case '>': text += "\\u003e"; break;
      case '&': text += "\\u0026"; break;
      default: text += c;
    }
  }
  return text;
}

class Page {
 public:
  explicit Page(const PageParts& parts) : with_charts_(!parts.library.empty()) {}

  std::string show(const Heading& heading) const {
    return fmt::format("<h{0}>{1}</h{0}>\n", heading.level, html_escape(heading.text));
  }

  std::string show(const Paragraph& paragraph) const { return "<p>" + html_escape(paragraph.text) + "</p>\n"; }

  std::string show(const Facts& facts) const {
    std::string text = "<dl>\n";
    for (const auto& [name, what] : facts.rows) text += "<dt>" + html_escape(name) + "</dt><dd>" + html_escape(what) + "</dd>\n";
    return text + "</dl>\n";
  }

  std::string show(const Table& table) const {
    std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
    const auto open = [&](const char* tag, std::size_t i) {
      return fmt::format("<{}{}>", tag, table.columns[i].is_number ? " class=\"number\"" : "");
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += open("th", i) + html_escape(table.columns[i].name) + "</th>";
    text += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
      text += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) text += open("td", i) + html_escape(row[i]) + "</td>";
      text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
  }

  std::string show(const Chart& chart) {
    if (!with_charts_) return "";
    const std::size_t rows = chart.labels.size() * std::max<std::size_t>(1, chart.series.size());
    const std::size_t height = chart.kind == ChartKind::bars ? 90 + 16 * rows : 320;
    charts_.push_back(chart_json(chart));
    return fmt::format("<figure><figcaption>{0}</figcaption><div class=\"chart\" data-height=\"{1}\"><canvas role=\"img\" "
                       "aria-label=\"{0}\"></canvas></div></figure>\n", html_escape(chart.title), height);
  }

  std::string show(const Fold& fold) const {
    std::string body;
    if (fold.kind == Fold::Kind::difference) {
      for (const auto& line : base::split_lines(base::cap(fold.body, kMaxBody))) {
        const char* kind = line.rfind('+', 0) == 0 ? "added" : line.rfind('-', 0) == 0 ? "removed" : line.rfind("@@", 0) == 0 ? "place" : "";
        body += fmt::format("<span class=\"{}\">{}</span>\n", kind, html_escape(line));
      }
    } else {
      body = html_escape(base::cap(fold.body, kMaxBody));
    }
    return fmt::format("<details><summary>{}</summary><pre class=\"{}\">{}</pre></details>\n", html_escape(fold.title),
                       fold.kind == Fold::Kind::prose ? "prose" : "code", body);
  }

  const wire::Json& charts() const { return charts_; }

 private:
  bool with_charts_;
  wire::Json charts_ = wire::Json::array();
};

/// A comment cannot hold "--".
std::string comment(std::string text) {
  for (auto at = text.find("--"); at != std::string::npos; at = text.find("--", at)) text.replace(at, 2, "- ");
  return "<!--\n" + base::replace_invalid_utf8(text) + "\n-->\n";
}

}  // namespace

std::string html_escape(const std::string& raw) {
  std::string text;
  text.reserve(raw.size());
  for (const char c : base::replace_invalid_utf8(raw)) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      case '\'': text += "&#39;"; break;
      case '\n': case '\t': text += c; break;
      default: text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? std::string("\xef\xbf\xbd") : std::string(1, c);
    }
  }
  return text;
}

std::string render_html(const Document& document, const PageParts& parts) {
  Page page(parts);
  std::string body = page.show(Heading{1, document.title});
  for (const auto& block : document.blocks) body += std::visit([&](const auto& each) { return page.show(each); }, block);
  std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src " + policy_hash(parts.style);
  std::string scripts;
  if (parts.library.empty()) {
    body += page.show(Paragraph{"Charts are left out: kagent was built without Chart.js (Debian's libjs-chart.js)."});
  } else {
    policy += "; script-src " + policy_hash(parts.library) + " " + policy_hash(parts.script);
    scripts = comment(parts.library_notice) + "<script type=\"application/json\" id=\"charts\">" + script_json(page.charts()) +
              "</script>\n<script>" + parts.library + "</script>\n<script>" + parts.script + "</script>\n";
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<title>" + html_escape(document.title) + "</title>\n<style>" + parts.style + "</style>\n</head>\n<body>\n<main>\n" +
         body + "</main>\n" + scripts + "</body>\n</html>\n";
}

}  // namespace kagent::report
