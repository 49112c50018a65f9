// SPDX-License-Identifier: Apache-2.0
// From what the card did to samples: windows between our own markers, spans, unions. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

namespace kagent::gpu {

/// What an activity is to the clock. Instruments are never part of a sample.
enum class Role { work, open_marker, gate, end_marker, instrument };

/// Names of instruments begin with this; the backend refuses images that use it.
inline constexpr std::string_view kInstrumentPrefix = "kagent_instrument_";
/// Role of a kernel by its symbol.
Role role_of(std::string_view name);

/// One thing that the card did, times in nanoseconds.
struct Activity {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::string_view name;           // kernel's symbol; empty for copies
  std::uint32_t correlation = 0;   // rises with each API call, modulo 2^32
  std::uint32_t block_threads = 0; // markers carry their ticket here, see marker_threads()
};

/// Threads of a marker kernel with this ticket: lets a lost or foreign marker be noticed.
constexpr std::uint32_t marker_threads(std::uint32_t ticket) { return 1 + ticket % 128; }

/// Durations in microseconds over one set of activities; all zero for none.
Sample summarise(const std::vector<Activity>& activities,
                 const std::unordered_set<std::string_view>& own_kernels);

struct Windows {
  std::vector<Sample> samples;
  int early = 0;   // activities of a call that ran before its gate let the stream go
  int late = 0;    // activities that ended after the call's own stream had
};

/// Splits a block of `count` samples with tickets first_ticket, first_ticket + 1, …; each is
///   open marker · before() and L2 flush · gate · the call's work · end marker,
/// and one more open marker closes the block. A sample's work is everything that is no instrument
/// and either started between its gate's start and the next open marker or was asked for by an API
/// call between the two, on any stream. Error where a marker is missing, doubled or out of order.
Result<Windows> split_windows(std::vector<Activity> activities, std::uint32_t first_ticket,
                              int count,
                              const std::unordered_set<std::string_view>& own_kernels);

}  // namespace kagent::gpu
