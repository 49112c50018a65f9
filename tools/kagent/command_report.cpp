// SPDX-License-Identifier: Apache-2.0
// kagent report RUN|BATCH, or two of them: what happened, as text, Markdown, CSV or one HTML page.
#include <filesystem>
#include <memory>

#include "commands.h"
#include "exit_codes.h"
#include "report/render.h"
#include "review/documents.h"
#include "sys/files.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> folders;
  std::string format;     // text, markdown, csv, html; empty: by the name of --out
  std::string out;
  bool merge = false;
};

Result<std::string> chosen_format(const ReportOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string extension = fs::path(options.out).extension().string();
  if (options.out.empty() || extension == ".txt") return std::string("text");
  if (extension == ".md") return std::string("markdown");
  if (extension == ".csv") return std::string("csv");
  if (extension == ".html" || extension == ".htm") return std::string("html");
  return Error{ErrorKind::usage, "--out " + options.out + ": its name does not say which form; add --format text|markdown|csv|html"};
}

/// A trailing slash is no name.
fs::path clean(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

Result<report::Document> make_document(const ReportOptions& options) {
  if (options.merge || options.folders.size() == 1) {
    KAGENT_TRY(const auto kind, review::kind_of_folder(clean(options.folders[0])));
    if (kind == review::FolderKind::run && !options.merge) {
      KAGENT_TRY(const auto run, review::load_run(clean(options.folders[0])));
      return review::run_document(run);
    }
    std::vector<review::BatchRecord> parts;
    for (const auto& folder : options.folders) {
      KAGENT_TRY(auto part, review::load_batch(clean(folder)));
      parts.push_back(std::move(part));
    }
    KAGENT_TRY(const auto whole, review::merge(std::move(parts)));
    return review::batch_document(whole);
  }
  if (options.folders.size() > 2) return Error{ErrorKind::usage, "two folders are compared; more are taken with --merge only"};
  KAGENT_TRY(const auto a, review::load_results(clean(options.folders[0])));
  KAGENT_TRY(const auto b, review::load_results(clean(options.folders[1])));
  return review::comparison_document(options.folders[0], a, options.folders[1], b);
}

/// A page without charts is still a page: the library is there only where the build found it.
Result<report::PageParts> page_parts() {
  constexpr std::size_t kMaxBytes = 8u << 20;
  KAGENT_TRY(const fs::path root, sys::installation_root());
  const fs::path folder = root / "share/kagent/report";
  report::PageParts parts;
  KAGENT_TRY(parts.style, sys::read_file(folder / "page.css", kMaxBytes));
  KAGENT_TRY(parts.script, sys::read_file(folder / "charts.js", kMaxBytes));
  std::error_code code;
  if (fs::exists(folder / "chart.min.js", code)) {
    KAGENT_TRY(parts.library, sys::read_file(folder / "chart.min.js", kMaxBytes));
    KAGENT_TRY(parts.library_notice, sys::read_file(folder / "chart.js.copyright", kMaxBytes));
  }
  return parts;
}

Result<std::string> render(const report::Document& document, const std::string& format) {
  if (format == "markdown") return report::render_markdown(document);
  if (format == "csv") return report::render_csv(document);
  if (format == "text") return report::render_text(document);
  KAGENT_TRY(const auto parts, page_parts());
  return report::render_html(document, parts);
}

Result<int> run(const ReportOptions& options) {
  KAGENT_TRY(const std::string format, chosen_format(options));
  KAGENT_TRY(const auto document, make_document(options));
  KAGENT_TRY(const std::string text, render(document, format));
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    KAGENT_TRY_VOID(sys::write_file_atomically(options.out, text));
  }
  return kSuccess;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand("report", "show a run or a batch, or compare two");
  command->add_option("folders", options->folders, "a run or batch folder; two of them are compared")->required();
  command->add_option("--format", options->format, "text (default), markdown, csv, html")
      ->check(CLI::IsMember({"text", "markdown", "csv", "html"}));
  command->add_option("--out", options->out, "write to this file; .md, .csv and .html say the format");
  command->add_flag("--merge", options->merge, "the folders are shards of one batch: show them as one");
  command->callback([options, &exit_code_out] {
    auto code = run(*options);
    exit_code_out = code ? *code : report_failure(code.error(), false);
  });
}

}  // namespace kagent::cli
