# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Convolution, BatchNorm and SiLU with a second, 1x1 branch beside the 3x3 one, as such blocks are trained.
    The running statistics are set to what training could have left behind: with their defaults BatchNorm
    would do next to nothing in eval mode.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.wide = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.wide_norm = nn.BatchNorm2d(channels)
        self.narrow = nn.Conv2d(channels, channels, kernel_size=1, bias=False)
        self.narrow_norm = nn.BatchNorm2d(channels)
        for norm in (self.wide_norm, self.narrow_norm):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.uniform_(norm.bias, -0.5, 0.5)
            nn.init.uniform_(norm.running_mean, -0.2, 0.2)
            nn.init.uniform_(norm.running_var, 0.1, 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Args:
            x: images, shape (batch, channels, height, width).

        Returns:
            Activations of the same shape.
        """
        y = self.wide_norm(self.wide(x)) + self.narrow_norm(self.narrow(x))
        return y * torch.sigmoid(y)


batch = 16
channels = 32
height = 112
width = 112


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
