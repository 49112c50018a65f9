// SPDX-License-Identifier: Apache-2.0
// kagent export RUN: a run as other programs read it, or as people do.
#include "commands.h"
#include "exchange/atif.h"
#include "exchange/chat_messages.h"
#include "exchange/segments.h"
#include "exchange/transcript.h"
#include "exit_codes.h"
#include "sys/files.h"

#include <fmt/format.h>

#include <memory>

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string run;
  std::string format = "messages";
  std::string out;
};

struct NamedText {
  std::string path;
  std::string text;
};

/// "run.json" -> "run.json", "run.2.json", …: one for each segment.
std::vector<std::string> segment_files(const std::string& out, std::size_t count) {
  const fs::path path = out;
  std::vector<std::string> files{out};
  for (std::size_t number = 2; number <= count; ++number) {
    const auto name =
        fmt::format("{}.{}{}", path.stem().string(), number, path.extension().string());
    files.push_back((path.parent_path() / name).string());
  }
  return files;
}

std::vector<NamedText> atif_files(const ExportOptions& options, const store::Trajectory& trajectory,
                                  const exchange::RunFacts& facts) {
  const bool to_files = !options.out.empty();
  const auto paths = segment_files(to_files ? options.out : facts.name + ".json",
                                   exchange::segments(trajectory).size());
  std::vector<std::string> names;  // as one document names another: they lie in one folder
  for (const auto& path : paths) names.push_back(fs::path(path).filename().string());
  const auto documents = exchange::atif_documents(trajectory, facts, names);
  std::vector<NamedText> files;
  // On stdout there is one document a line.
  for (std::size_t i = 0; i < documents.size(); ++i) {
    files.push_back({paths[i], wire::dump(documents[i], to_files ? 1 : -1) + "\n"});
  }
  return files;
}

std::vector<NamedText> files_of(const ExportOptions& options, const store::Trajectory& trajectory,
                                const exchange::RunFacts& facts) {
  if (options.format == "atif") return atif_files(options, trajectory, facts);
  if (options.format == "transcript")
    return {{options.out, exchange::transcript(trajectory, facts)}};
  NamedText file{options.out, ""};
  for (const auto& line : exchange::chat_messages(trajectory, facts)) {
    file.text += wire::dump(line) + "\n";
  }
  return {std::move(file)};
}

Result<void> export_run(const ExportOptions& options) {
  KAGENT_TRY(const auto folder, store::RunFolder::open(options.run));
  KAGENT_TRY(const auto facts, exchange::read_facts(folder));
  std::error_code code;
  if (!fs::exists(folder.trajectory(), code)) {
    return Error{ErrorKind::usage,
                 options.run + ": nothing was said yet (trajectory.jsonl is missing)"};
  }
  KAGENT_TRY(const auto trajectory, store::read_trajectory(folder.trajectory()));
  for (const auto& [path, text] : files_of(options, trajectory, facts)) {
    if (options.out.empty()) {
      fmt::print("{}", text);
      continue;
    }
    auto written = sys::write_file_atomically(path, text);
    if (!written) return Error{ErrorKind::usage, "--out " + written.error().message};
    fmt::print(stderr, "kagent: wrote {}\n", path);
  }
  std::fflush(stdout);
  return {};
}

}  // namespace

void add_export(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<ExportOptions>();
  auto* command = app.add_subcommand("export", "a run's trajectory in the form of other programs");
  command->add_option("run", options->run, "a run folder of optimize")->required();
  command
      ->add_option("--format", options->format,
                   "messages (default): chat messages with tools, JSON Lines; atif: ATIF-v1.8; "
                   "transcript: Markdown for people")
      ->check(CLI::IsMember({"messages", "atif", "transcript"}));
  command->add_option("--out", options->out, "a file (default: stdout)");
  command->callback([options, &exit_code_out] {
    auto done = export_run(*options);
    exit_code_out = done ? kSuccess : report_failure(done.error(), false);
  });
}

}  // namespace kagent::cli
