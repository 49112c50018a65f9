# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn

token_mean = kagent.kernel("kernels/token_mean.cu", "token_mean")


class ModelNew(nn.Module):
    """
    mean(scale * (x W' + b) + x) over the tokens is (mean x) (scale * W + 1)' + scale * b: everything after the
    mean is linear, so the product runs once per sequence instead of once per token, and scale and residual
    are part of its weights.
    """

    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(0.5 + torch.rand(features))

    def prepare(self):
        weight = self.linear.weight * self.scale.view(-1, 1)
        identity = torch.eye(weight.shape[0], dtype=weight.dtype, device=weight.device)
        return {
            "weight": (weight + identity).t().contiguous(),
            "bias": self.linear.bias * self.scale,
        }

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sequences, tokens, features = x.shape
        assert tokens % 256 == 0 and features % 32 == 0, "the kernel takes whole tiles"
        mean = torch.empty((sequences, features), dtype=x.dtype, device=x.device)
        token_mean[(features // 32, sequences), 256](mean, x, tokens, features)
        return torch.addmm(self.prepared["bias"], mean, self.prepared["weight"])
