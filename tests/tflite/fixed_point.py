# SPDX-License-Identifier: Apache-2.0
"""Operators on int16 as TensorFlow Lite's reference kernels define them, in integers of any size.

Inputs are the integers of the file. Multipliers are made in the precision that each kernel uses: single where scales are
multiplied as float, double elsewhere.
"""
import decimal
import fractions
import functools
import math
import zlib

import numpy as np

from formulas import FORMULAS, windows

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


def average_pool(x, options):
    """Of integers of 8 bits: half of the number of taps goes to the size of their sum, which is then divided without a rest."""
    taps = windows(x.astype("f8"), x.shape[1], x.shape[2], options, (options["filter_h"], options["filter_w"]), np.nan)
    total, count = np.nansum(taps, axis=3).astype("i8"), (~np.isnan(taps)).sum(axis=3)
    return (np.sign(total) * ((abs(total) + count // 2) // count)).astype(x.dtype)


def leaky_relu(x, alpha, scale, out):
    scale, alpha, out = np.float32(scale), np.float32(alpha), np.float32(out)
    return bounded(np.where(x >= 0, scaled(x, scale / out), scaled(x, scale * alpha / out))).astype("i2")


def relu(x, scale, out, act):
    """ReluX of int16; `act`: 1, or 3 for RELU6."""
    return bounded(scaled(x, np.float32(scale) / np.float32(out)), act, out).astype("i2")


def absolute(x, scale, out):
    """AbsEvalQuantized: sizes of one scale only saturate."""
    size = np.abs(x.astype("i8"))
    if np.float32(scale) != np.float32(out):
        size = scaled(size, np.float32(scale) / np.float32(out))
    return bounded(size).astype("i2")


def prelu(x, slopes, zero, scales):
    """Prelu of int16 with slopes of int8."""
    scale, slope, out = (np.float32(s) for s in scales)
    x, slopes = np.broadcast_arrays(x.astype("i8"), slopes.astype("i8") - zero)
    return bounded(np.where(x >= 0, scaled(x, scale / out), scaled(x * slopes, scale * slope / out))).astype("i2")


def squared_difference(x, y, scales):
    first, second, out = (np.float64(np.float32(s)) for s in scales)
    unit = 2 * max(first, second)
    difference = scaled(x, first / unit) - scaled(y, second / unit)
    return bounded(scaled(difference * difference, unit * unit / out)).astype("i2")


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


# ---- Tables ----

EXACT = decimal.Context(prec=50)


def exact_exp(x):
    """Of a fraction, in 50 digits."""
    return EXACT.exp(EXACT.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator)))


def nearest(x):
    """To an integer, ties away from zero."""
    return int(x.to_integral_value(decimal.ROUND_HALF_UP))


@functools.cache
def sigmoids():
    """The table of 256 sigmoids of i / 24 in units of 2^-16; its checksum is that of the table as TensorFlow Lite states it."""
    def sigmoid(halves):
        return EXACT.divide(decimal.Decimal(65536), 1 + exact_exp(fractions.Fraction(-halves, 48)))
    table = []
    for i in range(0, 512, 2):
        left, middle, right = sigmoid(i), sigmoid(i + 1), sigmoid(i + 2)
        table.append(nearest(left + (middle - (left + right) / 2) / 2))
    table[255] = 65535
    assert zlib.crc32(np.array(table, "<u2").tobytes()) == 0xB84F6AB4, "the table is another one"
    return table


def lines(function, low, high):
    """LUTPopulate for 16 bits: 513 numbers in units of 2^-15 of a function of fractions."""
    def at(i):
        return 32768 * function(low + (high - low) * fractions.Fraction(i, 1024))
    table = []
    for i in range(0, 1024, 2):
        here, middle, after = nearest(at(i)), nearest(at(i + 1)), at(i + 2)
        error = nearest((after + here) / 2) - middle
        table.append(min(here - nearest(decimal.Decimal(error) / 2), 32767))
    return table + [min(nearest(at(1024)), 32767)]


def on_lines(x, table):
    """LUTLookup; differences and sums are of 16 bits, and wrap."""
    def wrap(y):
        return (y + 2**15) % 2**16 - 2**15
    index, offset = 256 + (x >> 7), x & 0x7F
    return wrap(table[index] + ((wrap(table[index + 1] - table[index]) * offset + 64) >> 7))


def away(x):
    """To an integer in float, ties away from zero."""
    return np.float32(math.copysign(math.floor(abs(float(x)) + 0.5), x))


def float_lines(function, scale, out):
    """LUTPopulate for 16 bits in float: `function` is of a float and of the output's scale."""
    scale, out = np.float32(scale), np.float32(out)
    low, high = scale * np.float32(LOW), scale * np.float32(HIGH)
    step = (high - low) / np.float32(512)
    units = np.float32(65536) / (out * np.float32(HIGH) - out * np.float32(LOW))

    def at(x):
        return function(x, out) * units
    table = []
    for i in range(512):
        x = low + np.float32(i) * step
        here, middle, after = away(at(x)), away(at(x + step / np.float32(2))), at(low + np.float32(i + 1) * step)
        off = away((after + here) / np.float32(2)) - middle
        table.append(int(min(max(here - away(off / np.float32(2)), LOW), HIGH)))
    return table + [int(min(max(away(at(high)), LOW), HIGH))]


def exact(x):
    return decimal.Decimal(float(x))


def rounded(x):
    return np.float32(float(x))


def exp_of(x, _):
    return rounded(EXACT.exp(exact(x)))


def log_of(x, out):
    return rounded(EXACT.ln(exact(x))) if x > 0 else np.float32(LOW) * out


def rsqrt_of(x, out):
    return np.float32(1) / np.sqrt(x) if x > 0 else np.float32(HIGH) * out


def erfc(x):
    """By the series of erf, whose terms are less than 10^44 for numbers of at most 10, in 120 digits."""
    if abs(x) > 10:
        return decimal.Decimal(0 if x > 0 else 2)
    with decimal.localcontext(decimal.Context(prec=120)):
        x = exact(x)
        total, power, n = decimal.Decimal(0), x, 0
        while abs(power) > decimal.Decimal("1e-70"):
            total += power / (2 * n + 1)
            n += 1
            power *= -x * x / n
        pi = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
        return 1 - 2 * total / pi.sqrt()


def gelu_of(x, _):
    return np.float32(0.5) * x * rounded(erfc(x * np.float32(-math.sqrt(0.5))))


def gelu_tanh_of(x, _):
    cubic = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    if abs(cubic) > 30:
        return np.float32(0.5) * x * np.float32(1 + math.copysign(1, cubic))
    twice = EXACT.exp(2 * exact(cubic))
    return np.float32(0.5) * x * (np.float32(1) + rounded(EXACT.divide(twice - 1, twice + 1)))


def on_float_lines(values, scale, out, function):
    table = float_lines(function, scale, out)
    return np.array([on_lines(x, table) for x in np.ravel(values).tolist()], "i2").reshape(values.shape)


def sqrt(values, scale, out):
    """SqrtEvalQuantized, which takes no negative numbers."""
    roots = np.sqrt(np.float32(scale) * values.astype("f4")) / np.float32(out)
    return np.minimum(np.trunc(roots), HIGH).astype("i2")


def log2_of(scale):
    """CheckedLog2: the exponent of a scale that is near a power of two, else None."""
    exact = math.log2(float(scale))
    return round(exact) if abs(exact - round(exact)) < 1e-3 else None


def table_input(x, scale, shifts):
    """The input in units of 1 / (3 * 4096). `shifts`: how far a power of two may be above 2^-12."""
    scale = np.float32(scale)
    exponent = log2_of(scale)
    if exponent is not None and exponent + 12 in shifts:
        return x * 3 * 2 ** (exponent + 12)
    factor, shift = float(scale) * 4096 * 3, 0
    while factor <= 32767 / 2 and shift <= 30:
        factor, shift = factor * 2, shift + 1
    return (x * int(factor) + (2 ** (shift - 1) if shift else 0)) >> shift


def logistic(values, scale):
    table, result = sigmoids(), []
    for x in np.ravel(values).tolist():
        x = table_input(x, scale, (0,))
        step, rest = abs(x) // 512, abs(x) % 512
        y = 0x7FFF * 1024 if step >= 255 else table[step] * 512 + rest * (table[step + 1] - table[step])
        result.append((y + 512 if x >= 0 else 2**25 - y + 511) >> 10)
    return np.array(result, "i2").reshape(values.shape)


def tanh(values, scale):
    table, result = sigmoids(), []
    for x in np.ravel(values).tolist():
        x = table_input(x, scale, (0, 1))
        step, rest = abs(x) // 256, abs(x) % 256
        y = 0xFFFF * 256 if step >= 255 else table[step] * 256 + rest * (table[step + 1] - table[step])
        result.append((y - 2**23 + 128 if x >= 0 else 2**23 - y + 127) >> 8)
    return np.array(result, "i2").reshape(values.shape)


def softmax(values, scale, beta):
    exps = lines(exact_exp, fractions.Fraction(-10), fractions.Fraction(0))
    over = lines(lambda x: EXACT.divide(decimal.Decimal(x.denominator), decimal.Decimal(x.denominator + x.numerator)),
                 fractions.Fraction(0), fractions.Fraction(1))
    multiplier, shift = multiplier_of(float(np.float32(scale) * np.float32(beta)) / (10.0 / 65535.0))
    rows = []
    for row in values.reshape(-1, values.shape[-1]).tolist():
        terms = [on_lines(max(q31(x - max(row), multiplier, shift) + 32767, -32768), exps) for x in row]
        total = sum(terms)
        headroom = 32 - total.bit_length()
        place = ((total << (headroom - 1)) + 2**13) >> 14
        factor = on_lines(min(max(place - 2**15 - 2**16, -32768), 32767), over)
        right = 31 - headroom
        rows.append([min(max((term * factor + 2 ** (right - 1)) >> right, 0), 32767) for term in terms])
    return np.array(rows, "i2").reshape(values.shape)


# ---- Sums ----

def reduction(values, axes, keep, scale, out, is_mean):
    """QuantizedMeanOrSum."""
    axes = tuple({axis % values.ndim for axis in axes})
    total = values.astype("i8").sum(axis=axes, keepdims=bool(keep))
    scale, out = np.float32(scale), np.float32(out)
    multiplier, shift = multiplier_of(float(scale) / float(out))
    if is_mean:
        taps = math.prod(values.shape[axis] for axis in axes)
        more = min(taps.bit_length() - 1, 32, 31 + shift)
        multiplier, shift = (multiplier << more) // taps, shift - more
    y = np.array([q31(int(v), multiplier, shift) for v in np.ravel(total)], "i8").reshape(np.shape(total))
    return bounded(y).astype("i2")


def matmul(x, y, options, scales):
    if options["adj_x"]:
        x = np.swapaxes(x, -1, -2)
    if options["adj_y"]:
        y = np.swapaxes(y, -1, -2)
    first, second, out = (np.float32(s) for s in scales)
    sums = np.matmul(x.astype(object), y.astype(object))
    return bounded(scaled(sums, float(first * second) / float(out), q15)).astype("i2")


def product_along(values, axes, keep, scale, out):
    """QuantizedReduceProd: the running product is rescaled after each factor but the first, and at the end."""
    axes = sorted({axis % values.ndim for axis in axes})
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    shape = [1 if axis in axes else values.shape[axis] for axis in range(values.ndim)] if keep else [values.shape[axis] for axis in kept]
    rows = values.transpose(kept + axes).reshape(math.prod(values.shape[axis] for axis in kept), -1)
    factor = float(np.float32(scale)) / float(np.float32(out)) ** (1.0 / rows.shape[1])
    multiplier, shift = multiplier_of(factor)
    results = []
    for row in rows.tolist():
        product = row[0]
        for x in row[1:]:
            product = q15(product * x, multiplier, shift)
        results.append(min(max(q15(product, multiplier, shift), LOW), HIGH))
    return np.array(results, "i2").reshape(shape)


# ---- Quotients ----

def high(a, b):
    """SaturatingRoundingDoublingHighMul."""
    return q31(a, b, 0)


def reciprocal(x):
    """GetReciprocal with 31 digits: the raw number, and the bits above one."""
    zeros = 32 - x.bit_length()
    half = ((x << zeros) - 2**31 + 2**31) // 2
    y = 1515870810 + high(half, -1010580540)
    for _ in range(3):
        y += 4 * high(y, 2**29 - high(half, y))
    return min(2 * y, 2**31 - 1), 31 - zeros


def quotient(x, y, scales, act=0):
    """DivElementwise."""
    first, second, out = (np.float32(s) for s in scales)
    multiplier, shift = multiplier_of(float(first / (second * out)))
    x, y = np.broadcast_arrays(x.astype("i8"), y.astype("i8"))
    results = []
    for a, b in zip(x.ravel().tolist(), y.ravel().tolist()):
        a, b = (-a, -b) if b < 0 else (a, b)
        inverse, above = reciprocal(b)
        headroom = 31 - (a if a >= 0 else -1 - a).bit_length()
        scaled_up = high(high(a << headroom, inverse), multiplier)
        right = headroom + above - shift
        size = (abs(scaled_up) + (2 ** (right - 1) if right > 0 else 0)) >> right if right >= 0 else abs(scaled_up) << -right
        results.append(size if scaled_up >= 0 else -size)
    return bounded(np.array(results, dtype=object).reshape(x.shape), act, out).astype("i2")


# ---- Images ----

def resize_bilinear(image, size, options):
    """ResizeBilinearInteger."""
    is_aligned, is_half = options.get("align_corners", 0), options.get("half_pixel", 0)

    def positions(old, new):
        step = (1024 * (old - 1) + (new - 1) // 2) // (new - 1) if is_aligned and new > 1 else (1024 * old + new // 2) // new
        for i in range(new):
            at = i * step + (step // 2 - 512 if is_half else 0)
            lower = max(int(at / 1024), 0)
            yield lower, min(int((at + 1023) / 1024), old - 1), at - 1024 * lower
    y = np.empty((image.shape[0], *size, image.shape[3]), "i8")
    x = image.astype("i8")
    for i, (top, bottom, down) in enumerate(positions(image.shape[1], size[0])):
        for j, (left, right, along) in enumerate(positions(image.shape[2], size[1])):
            total = (x[:, top, left] * (1024 - down) * (1024 - along) + x[:, bottom, left] * down * (1024 - along) +
                     x[:, top, right] * (1024 - down) * along + x[:, bottom, right] * down * along)
            y[:, i, j] = np.sign(total) * ((abs(total) + 2**19) >> 20)
    return y.astype("i2")
