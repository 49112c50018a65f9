// SPDX-License-Identifier: Apache-2.0
// A well-formed plan that uses every part of the format: a matrix product, a folded weight, a
// launch with every kind of argument, a nest of outputs.
#pragma once

namespace kagent::fakes {

inline constexpr const char* kSamplePlan = R"({
  "schema": "kagent.plan/1",
  "backend": "cuda",
  "values": [
    {"dtype": "float32", "shape": [64, 32], "stride": [32, 1], "origin": "input", "input": 0},
    {"dtype": "float32", "shape": [32], "stride": [1], "origin": "weight", "path": "norm.weight"},
    {"dtype": "float32", "shape": [2], "stride": [1], "origin": "constant", "data": "AAAAAAAAgD8="},
    {"dtype": "float32", "shape": [32], "stride": [1], "origin": "computed"},
    {"dtype": "float32", "shape": [32], "stride": [1], "origin": "prepared", "path": "folded"},
    {"dtype": "float32", "shape": [32, 64], "stride": [1, 32], "origin": "computed"},
    {"dtype": "float32", "shape": [64, 64], "stride": [64, 1], "origin": "computed"},
    {"dtype": "float32", "shape": [64, 64], "stride": [64, 1], "origin": "computed"}
  ],
  "kernels": [
    {"source": "kernels/softmax.cu", "name": "softmax_rows<1024>", "options": ["-use_fast_math"], "at": {"file": "model_new.py", "line": 6}}
  ],
  "prepare": [
    {"op": "aten::mul.Tensor", "args": [{"tensor": 1}, {"float": "0x1p+1"}], "results": [3], "torch": "torch.mul", "at": {"file": "model_new.py", "line": 9}}
  ],
  "prepared": {"folded": 3},
  "forward": [
    {"op": "aten::t", "args": [{"tensor": 0}], "results": [5], "at": {"file": "model_new.py", "line": 12}},
    {"op": "aten::mm", "args": [{"tensor": 0}, {"tensor": 5}], "results": [6], "torch": "torch.matmul", "at": {"file": "model_new.py", "line": 12}},
    {"op": "aten::empty.memory_format",
     "args": [{"list": [{"int": 64}, {"int": 64}]}, {"dtype": "float32"}, {"layout": "strided"}, {"device": "plan"}, {"bool": false}, {"memory_format": "contiguous"}],
     "results": [7], "at": {"file": "model_new.py", "line": 13}},
    {"launch": 0, "grid": [64, 1, 1], "block": [256, 1, 1], "shared_bytes": 128,
     "cluster": [2, 1, 1], "cooperative": false, "programmatic": true,
     "args": [{"tensor": 7}, {"tensor": 6}, {"int": 64}, {"float": "0x1.8p+0"}, {"bool": true},
              {"tensor_map": {"tensor": 6, "box": [64, 16], "element_strides": [1, 1], "swizzle": "128B", "interleave": "none", "l2_promotion": "none", "fill_nan": false}}],
     "at": {"file": "model_new.py", "line": 14}}
  ],
  "outputs": {"dict": {"keys": ["y", "rest"], "items": [{"tensor": 7}, {"tuple": [{"scalar": {"int": 3}}, {"list": [{"tensor": 4}]}]}]}},
  "tunables": [{"name": "BLOCK", "values": [256, 512]}]
})";

}  // namespace kagent::fakes
