// SPDX-License-Identifier: Apache-2.0
// Prints what the driver's header says about the structs and numbers that kagent/live/cuda.py spells by hand.
#include <cstddef>
#include <cstdio>

#include <cuda.h>

#define NUMBER(name) std::printf("%s %lld\n", #name, static_cast<long long>(name))
#define FIELD(type, field) std::printf(#type "." #field " %zu\n", offsetof(type, field))

int main() {
  NUMBER(sizeof(CUlaunchConfig));
  FIELD(CUlaunchConfig, blockDimX);
  FIELD(CUlaunchConfig, sharedMemBytes);
  FIELD(CUlaunchConfig, hStream);
  FIELD(CUlaunchConfig, attrs);
  FIELD(CUlaunchConfig, numAttrs);
  NUMBER(sizeof(CUlaunchAttribute));
  FIELD(CUlaunchAttribute, value);
  FIELD(CUlaunchAttribute, value.clusterDim.z);
  NUMBER(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  NUMBER(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  NUMBER(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  NUMBER(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  NUMBER(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT8);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_UINT16);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT32);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_INT64);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  NUMBER(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  NUMBER(CU_TENSOR_MAP_SWIZZLE_128B);
  NUMBER(CU_TENSOR_MAP_INTERLEAVE_32B);
  NUMBER(CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  NUMBER(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  NUMBER(sizeof(CUtensorMap));
  return 0;
}
