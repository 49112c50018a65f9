/* SPDX-License-Identifier: Apache-2.0 */
/* libkagent_timeline.so: what the card did, by CUPTI. Plain C, so that it can be linked, opened by
 * name, or injected with CUDA_INJECTION64_PATH; one copy serves a whole process. Calls are
 * serialised inside. Functions return 0, or -1 with the reason in kagent_timeline_error(). */
#ifndef KAGENT_GPU_TIMELINE_LIBRARY_H_
#define KAGENT_GPU_TIMELINE_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KAGENT_TIMELINE_API __attribute__((visibility("default")))

enum kagent_timeline_kind {
  KAGENT_TIMELINE_KERNEL = 0,
  KAGENT_TIMELINE_COPY = 1,
  KAGENT_TIMELINE_SET = 2
};

/* One thing that the card did. Times in nanoseconds of one clock for all records. */
struct kagent_timeline_activity {
  uint64_t start_ns;
  uint64_t end_ns;
  const char* name;       /* kernel's symbol as linked; lives as long as the process; "" for copies */
  uint32_t kind;          /* enum kagent_timeline_kind */
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;   /* rises with each API call of the process, modulo 2^32 */
  uint32_t block_threads; /* threads along x; 0 for copies */
  uint32_t reserved;
};

/* Subscribes and begins to record. Before the process first touches CUDA; again is a no-op. */
KAGENT_TIMELINE_API int kagent_timeline_start(void);

/* 1 once start has succeeded. */
KAGENT_TIMELINE_API int kagent_timeline_started(void);

/* All that has been recorded since the last collect, in no order. The array is the library's until
 * the next call. Synchronise first: only finished work is delivered. Fails for good reasons only:
 * records that CUPTI dropped, records without times. */
KAGENT_TIMELINE_API int kagent_timeline_collect(const struct kagent_timeline_activity** activities, size_t* count);

/* Why the last call failed; never null. */
KAGENT_TIMELINE_API const char* kagent_timeline_error(void);

/* Called by the driver where CUDA_INJECTION64_PATH names this library. */
KAGENT_TIMELINE_API int InitializeInjection(void);

#ifdef __cplusplus
}
#endif
#endif  /* KAGENT_GPU_TIMELINE_LIBRARY_H_ */
