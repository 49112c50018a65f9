// SPDX-License-Identifier: Apache-2.0
#include "batch/job_watch.h"

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "wire/members.h"

namespace kagent::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPiece = 4u << 20;   // of one look

/// Whole lines from `at` on, which then stands behind them.
std::string more_lines(const fs::path& path, std::uint64_t& at) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(at))) return "";
  std::string piece(kMaxPiece, '\0');
  file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(file.gcount()));
  const auto end = piece.rfind('\n');
  if (end == std::string::npos) {
    if (piece.size() == kMaxPiece) at += piece.size();   // a line that long is not worth reading
    return "";
  }
  at += end + 1;
  piece.resize(end + 1);
  return piece;
}

double number(const wire::Json& object, const char* name) {
  const wire::Json& value = wire::member(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

}  // namespace

const JobStatus& JobWatch::look() {
  read_log();
  if (!runs_.empty()) read_trajectory();
  return status_;
}

void JobWatch::read_log() {
  constexpr std::string_view kPrefix = "kagent: ";
  for (const auto& line : base::split_lines(more_lines(log_, log_at_))) {
    if (line.rfind(kPrefix, 0) != 0) continue;
    status_.phase = base::one_line(line.substr(kPrefix.size()), 100);
    status_.queued = status_.phase == "wait for the device";
  }
}

void JobWatch::read_trajectory() {
  if (trajectory_.empty()) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(runs_, code)) {
      const fs::path path = entry.path() / "trajectory.jsonl";
      if (fs::exists(path, code) && trajectory_ < path) trajectory_ = path;   // names begin with the time
    }
    if (trajectory_.empty()) return;
  }
  for (const auto& line : base::split_lines(more_lines(trajectory_, trajectory_at_))) {
    if (const auto json = wire::parse_text(line, "trajectory")) take(*json);
  }
}

void JobWatch::take(const wire::Json& line) {
  const std::string type = wire::text_member(line, "type");
  if (type == "reply") {
    status_.turns = std::max(status_.turns, static_cast<int>(number(line, "turn")));
    status_.cost_usd += number(wire::member(wire::member(line, "reply"), "usage"), "cost_usd");
  } else if (type == "candidate") {
    const wire::Json& evaluation = wire::member(line, "evaluation");
    if (!wire::flag_member(wire::member(evaluation, "verdict"), "correct")) return;
    status_.best_gain = std::max(status_.best_gain, number(wire::member(evaluation, "score"), "speedup_over_eager"));
  }
}

}  // namespace kagent::batch
