# SPDX-License-Identifier: Apache-2.0
"""Operators on int8 and uint8 as TensorFlow Lite's reference kernels define them, in integers of any size.

An operand is a Quant of cases_test.py: the integers of the file, a scale and a zero point. `out` is a Grid: the output's.
"""
import decimal
import math

import numpy as np

from fixed_point import (EXACT, exact, gelu_of, gelu_tanh_of, multiplier_of, nearest, q15, q31, quotient, reciprocal, resize_bilinear, rounded,
                         scaled)
from formulas import FORMULAS, windows


def units(x):
    """The integers without the zero point."""
    return x.values.astype("i8") - x.zero


def single(x):
    return np.float32(x.scale)


def double(x):
    return np.float64(np.float32(x.scale))


def fit(y, out, act=0):
    """The integers of the output, in the bounds of its type and of an activation, which are rounded in float, away from zero."""
    def edge(number):
        return out.zero + int(math.copysign(math.floor(abs(float(np.float32(number) / single(out))) + 0.5), number))
    info = np.iinfo(out.dtype)
    low = max(info.min, {1: edge(0), 2: edge(-1), 3: edge(0), "0 to 1": edge(0)}.get(act, info.min))
    high = min(info.max, {2: edge(1), 3: edge(6), "0 to 1": edge(1)}.get(act, info.max))
    return np.clip(np.asarray(y).astype("i8") + out.zero, low, high).astype(out.dtype)


def add(x, y, out, act=0, sign=1):
    most = 2 * max(double(x), double(y))
    total = scaled(units(x) << 20, double(x) / most) + sign * scaled(units(y) << 20, double(y) / most)
    return fit(scaled(total, most / (2**20 * double(out))), out, act)


def mul(x, y, out, act=0):
    return fit(scaled(units(x) * units(y), single(x) * single(y) / single(out)), out, act)


def leaky_relu(x, alpha, out):
    up, down = single(x) / single(out), single(x) * np.float32(alpha) / single(out)
    return fit(np.where(units(x) >= 0, scaled(units(x), up), scaled(units(x), down)), out)


def relu(x, out, act):
    return fit(scaled(units(x), single(x) / single(out)), out, act)


def absolute(x, out):
    size = np.abs(units(x))
    return fit(size if single(x) == single(out) else scaled(size, single(x) / single(out)), out)


def prelu(x, slopes, out):
    up, down = single(x) / single(out), single(x) * single(slopes) / single(out)
    a, b = np.broadcast_arrays(units(x), units(slopes))
    return fit(np.where(a >= 0, scaled(a, up), scaled(a * b, down)), out)


def squared_difference(x, y, out):
    unit = 2 * max(double(x), double(y))
    difference = scaled(units(x) << 7, double(x) / unit) - scaled(units(y) << 7, double(y) / unit)
    return fit(scaled(difference * difference, unit * unit / (2**14 * double(out))), out)


COMPARE = {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal, "GREATER": np.greater,
           "GREATER_EQUAL": np.greater_equal}


def compare(op, x, y):
    """ComparisonWithScaling: both in units of 2^-8."""
    return COMPARE[op](scaled(units(x) << 8, single(x)).astype("i8"), scaled(units(y) << 8, single(y)).astype("i8"))


def requantize(x, out):
    return fit(scaled(units(x), double(x) / double(out)), out)


def quantize(x, out):
    """AffineQuantize: ties go away from zero."""
    quotients = (x / single(out)).astype("f8")
    return fit(np.copysign(np.floor(np.abs(quotients) + 0.5), quotients), out)


def product(op, ins, options, out, x, w):
    """A product of operands `x` and `w` of `ins`, whose sums are exact in doubles."""
    numbers = [None if v is None else v if isinstance(v, np.ndarray) else units(v) for v in ins]
    sums = np.rint(FORMULAS[op](numbers, {**options, "act": 0})).astype("i8")
    is_float = out.dtype == "uint8" or (op == "FULLY_CONNECTED" and np.ndim(w.scale) == 0)
    scales = np.float32(np.atleast_1d(w.scale))
    y = np.empty(sums.shape, dtype=object)
    for o in range(sums.shape[-1]):
        scale = scales[o if len(scales) > 1 else 0]
        factor = np.float64(single(x) * scale) if is_float else double(x) * np.float64(scale)
        y[..., o] = scaled(sums[..., o], factor / double(out))
    return fit(y, out, options.get("act", 0))


def matmul(x, y, options, out):
    a = np.swapaxes(units(x), -1, -2) if options["adj_x"] else units(x)
    b = np.swapaxes(units(y), -1, -2) if options["adj_y"] else units(y)
    return fit(scaled(np.matmul(a, b), float(single(x) * single(y)) / double(out)), out)


def average_pool(x, options, out):
    """Of the integers with their zero point, which is that of the output."""
    taps = windows(x.values.astype("f8"), x.values.shape[1], x.values.shape[2], options, (options["filter_h"], options["filter_w"]), np.nan)
    total, count = np.nansum(taps, axis=3).astype("i8"), (~np.isnan(taps)).sum(axis=3)
    return fit(np.sign(total) * ((abs(total) + count // 2) // count) - out.zero, out, options["act"])


def reduction(x, axes, keep, out, is_mean):
    """QuantizedMeanOrSum."""
    axes = tuple({axis % x.values.ndim for axis in axes})
    taps = math.prod(x.values.shape[axis] for axis in axes)
    total = x.values.astype("i8").sum(axis=axes, keepdims=bool(keep)) - x.zero * taps
    multiplier, shift = multiplier_of(double(x) / double(out))
    if is_mean:
        more = min(taps.bit_length() - 1, 32, 31 + shift)
        multiplier, shift = (multiplier << more) // taps, shift - more
    return fit(np.array([q31(int(v), multiplier, shift) for v in np.ravel(total)], dtype=object).reshape(np.shape(total)), out)


def product_along(x, axis, out):
    """QuantizedReduceProd along one axis."""
    rows = np.moveaxis(units(x), axis, -1)
    multiplier, shift = multiplier_of(double(x) / double(out) ** (1.0 / rows.shape[-1]))
    results = []
    for row in rows.reshape(-1, rows.shape[-1]).tolist():
        total = row[0]
        for v in row[1:]:
            total = q15(total * v, multiplier, shift)
        results.append(q15(total, multiplier, shift))
    return fit(np.array(results, dtype=object).reshape(rows.shape[:-1]), out)


def divide(x, y, out, act=0):
    """Quotients are computed for int16, whose bounds none of them meets."""
    exact = quotient(units(x).astype("i2"), units(y).astype("i2"), (x.scale, y.scale, out.scale))
    assert np.abs(exact.astype("i8")).max() < 2**15 - 1
    return fit(exact.astype("i8"), out, act)


def resize(x, size, options, out):
    return fit(resize_bilinear(x.values.astype("i2"), size, options).astype("i8") - out.zero, out)


# ---- Tables ----

def look_up(x, out, function):
    """LUTPopulate for 8 bits: `function` is of a float."""
    unit = np.float32(1) / single(out)

    def result(value):
        y = function(single(x) * np.float32(value)) * unit
        return math.copysign(math.floor(abs(float(y)) + 0.5), y) if np.isfinite(y) else y
    info = np.iinfo(x.values.dtype)
    table = {value: min(max(result(value - x.zero) + out.zero, np.iinfo(out.dtype).min), np.iinfo(out.dtype).max)
             for value in range(info.min, info.max + 1)}
    return np.array([int(table[v]) for v in np.ravel(x.values).tolist()]).reshape(x.values.shape).astype(out.dtype)


def logistic_of(x):
    return np.float32(1) / (np.float32(1) + exp_of(-x))


def exp_of(x):
    return rounded(EXACT.exp(exact(x)))


def tanh_of(x):
    twice = EXACT.exp(2 * exact(x))
    return rounded(EXACT.divide(twice - 1, twice + 1))


def elu_of(x):
    return x if x >= 0 else rounded(EXACT.exp(exact(x)) - 1)


def gelu(is_tanh):
    return lambda x: (gelu_tanh_of if is_tanh else gelu_of)(x, None)


def log_of(out):
    least = np.float32(np.iinfo(out.dtype).min - out.zero) * single(out)
    return lambda x: rounded(EXACT.ln(exact(x))) if x > 0 else least


def sqrt(x, out):
    """SqrtEvalQuantized: toward zero; negative numbers, which it refuses, are 0 here."""
    roots = np.sqrt(single(x) * np.maximum(units(x), 0).astype("f4")) / single(out)
    return fit(np.trunc(roots), out)


# ---- HARD_SWISH ----

def doubling_high(a, b, bits, is_rounded=True):
    """SaturatingRoundingDoublingHighMul of integers of so many bits, and the same without rounding."""
    nudge = 2 ** (bits - 2) if a * b >= 0 else 1 - 2 ** (bits - 2)
    product = a * b + (nudge if is_rounded else 0)
    return min(int(math.copysign(abs(product) // 2 ** (bits - 1), product)), 2 ** (bits - 1) - 1)


def by_power(x, exponent):
    """RoundingDivideByPOT."""
    rest, threshold = x & (2**exponent - 1), ((2**exponent - 1) >> 1) + (x < 0)
    return (x >> exponent) + (rest > threshold)


def short_multiplier(real):
    multiplier, shift = multiplier_of(float(real))
    return (2**15 - 1 if multiplier >= 2**31 - 1 - 2**15 else (multiplier + 2**15) >> 16), shift


def hard_swish(x, out):
    def bound(v):
        return min(max(v, -2**15), 2**15 - 1)
    fine = np.float32(1 / 128) * single(x)
    multiplier, shift = short_multiplier(fine / single(out))
    ramp_multiplier, ramp_shift = short_multiplier(fine / (np.float32(3) / np.float32(32768)))
    results = []
    for v in np.ravel(units(x)).tolist():
        ramp = v * 128
        if ramp_shift > 0:
            ramp = bound(ramp << (ramp_shift - 1))
        ramp = doubling_high(ramp, ramp_multiplier, 16)
        ramp = bound(ramp << 1) if ramp_shift > 0 else by_power(ramp, -ramp_shift)
        ramp = (ramp + 2**15) >> 1
        results.append(by_power(doubling_high(ramp, doubling_high(v * 128, multiplier, 16), 16, False), -shift))
    return fit(np.array(results).reshape(x.values.shape), out)


# ---- SOFTMAX ----

def exp_on_negative_values(a):
    """Of a number in units of 2^-26, in units of 2^-31."""
    def times(p, q):
        return doubling_high(p, q, 32)
    if a == 0:
        return 2**31 - 1
    within = (a & (2**24 - 1)) - 2**24
    x = (within << 5) + 2**28
    x2 = times(x, x)
    series = by_power(times(by_power(times(x2, x2), 2) + times(x2, x), 715827883) + x2, 1)
    result = 1895147668 + times(1895147668, x + series)
    for exponent in range(-2, 5):
        if (within - a) & (1 << (26 + exponent)):
            result = times(result, nearest(EXACT.exp(-(decimal.Decimal(2) ** exponent)) * 2**31))
    return result


def softmax(x, beta, out):
    multiplier, shift = multiplier_of(min(float(np.float32(beta)) * float(single(x)) * 2**26, 2.0**31 - 1))
    least = -math.floor(31 * 2**26 / 2**shift)
    rows = []
    for row in x.values.reshape(-1, x.values.shape[-1]).tolist():
        below = [v - max(row) for v in row]
        exps = [exp_on_negative_values(doubling_high(d << shift, multiplier, 32)) if d >= least else None for d in below]
        total = sum(by_power(e, 12) for e in exps if e is not None)
        inverse, above = reciprocal(total)
        exponent = above - 19 + 31 - 8  # of a number with 12 bits before the point, not 31
        rows.append([0 if e is None else by_power(doubling_high(inverse, e, 32), exponent) for e in exps])
    return fit(np.array(rows).reshape(x.values.shape), out)
