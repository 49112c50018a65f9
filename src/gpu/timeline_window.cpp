// SPDX-License-Identifier: Apache-2.0
#include "gpu/timeline_window.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kagent::gpu {
namespace {

/// Markers of one sample, as found.
struct Markers {
  std::optional<Activity> open, gate, end;
};

/// Nanoseconds by which a programmatic launch may begin before its predecessor's stamp.
constexpr std::uint64_t kOverlap = 2000;

/// a before b, on a counter that wraps.
bool precedes(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

Error broken(int sample, const std::string& what) {
  return Error{ErrorKind::environment,
               "timeline: sample " + std::to_string(sample) + " " + what};
}

/// Sorts markers into samples by their order in time; there are count + 1 open ones.
Result<std::vector<Markers>> find_markers(const std::vector<Activity>& sorted,
                                          std::uint32_t first_ticket, int count) {
  std::vector<Markers> found;
  for (const Activity& activity : sorted) {
    const Role role = role_of(activity.name);
    if (role != Role::open_marker && role != Role::gate && role != Role::end_marker) continue;
    if (role == Role::open_marker) found.emplace_back();
    const int sample = static_cast<int>(found.size()) - 1;
    if (sample < 0) return broken(0, "has no open marker");
    if (sample > count) return broken(sample, "was not asked for: too many open markers");
    const auto ticket = first_ticket + static_cast<std::uint32_t>(sample);
    if (activity.block_threads != marker_threads(ticket)) {
      return broken(sample, "has a marker of another sample");
    }
    Markers& markers = found.back();
    std::optional<Activity>& slot = role == Role::open_marker ? markers.open
                                    : role == Role::gate      ? markers.gate
                                                              : markers.end;
    if (slot) return broken(sample, "has a marker twice");
    if (role == Role::end_marker && !markers.gate) return broken(sample, "ends before its gate");
    slot = activity;
  }
  if (static_cast<int>(found.size()) != count + 1) {
    return broken(static_cast<int>(found.size()), "has no open marker");
  }
  for (int i = 0; i < count; ++i) {
    const Markers& markers = found[static_cast<std::size_t>(i)];
    if (!markers.gate) return broken(i, "has no gate");
    if (!markers.end) return broken(i, "has no end marker");
  }
  return found;
}

/// Index of the sample whose window holds the activity, or -1.
int window_of(const Activity& activity, const std::vector<Markers>& markers) {
  for (std::size_t i = 0; i + 1 < markers.size(); ++i) {
    const Activity& gate = *markers[i].gate;
    const Activity& next = *markers[i + 1].open;
    const bool by_call = precedes(gate.correlation, activity.correlation) &&
                         precedes(activity.correlation, next.correlation);
    const bool by_time =
        activity.start_ns >= gate.start_ns && activity.start_ns < next.start_ns;
    if (by_call || by_time) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Role role_of(std::string_view name) {
  if (!name.starts_with(kInstrumentPrefix)) return Role::work;
  name.remove_prefix(kInstrumentPrefix.size());
  if (name == "open") return Role::open_marker;
  if (name == "gate") return Role::gate;
  if (name == "end") return Role::end_marker;
  return Role::instrument;
}

Sample summarise(const std::vector<Activity>& activities,
                 const std::unordered_set<std::string_view>& own_kernels) {
  Sample sample;
  if (activities.empty()) return sample;
  std::vector<std::array<std::uint64_t, 2>> intervals;
  std::uint64_t sum = 0;
  std::uint64_t own = 0;
  for (const Activity& activity : activities) {
    const std::uint64_t length = activity.end_ns - activity.start_ns;
    intervals.push_back({activity.start_ns, activity.end_ns});
    sum += length;
    if (own_kernels.contains(activity.name)) own += length;
  }
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t busy = 0;
  std::uint64_t reached = intervals.front()[0];
  for (const auto& [start, end] : intervals) {
    if (end > reached) busy += end - std::max(start, reached);
    reached = std::max(reached, end);
  }
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  sample.span_us = microseconds(reached - intervals.front()[0]);
  sample.busy_us = microseconds(busy);
  sample.sum_us = microseconds(sum);
  sample.own_us = microseconds(own);
  sample.launches = static_cast<int>(activities.size());
  return sample;
}

Result<Windows> split_windows(std::vector<Activity> activities, std::uint32_t first_ticket,
                              int count,
                              const std::unordered_set<std::string_view>& own_kernels) {
  // Markers of one stream that share a tick of the clock stay in the order of their API calls.
  std::sort(activities.begin(), activities.end(), [](const Activity& a, const Activity& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return precedes(a.correlation, b.correlation);
  });
  KAGENT_TRY(const std::vector<Markers> markers, find_markers(activities, first_ticket, count));
  std::vector<std::vector<Activity>> work(static_cast<std::size_t>(count));
  Windows windows;
  for (const Activity& activity : activities) {
    if (role_of(activity.name) != Role::work) continue;
    const int index = window_of(activity, markers);
    if (index < 0) continue;
    const Markers& around = markers[static_cast<std::size_t>(index)];
    if (activity.start_ns + kOverlap < around.gate->end_ns) ++windows.early;
    if (activity.end_ns > around.end->end_ns) ++windows.late;
    work[static_cast<std::size_t>(index)].push_back(activity);
  }
  for (const auto& activities_of_sample : work) {
    windows.samples.push_back(summarise(activities_of_sample, own_kernels));
  }
  return windows;
}

}  // namespace kagent::gpu
