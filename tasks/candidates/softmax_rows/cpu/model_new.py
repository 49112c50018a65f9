# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

softmax_rows = kagent.kernel("kernels/softmax_rows.cpp", "softmax_rows", options=["-O3", "-march=native"])


class ModelNew(nn.Module):
    def __init__(self, sharpness: float):
        super().__init__()
        self.sharpness = sharpness

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        assert columns % 64 == 0, "the kernel takes rows of whole vectors"
        y = torch.empty_like(x)
        softmax_rows[rows, 1](y, x, columns, self.sharpness)
        return y
