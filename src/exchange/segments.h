// SPDX-License-Identifier: Apache-2.0
// A run in pieces in which the conversation only grew: a new one begins wherever older turns were
// cut or replaced by a record, since from there on the model was asked with another prompt.
#pragma once

#include <kagent/trajectory.h>

#include "store/read_trajectory.h"

#include <string>
#include <vector>

namespace kagent::exchange {

struct Segment {
  int number = 1;           // from 1
  int first_turn = 1;       // the first that was asked for with this prompt
  std::string opening;      // exact first user message, the record included
  bool has_record = false;  // the record stands for turns that are not shown
  std::vector<Turn> turns;  // exactly as shown; those before first_turn were in an earlier segment

  bool copied(const Turn& turn) const { return turn.number < first_turn; }
};

/// At least one; all turns of the run, each in exactly one segment as one that is not copied. A
/// turn that a kill cut off is left out.
std::vector<Segment> segments(const store::Trajectory& trajectory);

}  // namespace kagent::exchange
