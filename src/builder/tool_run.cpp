// SPDX-License-Identifier: Apache-2.0
#include "builder/tool_run.h"

#include <cstdlib>
#include <fstream>

#include "base/text.h"
#include "sys/capture.h"
#include "sys/files.h"
#include "sys/subprocess.h"

#include <fmt/format.h>

namespace kagent::builder {

Result<ToolRun> run_tool(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                         std::chrono::steady_clock::time_point deadline) {
  KAGENT_TRY(auto capture, sys::OutputCapture::start(256u << 10, 64u << 10));
  sys::SpawnRequest request;
  request.arguments = arguments;
  const char* path = std::getenv("PATH");
  request.environment = {
      std::string("PATH=") + (path != nullptr && *path != '\0' ? path : "/usr/local/bin:/usr/bin:/bin"),
      "TMPDIR=" + folder.string(), "HOME=" + folder.string(), "LC_ALL=C"};
  request.output = capture->writer();
  request.directory = folder.string();
  KAGENT_TRY(sys::Process process, sys::Process::spawn(request));
  capture->close_writer();
  const auto status = process.wait(deadline);
  if (!status) {
    process.kill();
    return ToolRun{false, true, {}};
  }
  capture->finish(2000);
  return ToolRun{status->code == 0, false, capture->text() +
                                        (status->signal ? "\n" + status->describe() : std::string())};
}

Result<void> write_sources(const Sources& sources, const std::filesystem::path& folder) {
  for (const auto& [name, text] : sources) {
    const std::filesystem::path path = folder / name;
    KAGENT_TRY_VOID(sys::make_directories(path.parent_path()));
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) return Error{ErrorKind::environment, "cannot write " + path.string()};
  }
  return {};
}

std::string first_line_of(const std::vector<std::string>& arguments) {
  const auto run = run_tool(arguments, "/", std::chrono::steady_clock::now() + std::chrono::seconds(20));
  if (!run || !run->ok) return {};
  const std::vector<std::string> lines = base::split_lines(run->output);
  return lines.empty() ? std::string() : base::one_line(lines.front(), 120);
}

}  // namespace kagent::builder
