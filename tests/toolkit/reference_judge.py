# SPDX-License-Identifier: Apache-2.0
"""What tests of the comparison share: an operator with its judge, inputs, and honest ways to be a little off."""
import os
import pathlib
import sys
import unittest

LIBEXEC = pathlib.Path(os.environ["KAGENT_LIBEXEC"])
sys.path.insert(0, str(LIBEXEC / "reference"))

import torch   # noqa: E402

torch.set_grad_enabled(False)

import kagent_native as native   # noqa: E402

F = torch.nn.functional


class Operator:
    """One task: what the judge expects, and candidates' answers. function: works in any precision."""

    def __init__(self, function, *operands):
        self.function = function
        self.operands = operands
        self.judge = native.Judge([list(operand.shape) for operand in operands])
        self.eager = function(*operands)
        exact = function(*(operand.double() if operand.is_floating_point() else operand for operand in operands))
        self.judge.expect(0, self.eager, exact, None)

    def verdict(self, answer, poison=None):
        return self.judge.compare(0, [answer.to(self.eager.dtype).contiguous()], poison)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, generator=generator(seed)).to(dtype)


def uniform(*shape, seed=1, dtype=torch.float32):
    return torch.rand(*shape, generator=generator(seed)).to(dtype)


def sequential_sum(x, dim=-1):
    """One accumulator, element after element."""
    total = torch.zeros_like(x.select(dim, 0))
    for i in range(x.shape[dim]):
        total = total + x.select(dim, i)
    return total


def split_sum(x, parts):
    """Partial sums that are added up in another order."""
    return sum(reversed([part.sum(-1) for part in x.chunk(parts, -1)]))


def noisy(x, ulps, seed=7):
    """Each value off by up to `ulps` units in the last place: a fast exp, a fast division."""
    return x * (1 + (uniform(*x.shape, seed=seed) * 2 - 1) * ulps * 2.0**-23)


class VerdictTest(unittest.TestCase):
    def passes(self, operator, **variants):
        for name, answer in variants.items():
            with self.subTest(honest=name):
                verdict = operator.verdict(answer)
                self.assertTrue(verdict["passed"], verdict)
                self.assertNotIn("fault", verdict)
                self.assertLessEqual(verdict["error_ratio"], 1)

    def fails(self, operator, **mutants):
        for name, answer in mutants.items():
            with self.subTest(mutant=name):
                verdict = operator.verdict(answer)
                self.assertFalse(verdict["passed"], f"error_ratio {verdict['error_ratio']}")
                self.assertGreater(verdict["error_ratio"], 1)
                self.assertEqual(verdict["fault"]["kind"], "mismatch")
                self.assertEqual(len(verdict["fault"]["index"]), operator.eager.dim())
