# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

THREADS = 512
VECTORS = 8  # float4 each thread keeps
softmax_rows = kagent.kernel("kernels/softmax_rows.cu", f"softmax_rows<{THREADS}, {VECTORS}>")


class ModelNew(nn.Module):
    def __init__(self, sharpness: float):
        super().__init__()
        self.sharpness = sharpness

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        assert columns == 4 * THREADS * VECTORS, "the kernel is written for 16384 columns"
        y = torch.empty_like(x)
        softmax_rows[rows, THREADS](y, x, self.sharpness)
        return y
