// SPDX-License-Identifier: Apache-2.0
// A Document as terminal text, Markdown, CSV, or one HTML page that needs no server and no network.
#pragma once

#include <string>

#include "report/document.h"

namespace kagent::report {

/// For a terminal of about 120 columns. Folds are only named: their texts are long.
std::string render_text(const Document& document);

/// GitHub's Markdown; charts are left out, since their figures stand in tables.
std::string render_markdown(const Document& document);

/// Document::figures alone (RFC 4180, lines end in "\n"); cells that a spreadsheet would take for a
/// formula are quoted with an apostrophe.
std::string render_csv(const Document& document);

/// Parts of the page that are files of the installation (share/kagent/report).
struct PageParts {
  std::string style;           // page.css
  std::string script;          // charts.js: draws with the library
  std::string library;         // chart.min.js; empty: charts are left out, and the page says so
  std::string library_notice;  // its licence
};

/// The page carries a policy under which only these parts' scripts run (by their hashes).
std::string render_html(const Document& document, const PageParts& parts);

/// One block in these forms.
std::string text_of(const Table& table);
std::string text_of(const Paragraph& paragraph);
std::string markdown_of(const Table& table);

/// Text and double-quoted attributes alike; what HTML cannot hold becomes U+FFFD.
std::string html_escape(const std::string& raw);

}  // namespace kagent::report
