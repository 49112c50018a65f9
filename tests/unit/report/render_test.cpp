// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

#include <gtest/gtest.h>

namespace kagent::report {
namespace {

const std::string kHostile = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\"> & 'q' \x1b[31m | `x` [l](javascript:0)\n# no";

/// The same hostile text everywhere that a document can hold one.
Document hostile() {
  Document document;
  document.title = kHostile;
  document.blocks = {Heading{2, kHostile}, Paragraph{kHostile}, Facts{{{kHostile, kHostile}}},
                     Table{{{kHostile, false}, {"n", true}}, {{kHostile, kHostile}}},
                     Chart{ChartKind::bars, kHostile, kHostile, true, 1, {kHostile}, {{kHostile, {{2, 1.5, 3}}}}},
                     Fold{kHostile, Fold::Kind::prose, kHostile}, Fold{kHostile, Fold::Kind::difference, "+" + kHostile + "\n```\n````"}};
  document.figures = Table{{{"name", false}, {"n", true}}, {{"=HYPERLINK(\"x\")", "-1"}, {"a,b\n\"c\"", "2"}}};
  return document;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(RenderHtml, HostileTextMakesNoElement) {
  const std::string page = render_html(hostile(), {"p{}", "draw()", "library()", "licence -- text --> <script>"});
  // Data, library, own script; the notice's stands inside a comment that it cannot end.
  EXPECT_EQ(count(page, "<script"), 4u) << page;
  EXPECT_EQ(count(page, "</script>"), 3u) << page;
  EXPECT_EQ(count(page, "-->"), 1u);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script\\u003e"), std::string::npos);   // in the charts' JSON
}

TEST(RenderHtml, OnlyThePagesOwnScriptsMayRun) {
  const std::string page = render_html(hostile(), {"p{}", "draw()", "library()", ""});
  const auto policy = page.substr(page.find("Content-Security-Policy"), 600);
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  // printf 'draw()' | openssl dgst -sha256 -binary | base64
  EXPECT_NE(policy.find("'sha256-jm3FkV4tNIdBUr8jRVVl5n9PUixlaxTWD0pdpFiSH5A='"), std::string::npos) << policy;
  EXPECT_EQ(policy.substr(0, policy.find('>')).find("unsafe"), std::string::npos);
}

TEST(RenderHtml, WithoutTheLibraryThereIsNoScriptAndThePageSaysSo) {
  const std::string page = render_html(hostile(), {"p{}", "draw()", "", ""});
  EXPECT_EQ(count(page, "<script"), 0u);
  EXPECT_NE(page.find("Charts are left out"), std::string::npos);
}

TEST(RenderMarkdown, HostileTextStaysText) {
  const std::string text = render_markdown(hostile());
  EXPECT_EQ(text.find("<script"), text.find("<script>alert(1)</script><img"));   // only inside fences
  const std::string table = markdown_of(Table{{{"a", false}}, {{kHostile}}});
  EXPECT_EQ(table.find('<'), std::string::npos) << table;
  EXPECT_EQ(count(table, "\n"), 3u) << table;
  EXPECT_NE(table.find("\\|"), std::string::npos);
  EXPECT_NE(table.find("\\[l\\]"), std::string::npos);
  EXPECT_NE(text.find("\n`````diff\n"), std::string::npos) << text;   // longer than any fence inside
}

TEST(RenderText, ControlCharactersReachNoTerminal) {
  EXPECT_EQ(render_text(hostile()).find('\x1b'), std::string::npos);
}

TEST(RenderCsv, QuotesAndDisarmsFormulas) {
  EXPECT_EQ(render_csv(hostile()), "name,n\n\"'=HYPERLINK(\"\"x\"\")\",-1\n\"a,b\n\"\"c\"\"\",2\n");
}

TEST(RenderText, TablesLineUp) {
  EXPECT_EQ(text_of(Table{{{"task", false}, {"gain", true}}, {{"a", "1.5x"}, {"long name", "10.25x"}}}),
            "task         gain\n"
            "a            1.5x\n"
            "long name  10.25x\n");
}

}  // namespace
}  // namespace kagent::report
