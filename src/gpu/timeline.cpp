// SPDX-License-Identifier: Apache-2.0
#include "gpu/timeline.h"

#include "gpu/driver.h"
#include "gpu/timeline_library.h"

namespace kagent::gpu {

Result<void> start_timeline() {
  // Without a driver CUPTI says "unknown error"; the driver's absence is the clearer word.
  KAGENT_TRY([[maybe_unused]] const Driver* driver, Driver::open());
  if (kagent_timeline_start() == 0) return {};
  return Error{ErrorKind::environment, std::string("timeline: ") + kagent_timeline_error()};
}

Result<std::vector<Activity>> collect_timeline() {
  const kagent_timeline_activity* records = nullptr;
  std::size_t count = 0;
  if (kagent_timeline_collect(&records, &count) != 0) {
    return Error{ErrorKind::environment, std::string("timeline: ") + kagent_timeline_error()};
  }
  std::vector<Activity> activities;
  activities.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const kagent_timeline_activity& record = records[i];
    activities.push_back({record.start_ns, record.end_ns, record.name, record.correlation,
                          record.block_threads});
  }
  return activities;
}

}  // namespace kagent::gpu
