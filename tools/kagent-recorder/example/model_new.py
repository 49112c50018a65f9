# SPDX-License-Identifier: Apache-2.0
# Recorded once when the recorder starts: it touches what candidates usually touch. Not an example to learn from.
import torch
import torch.nn.functional as F
import kagent

k = kagent.kernel("kernels/example.cu", "example")


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(4, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.line = torch.nn.Linear(4, 4)

    def prepare(self):
        scale = self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)
        return {"w": self.conv.weight * scale.view(-1, 1, 1, 1), "b": self.norm.bias - self.norm.running_mean * scale}

    def forward(self, x):
        y = F.conv2d(x, self.prepared["w"]).contiguous()
        out = torch.empty_like(y)
        k[1, 1](out, y, 2, 0.5, True)
        z = self.line(out.permute(0, 2, 3, 1)).reshape(-1, 4)
        z = torch.cat([z, torch.zeros(1, 4, device=x.device)]) + torch.tensor([1., 2., 3., 4.], device=x.device)
        p, q = (z @ z.t()).to(torch.float16).float().split(z.shape[0] // 2 + 1, 1)
        return torch.relu(p).sum(0), torch.softmax(q[:, None, :1], 0), z.mean(-1, keepdim=True).transpose(0, 1)
