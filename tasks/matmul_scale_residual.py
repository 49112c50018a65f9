# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    """
    A projection with a learned scale and a residual, averaged over the tokens of each sequence: the last
    block of a sentence encoder.
    """

    def __init__(self, features: int):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(0.5 + torch.rand(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Args:
            x: token features, shape (sequences, tokens, features).

        Returns:
            One vector per sequence, shape (sequences, features).
        """
        y = self.linear(x)
        y = y * self.scale
        y = y + x
        return y.mean(dim=1)


sequences = 32
tokens = 512
features = 512


def get_inputs():
    return [torch.randn(sequences, tokens, features)]


def get_init_inputs():
    return [features]
