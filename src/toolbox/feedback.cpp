// SPDX-License-Identifier: Apache-2.0
#include "toolbox/feedback.h"

#include "base/text.h"
#include "toolbox/output_text.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

namespace kagent::toolbox {
namespace {

constexpr std::size_t kMaxDetailBytes = 3500;
constexpr std::size_t kMaxNotes = 4;

std::string indented(const std::string& text) {
  std::string result;
  for (const std::string& line : base::split_lines(text)) result += "  " + line + "\n";
  return result;
}

using Sources = std::map<std::string, std::string>;

/// A line of a source that the compiler's word or the fault names.
struct Place {
  std::string file;
  std::size_t line = 0;  // from 1
  bool operator==(const Place&) const = default;
};

/// "kernels/a.cu(12): error" and "kernels/a.cu:12:5: error": the first few different ones.
std::vector<Place> places_of_errors(const Fault& fault, const Sources& sources) {
  constexpr std::size_t kMostPlaces = 3;
  std::vector<Place> places;
  const auto add = [&](Place place) {
    const bool known = std::find(places.begin(), places.end(), place) != places.end();
    if (!known && places.size() < kMostPlaces) places.push_back(std::move(place));
  };
  for (const std::string& line : base::split_lines(fault.detail)) {
    if (line.find("error") == std::string::npos) continue;
    for (const auto& [path, text] : sources) {
      const std::size_t at = line.find(path);
      if (at == std::string::npos || at + path.size() + 1 >= line.size()) continue;
      std::size_t number = 0;
      const char* begin = line.data() + at + path.size() + 1;  // behind "(" or ":"
      if (std::from_chars(begin, line.data() + line.size(), number).ec == std::errc()) {
        add({path, number});
      }
    }
  }
  if (places.empty() && fault.at.line > 0) {
    add({fault.at.file, static_cast<std::size_t>(fault.at.line)});
  }
  return places;
}

/// Those lines as they stand in the candidate, with one before and after each.
std::string source_lines(const Fault& fault, const Sources& sources) {
  std::string text;
  for (const Place& place : places_of_errors(fault, sources)) {
    const auto source = sources.find(place.file);
    if (source == sources.end()) continue;
    const std::vector<std::string> lines = base::split_lines(source->second);
    if (place.line < 1 || place.line > lines.size()) continue;
    text += place.file + "\n";
    for (std::size_t number = place.line > 1 ? place.line - 1 : 1;
         number <= std::min(place.line + 1, lines.size()); ++number) {
      text += fmt::format("{} {:>4} | {}\n", number == place.line ? ">" : " ", number,
                          base::one_line(lines[number - 1], 160));
    }
  }
  return text;
}

std::string fault_lines(const Fault& fault, const Sources& sources) {
  std::string text;
  if (!fault.at.file.empty() && fault.at.line > 0) {
    text += fmt::format("{}:{}: ", fault.at.file, fault.at.line);
  }
  text += base::one_line(fault.message, 600) + "\n";
  if (fault.output >= 0) {
    std::vector<std::string> index;
    for (const auto position : fault.index) index.push_back(std::to_string(position));
    text += fmt::format("  output {}, index [{}]: expected {}, got {}\n", fault.output,
                        base::join(index, ", "), base::one_line(fault.expected, 60),
                        base::one_line(fault.got, 60));
  }
  text += source_lines(fault, sources);
  if (!fault.hint.empty()) text += "hint: " + base::one_line(fault.hint, 600) + "\n";
  if (!fault.detail.empty()) {
    text += indented(cap_output(clean_output(fault.detail), kMaxDetailBytes, ""));
  }
  return text;
}

std::string trial_line(const Verdict& verdict) {
  double error = 0;
  double ratio = 0;
  std::size_t passed = 0;
  for (const Trial& trial : verdict.trials) {
    error = std::max(error, trial.max_error);
    ratio = std::max(ratio, trial.error_ratio);
    passed += trial.passed ? 1 : 0;
  }
  return fmt::format("{} of {} trials passed; largest error {:.3g}, {:.2g} of what is allowed\n",
                     passed, verdict.trials.size(), error, ratio);
}

std::string arm_line(const char* name, const ArmTimes& arm, const std::optional<Speedup>& speedup) {
  std::string line = fmt::format("{:<13} {:>10.2f} us [{:.2f}, {:.2f}]", name, arm.median_us,
                                 arm.low_us, arm.high_us);
  if (speedup) {
    line += fmt::format("   speedup {:.3f}x [{:.3f}, {:.3f}]", speedup->point, speedup->low,
                        speedup->high);
  }
  return line + "\n";
}

std::string time_lines(const Measurement& times) {
  std::string text = arm_line("candidate", times.candidate, {});
  if (times.eager) text += arm_line("eager", *times.eager, times.over_eager);
  if (times.compiled) text += arm_line("torch.compile", *times.compiled, times.over_compiled);
  if (times.candidate.launches > 0) {
    text +=
        fmt::format("own kernels: {:.0f} % of the candidate's device time, {} launches a call\n",
                    100 * times.own_kernel_share, times.candidate.launches);
  }
  for (std::size_t i = 0; i < std::min(times.notes.size(), kMaxNotes); ++i) {
    text += "note: " + base::one_line(times.notes[i]) + "\n";
  }
  return text;
}

/// What is still to be saved against one baseline; empty where the interval's worse end suffices.
std::string missing_gain(const char* name, const std::optional<ArmTimes>& baseline,
                         const std::optional<Speedup>& speedup, double min_gain) {
  if (!baseline || !speedup || speedup->low * (1 - min_gain) >= 1) return "";
  return fmt::format(" {} (at most {:.2f} us)", name, baseline->median_us * (1 - min_gain));
}

std::string target_line(const Evaluation& evaluation, double min_gain) {
  if (!evaluation.score || !evaluation.measurement) return "";
  if (evaluation.score->success) {
    return fmt::format("target reached: saves at least {:.0f} %\n", 100 * min_gain);
  }
  if (evaluation.score->noisy) {
    return "the medians reach the target, but the spread is too wide to be sure; evaluate it again "
           "or "
           "save more\n";
  }
  const Measurement& times = *evaluation.measurement;
  const std::string missing =
      missing_gain("eager", times.eager, times.over_eager, min_gain) +
      missing_gain("torch.compile", times.compiled, times.over_compiled, min_gain);
  return missing.empty() ? "" : "target not reached against:" + missing + "\n";
}

std::string kernel_lines(const BuildResult& build) {
  std::string text;
  for (const KernelBuild& kernel : build.kernels) {
    if (kernel.registers == 0) continue;  // the CPU backend has none
    text += fmt::format("kernel {}: {} registers, {} B spilled, {} B static shared memory\n",
                        base::one_line(kernel.entry, 120), kernel.registers,
                        kernel.spill_store_bytes + kernel.spill_load_bytes, kernel.shared_bytes);
    if (text.size() > 800) return text;
  }
  return text;
}

/// What a correct candidate that is not fast enough should mend first; empty where nothing stands
/// out.
std::string first_to_mend(const Evaluation& evaluation) {
  if (!evaluation.measurement || (evaluation.score && evaluation.score->success)) return "";
  const Measurement& times = *evaluation.measurement;
  if (evaluation.build) {
    for (const KernelBuild& kernel : evaluation.build->kernels) {
      const int spilled = kernel.spill_store_bytes + kernel.spill_load_bytes;
      if (spilled == 0) continue;
      return fmt::format(
          "look first at: {} spills {} B of registers to memory; smaller tiles, fewer live "
          "values\n",
          base::one_line(kernel.entry, 120), spilled);
    }
  }
  if (times.candidate.launches > 0 && times.own_kernel_share < 0.5) {
    return fmt::format(
        "look first at: {:.0f} % of the device time is not in your kernels but in library calls "
        "and copies\n",
        100 * (1 - times.own_kernel_share));
  }
  const double idle = times.candidate.median_us - times.candidate.busy_us;
  if (times.candidate.launches > 1 && times.candidate.busy_us > 0 &&
      idle > 0.1 * times.candidate.median_us) {
    return fmt::format(
        "look first at: the device idles {:.0f} % of the time between {} launches; fuse them\n",
        100 * idle / times.candidate.median_us, times.candidate.launches);
  }
  return "";
}

/// Speed against another candidate, by the same baseline; 0 where there is none in common.
double ratio(const BestFigures& other, const Evaluation& evaluation) {
  if (!evaluation.score) return 0;
  if (other.speedup_over_eager > 0 && evaluation.score->speedup_over_eager > 0) {
    return evaluation.score->speedup_over_eager / other.speedup_over_eager;
  }
  if (other.speedup_over_compiled > 0 && evaluation.score->speedup_over_compiled > 0) {
    return evaluation.score->speedup_over_compiled / other.speedup_over_compiled;
  }
  return 0;
}

std::string best_line(const JudgedCandidate& judged) {
  if (!judged.best) return "no correct candidate yet\n";
  const auto& before = judged.best_before;
  if (judged.is_best) {
    const bool another = before && before->number != judged.number;
    const double gain = another ? ratio(*before, judged.evaluation) : 0;
    return gain > 0
               ? fmt::format(
                     "this is the best so far: {:.2f} times as fast as #{}, the best before it\n",
                     gain, before->number)
               : "this is the best so far\n";
  }
  std::string text =
      fmt::format("best so far: #{}, {}", judged.best->number, figures(*judged.best));
  const double gain = ratio(*judged.best, judged.evaluation);
  if (gain > 0) text += fmt::format("; this one is {:.2f} times as fast as that", gain);
  return text + "\n";
}

}  // namespace

std::string figures(const BestFigures& best) {
  std::vector<std::string> parts;
  if (best.speedup_over_eager > 0)
    parts.push_back(fmt::format("{:.2f}x eager", best.speedup_over_eager));
  if (best.speedup_over_compiled > 0) {
    parts.push_back(fmt::format("{:.2f}x torch.compile", best.speedup_over_compiled));
  }
  return parts.empty() ? "not timed" : base::join(parts, ", ");
}

std::string feedback(const JudgedCandidate& judged, double min_gain) {
  const Evaluation& evaluation = judged.evaluation;
  std::string text = "outcome: " + judged.outcome + "\n";
  text += fmt::format("candidate #{} ({})\n", judged.number, base::join(judged.files, ", "));
  if (judged.judged_before) text += "these files were judged before; that evaluation stands\n";
  if (evaluation.verdict.fault) text += fault_lines(*evaluation.verdict.fault, judged.sources);
  if (evaluation.verdict.correct) {
    text += target_line(evaluation, min_gain) + first_to_mend(evaluation) +
            trial_line(evaluation.verdict);
  }
  if (evaluation.measurement) text += time_lines(*evaluation.measurement);
  if (evaluation.verdict.correct && evaluation.build) text += kernel_lines(*evaluation.build);
  if (!evaluation.verdict.labels.empty()) {
    text += "labels: " + base::join(evaluation.verdict.labels, ", ") + "\n";
  }
  return text + best_line(judged);
}

std::string feedback(const Fault& fault) {
  return fmt::format("outcome: {}\n", wire::word(fault.kind)) + fault_lines(fault, {});
}

}  // namespace kagent::toolbox
