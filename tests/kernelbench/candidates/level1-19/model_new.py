# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

relu_rows = kagent.kernel("kernels/relu.cu", "relu_rows")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        vectors = x.numel() // 4
        blocks = kagent.cdiv(vectors, 1024)
        relu_rows[blocks, 256](y, x, vectors)
        return y
