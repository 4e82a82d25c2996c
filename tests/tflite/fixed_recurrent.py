# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators on integers as TensorFlow Lite's kernels for microcontrollers define them, in integers of any size.

An operand is a Quant of cases_test.py: the integers of the file, a scale and a zero point.
"""
import numpy as np

from fixed_point import logistic, multiplier_of, q15, q31, tanh

LOW, HIGH = -2**15, 2**15 - 1


def single(x):
    return np.float32(x.scale)


def times(values, real, rounding=q31):
    """MultiplyByQuantizedMultiplier of each."""
    multiplier, shift = multiplier_of(float(real))
    return np.array([rounding(int(v), multiplier, shift) for v in np.ravel(values)], "i8").reshape(np.shape(values))


def fully_connected(x, x_of, w, bias):
    """To 16 bits in units of 2^-12: `x` are integers with the scale and zero point of x_of."""
    sums = (x.astype("i8") - x_of.zero) @ w.values.astype("i8").T + (0 if bias is None else bias.values.astype("i8"))
    factor = float(single(x_of) * single(w)) / float(np.float32(2**-12))
    return np.clip(times(sums, factor, q15 if x_of.values.dtype == np.int16 else q31), LOW, HIGH)


def gate(x, x_of, w, bias, hidden, h_of, r, function):
    both = np.clip(fully_connected(x, x_of, w, bias) + fully_connected(hidden, h_of, r, None), LOW, HIGH)
    return function(both, 2.0**-12).astype("i8")


def mul(a, b, factor, zero=0, low=LOW, high=HIGH):
    """MulElementwise."""
    return np.clip(times(a * b, factor) + zero, low, high)


def lstm(ins, options):
    """LstmStep: outputs of all steps, and the states after the last one. Weights are those of i, f, c and o."""
    x_of, w, r, bias, h_of, c_of = ins[0], ins[1:5], ins[5:9], ins[12:16], ins[18], ins[19]
    is_major = options.get("time_major", 0)
    steps = x_of.values if is_major else x_of.values.swapaxes(0, 1)
    hidden, cell, outputs = h_of.values.astype("i8"), c_of.values.astype("i8"), []
    unit, info = float(single(c_of)), np.iinfo(h_of.values.dtype)
    for x in steps:
        forget = gate(x, x_of, w[1], bias[1], hidden, h_of, r[1], logistic)
        enter = gate(x, x_of, w[0], bias[0], hidden, h_of, r[0], logistic)
        new = gate(x, x_of, w[2], bias[2], hidden, h_of, r[2], tanh)
        cell = np.clip(mul(forget, cell, 2.0**-15 * unit / unit) + mul(enter, new, 2.0**-30 / unit), LOW, HIGH)
        if options.get("cell_clip", 0) > 0:
            limit = int(min(float(np.float32(options["cell_clip"])) / unit, HIGH))
            cell = np.clip(cell, -limit, limit)
        leave = gate(x, x_of, w[3], bias[3], hidden, h_of, r[3], logistic)
        hidden = mul(tanh(cell, single(c_of)).astype("i8"), leave, 2.0**-30 / float(single(h_of)), h_of.zero, info.min, info.max)
        outputs.append(hidden.astype(info.dtype))
    return np.stack(outputs, 0 if is_major else 1), hidden.astype(info.dtype), cell.astype("i2")


def svdf(ins, options, out):
    """EvalIntegerSvdfReference: the output, and the state after it."""
    x, features, time, bias, state = ins
    batch, count, steps = x.values.shape[0], *time.values.shape
    info = np.iinfo(state.values.dtype)
    sums = (x.values.astype("i8") - x.zero) @ features.values.astype("i8").T
    newest = np.clip(times(sums, single(x) * single(features) / single(state)) + state.zero, info.min, info.max)
    kept = state.values.astype("i8").reshape(batch, count, steps)
    kept = np.concatenate([kept[:, :, 1:], newest[:, :, None]], 2)
    total = ((kept - state.zero) * time.values.astype("i8")).sum(2).reshape(batch, -1, options["rank"]).sum(2)
    total = total + (0 if bias is None else bias.values.astype("i8"))
    y = times(total, single(state) * single(time) / np.float32(out.scale)) + out.zero
    return np.clip(y, -128, 127).astype("i1"), kept.reshape(batch, -1).astype(info.dtype)
