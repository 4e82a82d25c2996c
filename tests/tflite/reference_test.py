#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators on int8 and uint8 that are read with --rounding=reference: LightNet against fixed_bytes.py, to the bit.

Usage: reference_test.py FOLDER-OF-THE-COMMANDS [-k WORD]

Scales are no powers of two: where rounding is another one, some of the elements differ.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fixed_bytes as fixed
from cases_test import SAME, STRIDE, VALID, Given, Grid, Quant, Run, case, i32, integers, verify

RNG = np.random.default_rng(8)


def given(want, out):
    return Given(want, out.scale, out.zero)


def operand(dtype, *shape, scale, zero, run=True):
    """All values of the type come first."""
    info = np.iinfo(dtype)
    values = RNG.integers(info.min, info.max, shape, dtype, endpoint=True)
    every = np.arange(info.min, info.max + 1)[:values.size]
    values.ravel()[:len(every)] = every
    return Quant(values, scale, zero, run=run)


def zero_of(dtype, zero):
    return zero if dtype == "int8" else zero + 128


def add_elementwise(dtype):
    x = operand(dtype, 5, 400, scale=0.0123, zero=zero_of(dtype, -7))
    y = operand(dtype, 5, 400, scale=0.0071, zero=zero_of(dtype, 19))
    RNG.shuffle(y.values.ravel())
    row = Quant(y.values[:1], y.scale, y.zero, run=False)
    out, wide, fine = Grid(dtype, 0.0149, zero_of(dtype, 3)), Grid(dtype, 0.0093, zero_of(dtype, -40)), Grid(dtype, 0.00031, zero_of(dtype, 11))
    for act in (0, 1, 2, 3):
        case(f"{dtype} act {act}", "ADD", [x, y], {"act": act}, given(fixed.add(x, y, out, act), out))
        case(f"{dtype} act {act}", "MUL", [x, y], {"act": act}, given(fixed.mul(x, y, wide, act), wide))
    case(f"{dtype}", "SUB", [x, y], {"act": 0}, given(fixed.add(x, y, out, 0, -1), out))
    case(f"{dtype} of one row", "ADD", [x, row], {"act": 0}, given(fixed.add(x, row, out), out))
    case(f"{dtype} to a finer scale", "SUB", [y, x], {"act": 1}, given(fixed.add(y, x, fine, 1, -1), fine))
    # Sums in scales of which many are halfway between two integers, where the bits that are shifted left decide.
    a, b, half = Quant(x.values, 0.018164566, zero_of(dtype, 1)), Quant(y.values, 0.024219422, zero_of(dtype, 0)), Grid(dtype, 0.012109711, zero_of(dtype, 2))
    for op, sign in (("ADD", 1), ("SUB", -1)):
        case(f"{dtype} halfway", op, [a, b], {"act": 0}, given(fixed.add(a, b, half, 0, sign), half))
    case(f"{dtype} of one row", "MUL", [row, x], {"act": 0}, given(fixed.mul(row, x, wide), wide))
    for grid in (out, wide, fine, Grid(dtype, 0.0123, x.zero)):
        why = f"{dtype} {grid.scale}"
        case(why, "LEAKY_RELU", [x], {"alpha": 0.3}, given(fixed.leaky_relu(x, 0.3, grid), grid))
        for op, act in (("RELU", 1), ("RELU6", 3), ("RELU_N1_TO_1", 2), ("RELU_0_TO_1", "0 to 1")):
            case(why, op, [x], None, given(fixed.relu(x, grid, act), grid))
        case(why, "QUANTIZE", [x], None, given(fixed.requantize(x, grid), grid))
        if dtype == "int8":
            case(why, "ABS", [x], None, given(fixed.absolute(x, grid), grid))
    slopes = operand(dtype, 400, scale=0.0071, zero=zero_of(dtype, -9), run=False)
    case(f"{dtype}", "PRELU", [x, slopes], None, given(fixed.prelu(x, slopes, out), out))
    if dtype == "int8":
        for grid in (out, Grid(dtype, 0.091, -60)):
            case(f"{dtype} {grid.scale}", "SQUARED_DIFFERENCE", [x, y], None, given(fixed.squared_difference(x, y, grid), grid))
    y = Quant(np.where(y.values == y.zero, y.values + 1, y.values).astype(dtype), y.scale, y.zero)
    for act, grid in ((0, Grid(dtype, 0.31, zero_of(dtype, 5))), (3, Grid(dtype, 0.041, zero_of(dtype, -11)))):
        case(f"{dtype} act {act}", "DIV", [x, y], {"act": act}, given(fixed.divide(x, y, grid, act), grid))


def add_scales(dtype):
    x = operand(dtype, 4, 128, scale=0.0123, zero=zero_of(dtype, -7))
    other = "uint8" if dtype == "int8" else "int8"
    for grid in (Grid(other, 0.0149, zero_of(other, 3)), Grid(other, 0.0123, zero_of(other, -7)), Grid(other, 0.0246, zero_of(other, 5))):
        case(f"{dtype} to {other} {grid.scale}", "QUANTIZE", [x], None, given(fixed.requantize(x, grid), grid))
    floats = RNG.uniform(-2, 2, (4, 300)).astype("f4")
    grid = Grid(dtype, 0.0123, zero_of(dtype, 4))
    floats[0] = (np.arange(300) - 150) * np.float32(grid.scale) / 2  # halfway between two
    floats[1, :5] = [1e5, -1e5, 0, -0.0, np.nextafter(np.float32(grid.scale / 2), np.float32(0))]
    want = fixed.quantize(floats, grid)
    assert (np.rint(floats[0] / np.float32(grid.scale)) != want[0].astype("f4") - grid.zero).sum() > 20
    case(f"{dtype} of floats", "QUANTIZE", [Run(floats)], None, given(want, grid))


def weights(dtype, *shape, scale, axis=0):
    if dtype == "uint8":
        return Quant(integers(dtype, *shape), 0.0017, 121, run=False)
    return Quant(integers(dtype, *shape, low=-127), scale, 0, axis, run=False)


def add_products(dtype):
    for is_wide, act in ((False, 0), (True, 1), (True, 3)):
        out = Grid(dtype, 0.091, zero_of(dtype, -17))

        def scale(count):
            return np.float32(RNG.uniform(0.001, 0.003, count)) if is_wide and dtype == "int8" else 0.0019

        def bias(count, w):
            numbers = RNG.integers(-2**12, 2**12, count).astype("i4")
            return Quant(numbers, np.float32(0.0123) * np.float32(w.scale), run=False) if is_wide else None

        image = operand(dtype, 2, 7, 6, 4, scale=0.0123, zero=zero_of(dtype, 9))
        o, w = {**SAME, "stride_h": 2, "stride_w": 1, "act": act, "dilation_h": 1, "dilation_w": 2}, weights(dtype, 6, 3, 2, 4, scale=scale(6))
        ins = [image, w, bias(6, w)]
        case(f"{dtype} act {act}", "CONV_2D", ins, o, given(fixed.product("CONV_2D", ins, o, out, image, w), out))
        o, w = {**SAME, **STRIDE, "multiplier": 2, "act": act}, weights(dtype, 1, 3, 3, 8, scale=scale(8), axis=3)
        ins = [image, w, bias(8, w)]
        case(f"{dtype} act {act}", "DEPTHWISE_CONV_2D", ins, o, given(fixed.product("DEPTHWISE_CONV_2D", ins, o, out, image, w), out))
        rows, o = operand(dtype, 2, 30, 40, scale=0.0123, zero=zero_of(dtype, 9)), {"act": act, "keep_num_dims": int(is_wide)}
        w = weights(dtype, 50, 40, scale=scale(50))
        ins = [rows, w, bias(50, w)]
        case(f"{dtype} act {act}", "FULLY_CONNECTED", ins, o, given(fixed.product("FULLY_CONNECTED", ins, o, out, rows, w), out))
        small, o = operand(dtype, 1, 8, 7, 5, scale=0.0123, zero=zero_of(dtype, 9)), {**SAME, "stride_h": 2, "stride_w": 2, "act": act}
        w = weights(dtype, 4, 3, 2, 5, scale=scale(4))
        ins = [i32(1, 16, 14, 4), w, small, *([bias(4, w)] if is_wide else [])]
        case(f"{dtype} act {act}", "TRANSPOSE_CONV", ins, o, given(fixed.product("TRANSPOSE_CONV", ins, o, out, small, w), out))
    # The product of these scales is another one in float than in double, and many sums are halfway between two integers by one of them.
    x_scale, w_scale = np.float32(1 + 2**-12), np.float32(1 + 2**-12 - 2**-23)
    out = Grid(dtype, float(2 * (x_scale * w_scale)), zero_of(dtype, 3))
    for op, shape, w_shape in (("CONV_2D", (1, 20, 20, 4), (7, 1, 1, 4)), ("FULLY_CONNECTED", (400, 4), (7, 4))):
        x = Quant(integers(dtype, *shape, low=zero_of(dtype, -8), high=zero_of(dtype, 8)), float(x_scale), zero_of(dtype, 1))
        w = Quant(integers(dtype, *w_shape, low=zero_of(dtype, -7), high=zero_of(dtype, 7)), float(w_scale), zero_of(dtype, 0), run=False)
        o = {**VALID, **STRIDE, "act": 0} if op == "CONV_2D" else {"act": 0}
        case(f"{dtype} halfway", op, [x, w, None], o, given(fixed.product(op, [x, w, None], o, out, x, w), out))
    if dtype == "uint8":
        return
    for count in (513, 700, 1024):  # more scales than are taken at once
        rows, w, out = operand(dtype, 3, 40, scale=0.0123, zero=9), weights(dtype, count, 40, scale=np.float32(RNG.uniform(0.001, 0.003, count))), Grid(dtype, 0.091, -17)
        case(f"{dtype} of {count} scales", "FULLY_CONNECTED", [rows, w, None], {"act": 0}, given(fixed.product("FULLY_CONNECTED", [rows, w, None], {}, out, rows, w), out))
    rows, w = operand(dtype, 40, 40, scale=0.0123, zero=9), weights(dtype, 50, 40, scale=0.0019)
    out = Grid(dtype, 0.091, -17)
    case(f"{dtype} of the run", "FULLY_CONNECTED", [rows, Quant(w.values, w.scale), None], {"act": 0},
         given(fixed.product("FULLY_CONNECTED", [rows, w, None], {}, out, rows, w), out))
    for adj_x, adj_y in ((0, 0), (1, 0), (0, 1), (1, 1)):
        x = operand(dtype, *((2, 1, 8, 40) if adj_x else (2, 1, 40, 8)), scale=0.0123, zero=-7)
        y, out = operand(dtype, *((3, 50, 8) if adj_y else (3, 8, 50)), scale=0.0071, zero=19), Grid(dtype, 0.0149, 3)
        o = {"adj_x": adj_x, "adj_y": adj_y}
        case(f"{dtype} {adj_x} {adj_y}", "BATCH_MATMUL", [x, y], o, given(fixed.matmul(x, y, o, out), out))


def add_reductions(dtype):
    x = operand(dtype, 20, 9, 5, 8, scale=0.0123, zero=zero_of(dtype, -7))
    for op in ("MEAN", "SUM"):
        for axes, keep, scale in (((1, 2), 1, 0.0123), ((-1,), 0, 0.0041), ((0, 3, -1), 0, 0.31), ((0, 1, 2, 3), 1, 0.0093), ((0, 1, 2, 3), 0, 0.0093),
                                  ((2,), 0, 1e-5), ((1,), 0, 3.7)):
            out = Grid(dtype, scale, x.zero if scale == x.scale else zero_of(dtype, 21))
            case(f"{dtype} {axes} {scale} {keep}", op, [x, i32(*axes)], {"keep_dims": keep}, given(fixed.reduction(x, axes, keep, out, op == "MEAN"), out))
    if dtype == "int8":
        for axis, scale in ((3, 1e-6), (0, 1e-9), (2, 0.0001)):
            out = Grid(dtype, scale, -3)
            case(f"{dtype} {axis} {scale}", "REDUCE_PROD", [x, i32(axis)], {"keep_dims": 0}, given(fixed.product_along(x, axis, out), out))
    for h, w, padding, act in ((2, 2, VALID, 0), (3, 3, SAME, 1), (2, 4, SAME, 2), (8, 6, VALID, 3), (50, 48, VALID, 0), (1, 1, VALID, 3)):
        image = operand(dtype, 2, max(9, h), max(20, w), 3, scale=0.0471, zero=zero_of(dtype, -30))
        o = {**padding, **STRIDE, "filter_h": h, "filter_w": w, "act": act}
        out = Grid(dtype, image.scale, image.zero)
        case(f"{dtype} {h}x{w} act {act}", "AVERAGE_POOL_2D", [image], o, given(fixed.average_pool(image, o, out), out))
    if dtype == "int8":
        for size, options in (((6, 8), {}), ((7, 13), {"align_corners": 1}), ((5, 3), {"half_pixel": 1})):
            image = operand(dtype, 2, 4, 5, 9, scale=0.0123, zero=-7)
            out = Grid(dtype, image.scale, image.zero)
            case(f"{dtype} to {size}", "RESIZE_BILINEAR", [image, i32(*size)], options, given(fixed.resize(image, size, options, out), out))


def add_functions(dtype):
    for scale, zero in ((0.0123, -7), (0.0471, 90), (0.3, -128), (0.00031, 127)):
        x = operand(dtype, 3, 256, scale=scale, zero=zero_of(dtype, zero))
        for op, grid, function in (("LOGISTIC", Grid(dtype, 1 / 256, zero_of(dtype, -128)), fixed.logistic_of),
                                   ("TANH", Grid(dtype, 1 / 128, zero_of(dtype, 0)), fixed.tanh_of),
                                   ("LOGISTIC", Grid(dtype, 0.0071, zero_of(dtype, 3)), fixed.logistic_of),
                                   ("ELU", Grid(dtype, 0.0149, -61), fixed.elu_of), ("EXP", Grid(dtype, 0.0271, -90), fixed.exp_of),
                                   ("LOG", Grid(dtype, 0.0431, 11), fixed.log_of(Grid(dtype, 0.0431, 11)))):
            if dtype == "int8" or op in ("LOGISTIC", "TANH"):
                case(f"{dtype} {scale} {grid.scale:.4f}", op, [x], None, given(fixed.look_up(x, grid, function), grid))
        for is_tanh in (0, 1):
            grid = Grid(dtype, 0.0149, zero_of(dtype, -61))
            case(f"{dtype} {scale} {is_tanh}", "GELU", [x], {"approximate": is_tanh}, given(fixed.look_up(x, grid, fixed.gelu(is_tanh)), grid))
        if dtype == "int8":
            grid = Grid(dtype, 0.0061, -100)
            case(f"{dtype} {scale}", "SQRT", [x], None, given(fixed.sqrt(x, grid), grid))
        for grid in (Grid(dtype, max(scale, 0.011), zero_of(dtype, -61)), Grid(dtype, 0.31, zero_of(dtype, 4))):
            case(f"{dtype} {scale} {grid.scale:.4f}", "HARD_SWISH", [x], None, given(fixed.hard_swish(x, grid), grid))
    # Results halfway between two integers, after which and before which negative ones are rounded.
    for scale, out in ((0.001986167160794139, 0.00044725206680595875), (0.0012993484269827604, 0.0019155687186866999),
                       (0.019845325499773026, 0.0038163824938237667)):
        for zero in (-128, 127):
            x, grid = operand(dtype, 256, scale=scale, zero=zero_of(dtype, zero)), Grid(dtype, out, zero_of(dtype, 0))
            case(f"{dtype} halfway {scale:.4f} {zero}", "HARD_SWISH", [x], None, given(fixed.hard_swish(x, grid), grid))
    probability = Grid(dtype, 1 / 256, zero_of(dtype, -128))
    for scale, beta, depth in ((0.0123, 1.0, 7), (0.0471, 1.0, 40), (0.0471, 0.5, 300), (0.3, 1.0, 1), (0.0031, 1.0, 256), (0.31, 2.0, 12), (40.0, 1.0, 5),
                               (1e-6, 1.0, 9), (0.9, 1.0, 33)):
        x = operand(dtype, 30, depth, scale=scale, zero=zero_of(dtype, -7))
        x.values[0] = 5
        x.values[1] = RNG.integers(90, 97, depth)
        case(f"{dtype} {scale} {beta} {depth}", "SOFTMAX", [x], {"beta": beta}, given(fixed.softmax(x, beta, probability), probability))


def main():
    for dtype in ("int8", "uint8"):
        for add in (add_elementwise, add_scales, add_products, add_reductions, add_functions):
            add(dtype)
    word = sys.argv[3] if sys.argv[2:3] == ["-k"] else ""
    sys.exit(verify(pathlib.Path(sys.argv[1]).resolve(), word, "--rounding=reference") != 0)


if __name__ == "__main__":
    main()
