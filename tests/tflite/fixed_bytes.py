# SPDX-License-Identifier: Apache-2.0
"""Operators on int8 and uint8 as TensorFlow Lite's reference kernels define them, in integers of any size.

An operand is a Quant of cases_test.py: the integers of the file, a scale and a zero point. `out` is a Grid: the output's.
"""
import math

import numpy as np

from fixed_point import multiplier_of, q15, q31, quotient, resize_bilinear, scaled
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
