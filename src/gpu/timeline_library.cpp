// SPDX-License-Identifier: Apache-2.0
#include "gpu/timeline_library.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <cupti.h>

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;   // about 4,800 kernel records
constexpr std::size_t kBufferAlignment = 8;     // what CUPTI asks for

/// State of the one subscription of the process. Never destroyed: CUPTI may call back at exit.
struct Timeline {
  std::mutex mutex;
  bool started = false;
  std::string error = "";
  CUpti_SubscriberHandle subscriber = nullptr;
  std::vector<kagent_timeline_activity> recorded;   // since the last collect
  std::vector<kagent_timeline_activity> delivered;  // what the last collect handed out
  std::unordered_set<std::string> names;            // kernel names, addresses stable
  std::string bad_record;                           // first record without usable times
  std::vector<std::uint8_t*> spare;                 // buffers to hand out again
};

Timeline& timeline() {
  static Timeline* const instance = new Timeline;
  return *instance;
}

std::string words(CUptiResult code) {
  const char* text = nullptr;
  if (cuptiGetResultString(code, &text) != CUPTI_SUCCESS || text == nullptr) text = "CUPTI error";
  return std::string(text) + " (" + std::to_string(static_cast<int>(code)) + ")";
}

void add(Timeline& state, std::uint32_t kind, const char* name, std::uint64_t start,
         std::uint64_t end, std::uint32_t context, std::uint32_t stream, std::uint32_t correlation,
         std::uint32_t block_threads) {
  const char* kept = state.names.insert(name == nullptr ? "" : name).first->c_str();
  if ((start == 0 || end < start) && state.bad_record.empty()) {
    state.bad_record = std::string(*kept == '\0' ? "a copy" : kept) + " from " +
                       std::to_string(start) + " to " + std::to_string(end) + " ns";
  }
  state.recorded.push_back({start, end, kept, kind, context, stream, correlation, block_threads, 0});
}

/// Fields are passed by value, which also keeps references off the packed structs.
void read_record(Timeline& state, const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* k = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      add(state, KAGENT_TIMELINE_KERNEL, k->name, k->start, k->end, k->contextId, k->streamId,
          k->correlationId, static_cast<std::uint32_t>(k->blockX));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* c = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      add(state, KAGENT_TIMELINE_COPY, "", c->start, c->end, c->contextId, c->streamId,
          c->correlationId, 0);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto* c = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      add(state, KAGENT_TIMELINE_COPY, "", c->start, c->end, c->contextId, c->streamId,
          c->correlationId, 0);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* s = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      add(state, KAGENT_TIMELINE_SET, "", s->start, s->end, s->contextId, s->streamId,
          s->correlationId, 0);
      return;
    }
    default:
      return;
  }
}

// CUPTI calls these from its own threads and from inside cuptiActivityFlushAll; so nobody holds
// the mutex while flushing.
void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  Timeline& state = timeline();
  const std::lock_guard lock(state.mutex);
  if (state.spare.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  } else {
    *buffer = state.spare.back();
    state.spare.pop_back();
  }
  *size = *buffer == nullptr ? 0 : kBufferBytes;   // without a buffer records are dropped, and told
  *max_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid_bytes) {
  if (buffer == nullptr) return;
  Timeline& state = timeline();
  const std::lock_guard lock(state.mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 &&
         cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    read_record(state, record);
  }
  state.spare.push_back(buffer);
}

void CUPTIAPI no_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

int fail(Timeline& state, const std::string& reason) {
  state.error = reason;
  return -1;
}

/// The structs above are those of one version of CUPTI; another one lays them out differently
/// under the same SONAME (pitfall 24).
int check_version(Timeline& state) {
  std::uint32_t version = 0;
  const CUptiResult code = cuptiGetVersion(&version);
  if (code != CUPTI_SUCCESS) return fail(state, "cuptiGetVersion: " + words(code));
  if (version == CUPTI_API_VERSION) return 0;
  return fail(state, "libcupti.so.13 has version " + std::to_string(version) +
                         ", kagent was built for " + std::to_string(CUPTI_API_VERSION) +
                         "; build it against the CUDA wheels of the torch that it runs with");
}

int subscribe(Timeline& state) {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "kagent";
  parameters.oldSubscriberName = holder;
  parameters.oldSubscriberSize = sizeof holder;
  const CUptiResult code =
      cuptiSubscribe_v2(&state.subscriber, no_callback, nullptr, &parameters);
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    holder[sizeof holder - 1] = '\0';
    return fail(state, std::string("CUPTI is held by '") + holder +
                           "': no other profiler or debugger can be on while kagent measures");
  }
  if (code != CUPTI_SUCCESS) return fail(state, "cuptiSubscribe_v2: " + words(code));
  return 0;
}

int enable(Timeline& state) {
  CUptiResult code = cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
  if (code != CUPTI_SUCCESS) return fail(state, "cuptiActivityRegisterCallbacks: " + words(code));
  constexpr CUpti_ActivityKind kinds[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,   // never KIND_KERNEL, which serialises
      CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
  for (const CUpti_ActivityKind kind : kinds) {
    code = cuptiActivityEnable(kind);
    if (code != CUPTI_SUCCESS) {
      return fail(state, "cuptiActivityEnable(" + std::to_string(static_cast<int>(kind)) +
                             "): " + words(code));
    }
  }
  return 0;
}

}  // namespace

extern "C" int kagent_timeline_start(void) {
  static std::mutex starting;   // apart from state.mutex, which the callbacks take
  const std::lock_guard once(starting);
  Timeline& state = timeline();
  if (state.started) return 0;
  if (check_version(state) != 0 || subscribe(state) != 0) return -1;
  if (enable(state) != 0) {
    cuptiUnsubscribe(state.subscriber);
    return -1;
  }
  state.started = true;
  return 0;
}

extern "C" int kagent_timeline_started(void) { return timeline().started ? 1 : 0; }

extern "C" int kagent_timeline_collect(const struct kagent_timeline_activity** activities,
                                       std::size_t* count) {
  Timeline& state = timeline();
  *activities = nullptr;
  *count = 0;
  if (!state.started) return fail(state, "the timeline was not started");
  const CUptiResult code = cuptiActivityFlushAll(0);
  if (code != CUPTI_SUCCESS) return fail(state, "cuptiActivityFlushAll: " + words(code));
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  const std::lock_guard lock(state.mutex);
  state.delivered.swap(state.recorded);
  state.recorded.clear();
  if (dropped > 0) {
    return fail(state, "CUPTI dropped " + std::to_string(dropped) + " records");
  }
  if (!state.bad_record.empty()) {
    const std::string record = std::exchange(state.bad_record, "");
    return fail(state, "CUPTI gave no usable times for " + record);
  }
  *activities = state.delivered.data();
  *count = state.delivered.size();
  return 0;
}

extern "C" const char* kagent_timeline_error(void) { return timeline().error.c_str(); }

extern "C" int InitializeInjection(void) {
  // 1 lets the program go on; what went wrong is told to whoever asks for the timeline.
  kagent_timeline_start();
  return 1;
}
