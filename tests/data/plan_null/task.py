# SPDX-License-Identifier: Apache-2.0
# The same operator as a plan and as eager: any difference in time is the clock's (issue 2, "Shows").
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(8192, 4096)]


def get_init_inputs():
    return []
