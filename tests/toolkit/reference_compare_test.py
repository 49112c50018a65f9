# SPDX-License-Identifier: Apache-2.0
"""The verdict on numbers: honest ways to compute an operator pass, mutants fail (docs/verdict.md)."""
import math
import unittest

from reference_judge import Operator, VerdictTest, generator, noisy, normal, sequential_sum, split_sum, uniform, F   # finds torch and the native module

import torch


class Softmax(VerdictTest):
    def setUp(self):
        self.x = normal(64, 8192)
        self.operator = Operator(lambda x: torch.softmax(x, -1), self.x)
        self.top = self.x.amax(-1, keepdim=True)
        self.powers = torch.exp(self.x - self.top)

    def over(self, total):
        return self.powers / total.unsqueeze(-1)

    def test_honest(self):
        order = torch.randperm(8192, generator=generator(3))
        base_two = torch.exp2((self.x - self.top) * 1.4426950408889634)
        unshifted = torch.exp(self.x)
        fast = noisy(self.powers, 4)
        self.passes(self.operator, one_accumulator=self.over(sequential_sum(self.powers)),
                    other_order=self.over(split_sum(self.powers[:, order], 256)),
                    split=self.over(split_sum(self.powers, 32)),
                    base_two=base_two / base_two.sum(-1, keepdim=True),
                    without_the_maximum=unshifted / unshifted.sum(-1, keepdim=True),
                    fast_exp=fast / fast.sum(-1, keepdim=True),
                    reciprocal=self.powers * (1 / self.powers.sum(-1, keepdim=True)),
                    double=torch.softmax(self.x.double(), -1))

    def test_mutants(self):
        right = self.operator.eager
        one_off = right.clone()
        one_off[17, 4000] *= 1.01
        swapped = right.clone()
        swapped[[3, 4]] = right[[4, 3]]
        self.fails(self.operator, constant=torch.full_like(right, 1 / 8192), zeros=torch.zeros_like(right),
                   last_block_left_out_of_the_sum=self.over(self.powers[:, :-128].sum(-1)),
                   last_element_left_out_of_the_sum=self.over(self.powers[:, :-1].sum(-1)),
                   last_block_dropped=F.pad(right[:, :-128], (0, 128)), one_element=one_off, rows_swapped=swapped,
                   off_by_one=right.roll(1, -1), bfloat16=torch.softmax(self.x.bfloat16(), -1),
                   rounded_to_bfloat16=right.bfloat16(), rounded_to_half=right.half(),
                   temperature=torch.softmax(self.x * 1.0001, -1), another_input=torch.softmax(normal(64, 8192, seed=9), -1),
                   unnormalised=self.powers)


class PeakedSoftmax(VerdictTest):
    """Rows of very different scale: a plain tolerance would judge only the large ones."""

    def test_small_rows_count(self):
        x = normal(32, 512) * torch.logspace(0, 1.5, 32).unsqueeze(1)
        operator = Operator(lambda x: torch.softmax(x, -1) * torch.logspace(-6, 0, 32, dtype=x.dtype).unsqueeze(1), x)
        wrong = operator.eager.clone()
        wrong[0] = wrong[0].mean()
        self.fails(operator, smallest_row=wrong)
        self.passes(operator, itself=operator.eager)


class LayerNorm(VerdictTest):
    def answer(self, mean, variance, eps=1e-5, bias=True):
        y = (self.x - mean) * torch.rsqrt(variance + eps) * self.weight
        return y + self.bias if bias else y

    def check(self, x):
        self.x, self.weight, self.bias = x, uniform(x.shape[-1], seed=4) + 0.5, normal(x.shape[-1], seed=5)
        n = x.shape[-1]
        operator = Operator(lambda x, w, b: F.layer_norm(x, (n,), w, b, 1e-5), x, self.weight, self.bias)
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        serial_mean = (sequential_sum(x) / n).unsqueeze(-1)
        one_pass = (x.square().mean(-1, keepdim=True) - mean.square())
        self.passes(operator, two_passes=self.answer(mean, variance), one_pass=self.answer(mean, one_pass),
                    one_accumulator=self.answer(
                        serial_mean, (sequential_sum((x - serial_mean).square()) / n).unsqueeze(-1)),
                    welford=self.answer(*self.welford()))
        unbiased = variance * n / (n - 1)
        right = operator.eager
        gap = right.clone()
        gap[:, 31::32] = 0
        self.fails(operator, epsilon=self.answer(mean, variance, 1e-6), no_epsilon=self.answer(mean, variance, 0),
                   unbiased=self.answer(mean, unbiased), no_bias=self.answer(mean, variance, bias=False),
                   no_mean=self.answer(0, variance), stale_warp=gap, last_row=F.pad(right[:-1], (0, 0, 0, 1)),
                   short_mean=self.answer(x[:, :-1].sum(-1, keepdim=True) / n, variance))

    def welford(self):
        mean = torch.zeros(self.x.shape[0], 1)
        squares = torch.zeros_like(mean)
        for i in range(self.x.shape[1]):
            value = self.x[:, i:i + 1]
            delta = value - mean
            mean = mean + delta / (i + 1)
            squares = squares + delta * (value - mean)
        return mean, squares / self.x.shape[1]

    def test_normal(self):
        self.check(normal(128, 768))

    def test_uniform(self):
        self.check(uniform(128, 1024))


class Linear(VerdictTest):
    def setUp(self):
        self.x, self.w, self.b = normal(96, 2048), normal(64, 2048, seed=2) / 45, normal(64, seed=3)
        self.operator = Operator(F.linear, self.x, self.w, self.b)

    def product(self, x, w, steps=1):
        total = torch.zeros(x.shape[0], w.shape[0])
        for part_x, part_w in zip(x.chunk(steps, 1), w.chunk(steps, 1)):
            total = total + part_x @ part_w.t()
        return total + self.b

    def test_honest(self):
        order = torch.randperm(2048, generator=generator(6))
        self.passes(self.operator, split_k=self.product(self.x, self.w, 8), one_by_one=self.product(self.x, self.w, 2048),
                    other_order=self.product(self.x[:, order], self.w[:, order], 64),
                    double=F.linear(self.x.double(), self.w.double(), self.b.double()))

    def test_mutants(self):
        def tf32(t):
            return ((t.view(torch.int32) + 0x1000) & ~0x1fff).view(torch.float32)
        right = self.operator.eager
        race = right.clone()
        race[40, 7] = (self.x[40, :1984] * self.w[7, :1984]).sum() + self.b[7]
        self.fails(self.operator, last_block_of_k=self.product(self.x[:, :-16], self.w[:, :-16]),
                   last_of_k=self.product(self.x[:, :-1], self.w[:, :-1]), no_bias=right - self.b,
                   tf32=self.product(tf32(self.x), tf32(self.w)),
                   bfloat16=self.product(self.x.bfloat16().float(), self.w.bfloat16().float()),
                   transposed_tile=torch.cat([right[:64, :64].t(), right[64:]]), one_lost_partial_sum=race,
                   scale=right * 1.00002)


class BatchNormEpsilon(VerdictTest):
    """The smallest systematic error that must show: epsilon 1e-5 against 1e-6 at unit variance is 4.5e-6."""

    def test_epsilon(self):
        x, w = normal(4, 8, 24, 24), normal(16, 8, 3, 3, seed=2) / 8.5
        mean, variance = normal(16, seed=3) * 0.1, torch.ones(16)

        def block(x, w, eps=1e-5):
            y = F.conv2d(x, w)
            return F.batch_norm(y, mean.to(x.dtype), variance.to(x.dtype), None, None, False, 0.1, eps)
        operator = Operator(block, x, w)
        scale = torch.rsqrt(variance + 1e-5)
        folded = F.conv2d(x, w * scale.view(-1, 1, 1, 1), -mean * scale)
        self.passes(operator, folded=folded, channels_last=block(x.to(memory_format=torch.channels_last), w))
        self.fails(operator, epsilon=block(x, w, 1e-6), no_mean=F.conv2d(x, w * scale.view(-1, 1, 1, 1)))


class Reductions(VerdictTest):
    def test_a_single_number(self):
        x = uniform(1 << 20)
        operator = Operator(lambda x: (x * x).mean(), x)
        partial = (x * x).view(-1, 1024).sum(-1)
        shuffled = partial[torch.randperm(1024, generator=generator(8))]
        self.passes(operator, atomics=sequential_sum(shuffled, 0) / (1 << 20),
                    one_accumulator=torch.cumsum(x * x, 0)[-1] / (1 << 20), double=(x.double() * x.double()).mean())
        self.fails(operator, closed_form=torch.tensor(1 / 3 + 1e-3), last_block=partial[:-1].sum() / (1 << 20),
                   square_of_the_mean=x.mean() ** 2, zero=torch.zeros(()))

    def test_long_rows(self):
        x = uniform(16, 65535)
        operator = Operator(lambda x: x / x.abs().mean(1, keepdim=True), x)
        self.passes(operator, one_accumulator=x / (sequential_sum(x).unsqueeze(1) / 65535))
        self.fails(operator, wrong_count=x / (x.abs().sum(1, keepdim=True) / 65536 * 1.0001),
                   dropped=x / (x[:, :65280].sum(1, keepdim=True) / 65535))

    def test_cumulative_sums(self):
        x = uniform(32, 4096)
        operator = Operator(lambda x: torch.cumsum(x, 1), x)
        blocks = x.view(32, 64, 64).cumsum(-1)
        offsets = F.pad(blocks[..., -1].cumsum(-1), (1, 0))[:, :-1].unsqueeze(-1)
        self.passes(operator, two_levels=(blocks + offsets).view(32, 4096))
        self.fails(operator, exclusive=F.pad(operator.eager, (1, 0))[:, :-1],
                   lost_carry=torch.cat([(blocks + offsets).view(32, 4096)[:, :-64], blocks[:, -1]], 1))


class Elementwise(VerdictTest):
    def test_exact_operators_stay_exact_enough(self):
        x = normal(1000, 333)
        operator = Operator(torch.relu, x)
        self.passes(operator, itself=operator.eager)
        self.fails(operator, identity=x, leaky=F.leaky_relu(x, 1e-4), dropped=F.pad(operator.eager[:, :-77], (0, 77)))

    def test_activations(self):
        x = normal(512, 512) * 3
        cases = {"gelu": (F.gelu, F.gelu(x, approximate="tanh")),
                 "tanh": (torch.tanh, x.clamp(-1, 1)),
                 "sigmoid": (torch.sigmoid, F.hardsigmoid(x)),
                 "mish": (F.mish, x * torch.sigmoid(x))}
        honest = {"gelu": x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
                  "tanh": 1 - 2 / (torch.exp(2 * x) + 1),
                  "sigmoid": 1 / (1 + noisy(torch.exp(-x), 4)),
                  "mish": x * torch.tanh(torch.log(1 + torch.exp(x)))}
        for name, (function, mutant) in cases.items():
            operator = Operator(function, x)
            self.passes(operator, **{name: honest[name]})
            self.fails(operator, **{name: mutant})

if __name__ == "__main__":
    unittest.main()
