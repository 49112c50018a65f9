# SPDX-License-Identifier: Apache-2.0
"""The verdict by type and value: half precision, infinities, integers, complex numbers, and what it says."""
import math
import unittest

from reference_judge import Operator, VerdictTest, normal, native, F   # finds torch and the native module

import torch


class HalfPrecision(VerdictTest):
    def test_linear(self):
        for dtype in (torch.bfloat16, torch.float16):
            x, w = normal(64, 1024, dtype=dtype), normal(48, 1024, seed=2, dtype=dtype) / 32
            operator = Operator(F.linear, x, w)
            narrow = torch.zeros(64, 48, dtype=dtype)
            for i in range(0, 1024, 16):
                narrow = narrow + x[:, i:i + 16] @ w[:, i:i + 16].t()
            self.passes(operator, fp32_sums=F.linear(x.float(), w.float()),
                        split_k=sum(a.float() @ b.float().t() for a, b in zip(x.chunk(4, 1), w.chunk(4, 1))))
            self.fails(operator, narrow_sums=narrow, last_block=F.linear(x[:, :-64], w[:, :-64]),
                       zeros=torch.zeros_like(operator.eager))

    def test_fused_pointwise(self):
        x = normal(128, 256, dtype=torch.bfloat16)
        operator = Operator(lambda x: torch.sigmoid(x * 2) * x + 1, x)
        fused = torch.sigmoid(x.float() * 2) * x.float() + 1
        self.passes(operator, fused=fused)
        self.fails(operator, without_the_two=torch.sigmoid(x.float()) * x.float() + 1,
                   one_element=fused.clone().index_fill_(0, torch.tensor([5]), 0.25))


class NotFinite(VerdictTest):
    def setUp(self):
        self.x = normal(64, 32)
        self.x[5, 6] = 0
        self.operator = Operator(lambda x: torch.log(x.abs()), self.x)

    def test_infinities_of_the_reference_are_right(self):
        self.assertTrue(torch.isinf(self.operator.eager[5, 6]))
        self.passes(self.operator, itself=self.operator.eager)
        wrong = self.operator.eager.clone()
        wrong[5, 6] = -88
        self.fails(self.operator, finite=wrong)
        wrong[5, 6] = math.inf
        self.fails(self.operator, other_sign=wrong)

    def test_others_are_not(self):
        for value in (math.nan, math.inf):
            wrong = self.operator.eager.clone()
            wrong[9, 2] = value
            fault = self.operator.verdict(wrong)["fault"]
            self.assertEqual((fault["kind"], fault["index"]), ("non_finite", [9, 2]))
            self.assertIn("1 of 2048", fault["message"])

    def test_what_overflows_in_the_task_s_type_only(self):
        x = torch.tensor([1.0, 50.0, 100.0, -2.0])
        operator = Operator(torch.exp, x)
        self.passes(operator, infinite=operator.eager)
        self.fails(operator, large=torch.tensor([math.e, math.exp(50), 3e38, math.exp(-2)]))


class Integers(VerdictTest):
    def test_exact(self):
        x = normal(50, 40)
        operator = Operator(lambda x: x.argmax(1), x)
        self.passes(operator, itself=operator.eager)
        wrong = operator.eager.clone()
        wrong[3] += 1
        verdict = operator.verdict(wrong)
        self.assertEqual(verdict["fault"]["index"], [3])
        self.assertIn("tie", verdict["fault"]["hint"])

    def test_bools(self):
        x = normal(50, 40)
        operator = Operator(lambda x: x > 0, x)
        self.passes(operator, itself=operator.eager)
        self.fails(operator, inverted=~operator.eager)
        self.assertEqual(operator.verdict(~operator.eager)["fault"]["expected"], str(bool(operator.eager[0, 0])).lower())

    def test_what_an_fp64_run_decides_otherwise_passes_too(self):
        judge = native.Judge([[4]])
        judge.expect(0, torch.tensor([1, 2, 3, 4]), torch.tensor([1, 2, 3, 5]), None)
        for last, right in ((4, True), (5, True), (6, False)):
            self.assertEqual(judge.compare(0, [torch.tensor([1, 2, 3, last])])["passed"], right)


class Complex(VerdictTest):
    def test_parts(self):
        x = torch.complex(normal(16, 64), normal(16, 64, seed=2))
        judge = native.Judge([[16, 64]])
        judge.expect(0, torch.fft.fft(x), torch.fft.fft(x.to(torch.complex128)), None)
        right = torch.fft.fft(x.to(torch.complex128)).to(torch.complex64)
        self.assertTrue(judge.compare(0, [right])["passed"])
        right[2, 3] = right[2, 3].conj()
        fault = judge.compare(0, [right])["fault"]
        self.assertEqual(fault["index"], [2, 3])
        self.assertTrue(fault["got"].startswith("("))


class Messages(VerdictTest):
    def setUp(self):
        self.x = normal(24, 96)
        self.operator = Operator(lambda x: x * 2, self.x)
        self.right = self.operator.eager

    def message(self, change, **keywords):
        wrong = self.right.clone()
        change(wrong)
        fault = self.operator.verdict(wrong, **keywords)["fault"]
        return fault["message"] + "; hint: " + fault["hint"]

    def test_where(self):
        def tail(y): y[:, -37:] = 0
        def every(y): y[:, 31::32] += 1
        def flat_tail(y): y.view(-1)[-150:] = -1
        def row(y): y[7] = y[7].flip(0)
        self.assertIn("in the last 37 of dimension 1", self.message(tail))
        self.assertIn("every wrong value is 0", self.message(tail))
        self.assertIn("check the bounds", self.message(tail))
        self.assertIn("at every 32nd index of dimension 1, from 31", self.message(every))
        self.assertIn("every wrong value is off by 1", self.message(every))
        self.assertIn("the last 150 in row-major order", self.message(flat_tail))
        self.assertIn("at index 7 of dimension 0", self.message(row))

    def test_what(self):
        def scaled(y): y[:, :10] *= 1.5
        def shifted(y): y[5] = self.right[5].roll(-1)
        def poisoned(y): y[20:].view(torch.uint8).fill_(0x4b)
        def nan_poisoned(y): y[20:].view(torch.uint8).fill_(0xff)
        self.assertIn("every wrong value is 1.5 times the expected one", self.message(scaled))
        self.assertIn("nearly every wrong value is the expected one 1 element further", self.message(shifted))
        self.assertIn("never written", self.message(poisoned))
        self.assertIn("never written", self.message(nan_poisoned, poison=0xff))

    def test_spread_errors_name_the_budget(self):
        message = self.message(lambda y: y.mul_(1.000008))
        self.assertIn("imprecise everywhere", message)
        self.assertIn("wrong constant", message)

    def test_values_have_all_their_digits(self):
        wrong = self.right.clone()
        wrong[3, 4] = 1234.5678
        fault = self.operator.verdict(wrong)["fault"]
        self.assertEqual(torch.tensor(float(fault["got"])), torch.tensor(1234.5678))
        self.assertAlmostEqual(float(fault["expected"]), float(self.right[3, 4]), places=6)
        self.assertIn("[3, 4]: expected ", fault["detail"])


class Fallback(VerdictTest):
    """Without an fp64 run: another honest run tells how much noise there is."""

    def test_perturbed(self):
        x = normal(64, 1000)
        judge = native.Judge([[64, 1000]])
        judge.expect(0, torch.softmax(x, 1), None, torch.softmax(x * (1 + 2.0**-23), 1))
        self.assertTrue(judge.compare(0, [torch.softmax(x.double(), 1).float()])["passed"])
        self.assertFalse(judge.compare(0, [torch.softmax(x, 1) * 1.0001])["passed"])

    def test_errors(self):
        judge = native.Judge([])
        with self.assertRaises(native.Error):
            judge.compare(3, [torch.zeros(1)])
        judge.expect(0, torch.zeros(2), None, None)
        with self.assertRaises(native.Error):
            judge.compare(0, [])

if __name__ == "__main__":
    unittest.main()
