# SPDX-License-Identifier: Apache-2.0
import kagent
import torch
import torch.nn as nn
import torch.nn.functional as F

bias_silu = kagent.kernel("kernels/bias_silu.cpp", "bias_silu", options=["-O3", "-march=native"])


class ModelNew(nn.Module):
    """
    With fixed statistics BatchNorm is a factor and a shift per channel, and a 1x1 convolution is a 3x3 one
    whose outer weights are zero: both branches fold into one convolution and one bias.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.wide = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.wide_norm = nn.BatchNorm2d(channels)
        self.narrow = nn.Conv2d(channels, channels, kernel_size=1, bias=False)
        self.narrow_norm = nn.BatchNorm2d(channels)

    def prepare(self):
        wide, narrow = self.wide_norm, self.narrow_norm
        wide_factor = wide.weight / torch.sqrt(wide.running_var + wide.eps)
        narrow_factor = narrow.weight / torch.sqrt(narrow.running_var + narrow.eps)
        centre = F.pad(self.narrow.weight * narrow_factor.view(-1, 1, 1, 1), (1, 1, 1, 1))
        return {
            "weight": self.wide.weight * wide_factor.view(-1, 1, 1, 1) + centre,
            "bias": (wide.bias - wide.running_mean * wide_factor)
            + (narrow.bias - narrow.running_mean * narrow_factor),
        }

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.conv2d(x, self.prepared["weight"], padding=1)
        batch, channels, height, width = y.shape
        assert height * width % 16 == 0, "the kernel takes planes of whole vectors"
        bias_silu[batch * channels, 1](y, self.prepared["bias"], channels, height * width)
        return y
