# SPDX-License-Identifier: Apache-2.0
"""What model_new.py writes kernels' launches with. docs/candidates.md says how.

While kagent records a candidate, a launch becomes a step of the plan. Imported in ordinary Python, the same calls
build the kernels with kagent-builder and really launch them.
"""
from kagent.device_facts import device
from kagent.launch import Kernel, LaunchError, TensorMap, kernel, tensor_map
from kagent.tuning import cdiv, prepare, tune

__all__ = ["Kernel", "LaunchError", "TensorMap", "cdiv", "device", "kernel", "prepare", "tensor_map", "tune"]
