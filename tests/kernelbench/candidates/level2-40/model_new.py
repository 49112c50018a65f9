# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

bias_scale = kagent.kernel("kernels/bias_scale.cu", "bias_scale")


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        y = torch.mm(x, self.matmul.weight.t())
        rows, columns = y.shape
        vectors = columns // 4
        blocks = kagent.cdiv(vectors, 256)
        bias_scale[(blocks, rows), 256](y, self.matmul.bias, vectors, 1.0 + self.scaling_factor)
        return y
