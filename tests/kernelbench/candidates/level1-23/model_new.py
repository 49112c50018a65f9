# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

softmax_rows = kagent.kernel("kernels/softmax.cu", "softmax_rows")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        assert columns % 4 == 0 and columns >= 4096, "the kernel takes long rows of whole float4"
        y = torch.empty_like(x)
        softmax_rows[rows, 1024](y, x, columns // 4)
        return y
