# SPDX-License-Identifier: Apache-2.0
"""Operators on int16 as TensorFlow Lite's reference kernels define them, in integers of any size.

Inputs are the integers of the file. Multipliers are made in the precision that each kernel uses: single where scales are
multiplied as float, double elsewhere.
"""
import math

import numpy as np

from formulas import FORMULAS

LOW, HIGH = -2**15, 2**15 - 1


def multiplier_of(real):
    """QuantizeMultiplier."""
    fraction, shift = math.frexp(real)
    units = math.floor(fraction * 2**31 + 0.5)
    return (units // 2, shift + 1) if units == 2**31 else (units, shift)


def q31(x, multiplier, shift):
    """SaturatingRoundingDoublingHighMul of x * 2^left, then RoundingDivideByPOT by 2^right."""
    product = (x << max(shift, 0)) * multiplier
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    high = abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)
    right = max(-shift, 0)
    rest, threshold = high & (2**right - 1), ((2**right - 1) >> 1) + (high < 0)
    return (high >> right) + (rest > threshold)


def q15(x, multiplier, shift):
    """MultiplyByQuantizedMultiplier of int64."""
    reduced = (multiplier + 2**15) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    return (x * reduced + 2**(14 - shift)) >> (15 - shift)


def scaled(values, real, rounding=q31):
    multiplier, shift = multiplier_of(float(real))
    flat = [rounding(int(v), multiplier, shift) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def bounded(values, act=0, scale=1.0, low=LOW, high=HIGH):
    """The fused activation's bounds, rounded away from zero in float."""
    def edge(number):
        quotient = np.float32(number) / np.float32(scale)
        return int(math.copysign(math.floor(abs(float(quotient)) + 0.5), quotient))
    low = max(low, {1: 0, 3: 0, 2: edge(-1)}.get(act, low))
    high = min(high, {2: edge(1), 3: edge(6)}.get(act, high))
    return np.clip(values.astype("i8"), low, high)


def add(x, y, scales, act=0, sign=1):
    first, second, out = (np.float64(np.float32(s)) for s in scales)
    most = 2 * max(first, second)
    total = scaled(x.astype("i8") << 15, first / most) + sign * scaled(y.astype("i8") << 15, second / most)
    return bounded(scaled(total, most / (2**15 * out)), act, out).astype("i2")


def mul(x, y, scales, act=0):
    first, second, out = (np.float32(s) for s in scales)
    return bounded(scaled(x.astype("i8") * y.astype("i8"), first * second / out), act, out).astype("i2")


def leaky_relu(x, alpha, scale, out):
    scale, alpha, out = np.float32(scale), np.float32(alpha), np.float32(out)
    return bounded(np.where(x >= 0, scaled(x, scale / out), scaled(x, scale * alpha / out))).astype("i2")


def requantize(x, scale, out, zero=0, out_zero=0, dtype="int16"):
    info = np.iinfo(dtype)
    y = scaled(x.astype("i8") - zero, np.float64(np.float32(scale)) / np.float64(np.float32(out))) + out_zero
    return bounded(y, low=info.min, high=info.max).astype(dtype)


def product(op, ins, options, x_scale, w_scales, out, is_single=False):
    """`ins` as the operator has them, integers; sums are exact in doubles. `is_single`: the factor is made in float."""
    sums = FORMULAS[op]([None if v is None else np.asarray(v) for v in ins], {**options, "act": 0})
    sums = np.rint(sums).astype("i8")
    bias = ins[-1]
    rounding = q31 if bias is not None and bias.dtype == np.int32 else q15
    x_scale, out, w_scales = np.float32(x_scale), np.float32(out), np.float32(np.atleast_1d(w_scales))
    y = np.empty(sums.shape, dtype=object)
    for o in range(sums.shape[-1]):
        w_scale = w_scales[o if len(w_scales) > 1 else 0]
        factor = np.float64(x_scale * w_scale) if is_single else np.float64(x_scale) * np.float64(w_scale)
        y[..., o] = scaled(sums[..., o], factor / np.float64(out), rounding)
    return bounded(y, options.get("act", 0), out).astype("i2")
