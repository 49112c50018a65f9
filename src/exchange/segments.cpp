// SPDX-License-Identifier: Apache-2.0
#include "exchange/segments.h"

#include "agent/context.h"

namespace kagent::exchange {
namespace {

Segment segment(const store::Trajectory& trajectory, const ContextEdit& edit, int first_turn,
                int end_turn) {
  std::vector<Turn> until;
  for (const Turn& turn : trajectory.turns) {
    if (turn.number < end_turn) until.push_back(turn);
  }
  Segment result;
  result.first_turn = first_turn;
  result.opening = agent::shown_opening(trajectory.start.opening, edit);
  result.has_record = !edit.record.empty();
  result.turns = agent::shown_turns(until, edit);
  return result;
}

}  // namespace

std::vector<Segment> segments(const store::Trajectory& trajectory) {
  const int end = static_cast<int>(trajectory.turns.size()) + 1;
  std::vector<Segment> all;
  ContextEdit edit;
  int first = 1;
  for (const ContextEdit& next : trajectory.contexts) {
    if (next.turn >= end) break;  // nothing was asked that way any more
    if (next.turn > first) all.push_back(segment(trajectory, edit, first, next.turn));
    edit = next;
    first = next.turn;
  }
  all.push_back(segment(trajectory, edit, first, end));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = static_cast<int>(i) + 1;
  return all;
}

}  // namespace kagent::exchange
