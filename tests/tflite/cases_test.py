#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of TensorFlow Lite, each a model of its own: LightNet against numpy (formulas.py).

Usage: cases_test.py FOLDER-OF-THE-COMMANDS [-k WORD]

Quantized cases have powers of two as scales, so that what is between integers is exact on both sides: they are
compared without tolerance.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fixed_bytes
import fixed_point as fixed
import tflite_file as tf
from formulas import FORMULAS, dynamic

RNG = np.random.default_rng(5)
CASES = {}


class Run:
    """An input of the run: an array, or random numbers of a shape."""

    def __init__(self, value, low=-2.0, high=2.0):
        if isinstance(value, np.ndarray):
            self.array = value
        else:
            self.array = RNG.uniform(low, high, value).astype("f4")


class Quant:
    """Real numbers as integers: `values` are the integers. `run`: an input of the run, not a constant."""

    def __init__(self, values, scale, zero=0, axis=0, run=True):
        self.values, self.scale, self.zero, self.axis, self.run = np.asarray(values), scale, zero, axis, run

    def real(self):
        shape = [1] * self.values.ndim
        if np.ndim(self.scale):
            shape[self.axis] = -1
        zero = np.reshape(np.float64(self.zero), shape if np.ndim(self.zero) else [1] * self.values.ndim)
        return (self.values - zero) * np.reshape(np.float64(self.scale), shape if np.ndim(self.scale) else [1] * self.values.ndim)


class Nibbles(Quant):
    """Constants of 4 bits, of which the file has two in a byte, the first in the low bits."""

    def bytes(self):
        flat = np.append(self.values.ravel(), np.zeros(self.values.size % 2, "i1")).astype("u1") & 15
        return (flat[::2] | flat[1::2] << 4).tobytes()


class Variable:
    """A state, which is zeros before the run. `quant`: its scale and zero point."""

    def __init__(self, *shape, dtype="float32", **quant):
        self.shape, self.dtype, self.quant = shape, dtype, quant


class Grid:
    """How an output is quantized."""

    def __init__(self, dtype, scale, zero=0):
        self.dtype, self.scale, self.zero = dtype, scale, zero

    def quantize(self, real):
        info = np.iinfo(self.dtype)
        return np.clip(np.rint(real / self.scale) + self.zero, info.min, info.max).astype(self.dtype)


def i32(*values):
    return np.array(values, "i4")


def f32(*shape, low=-2.0, high=2.0):
    return RNG.uniform(low, high, shape).astype("f4")


def integers(dtype, *shape, low=None, high=None):
    info = np.iinfo(dtype)
    return RNG.integers(info.min if low is None else low, info.max if high is None else high, shape, dtype, endpoint=True)


def case(why, op, ins, options=None, out=None, rtol=1e-5, atol=1e-5, signature=None, want=None):
    """`ins`: Run, Quant, constants, None. `out`: a Grid, or a dtype; else that of the first input of floats."""
    name = re.sub(r"[^a-z0-9]+", "_", f"{op} {why}".lower().replace("-", "minus ")).strip("_")
    assert name not in CASES, name
    options = options or {}
    tensors, inputs, numbers, real = [], [], [], []
    for i, value in enumerate(ins):
        if value is None:
            numbers.append(None)
            real.append(None)
            continue
        numbers.append(len(tensors))
        if isinstance(value, Variable):
            real.append(np.zeros(value.shape, "f4"))
            tensors.append(tf.tensor(f"in{i}", value.dtype, value.shape, variable=True, **value.quant))
            continue
        quant = {}
        if isinstance(value, Quant):
            array, is_run = value.values, value.run
            quant = {"scale": value.scale, "zero": value.zero, "axis": value.axis}
            real.append(value.real())
        elif isinstance(value, Run):
            array, is_run = value.array, True
            real.append(array)
        else:
            array, is_run = np.asarray(value), False
            real.append(array)
        if is_run:
            inputs.append((len(tensors), array))
        sign = signature if is_run else None
        dtype, data = array.dtype.name, None if is_run else array
        if isinstance(value, Nibbles):
            dtype, data = "int4", value.bytes()
        tensors.append(tf.tensor(f"in{i}", dtype, array.shape, data, signature=sign, **quant))
    results = FORMULAS[op](real, options) if want is None and not isinstance(out, Given) else want
    results = results if isinstance(results, list) else [results]
    outputs = []
    for i, y in enumerate(results):
        quant = {}
        if isinstance(out, (Grid, Given)):
            y, quant = out.quantize(y), {"scale": out.scale, "zero": out.zero}
        elif out is not None:
            y = np.asarray(y).astype(out)
        else:
            y = np.asarray(y).astype(y.dtype if y.dtype.kind in "bi" else "f4")
        outputs.append(y)
        tensors.append(tf.tensor(f"out{i}", y.dtype.name, y.shape, **quant))
    first = len(tensors) - len(outputs)
    outs = list(range(first, len(tensors)))
    if op == "CUSTOM Convolution2DTransposeBias":
        options = np.int32([options["padding"] + 1, options["stride_w"], options["stride_h"]]).tobytes()
    elif op.startswith("CUSTOM "):
        options = tf.flex_map(options)
    model = tf.model(tensors, [(op, numbers, outs, options)], [i for i, _ in inputs], outs)
    is_exact = all(y.dtype.kind in "biu" for y in outputs)
    CASES[name] = (model, [a for _, a in inputs], outputs, 0 if is_exact else rtol, 0 if is_exact else atol)


STRIDE = {"stride_h": 1, "stride_w": 1}
SAME, VALID = {"padding": 0}, {"padding": 1}


def add_elementwise():
    x, y = Run((2, 3, 4)), Run((1, 3, 1))
    for op in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        case("of two inputs", op, [x, y], {"act": 0} if op in ("ADD", "SUB", "MUL") else None)
        case("with a constant", op, [x, f32(4)])
    case("of itself", "ADD", [x, x])
    case("of positive numbers", "DIV", [x, Run((3, 4), 0.5, 2)])
    case("of integers", "DIV", [Run(i32(7, -7, 9, -9)), i32(2, 2, -4, -4)], want=np.array([3, -3, -2, 2], "i4"))
    case("of integers", "ADD", [Run(i32(7, -7, 9)), i32(2, 2, -4)])
    case("with a power of each element", "POW", [Run((2, 3), 0.1, 3), Run((2, 3))])
    for act in (1, 2, 3):
        case(f"activation {act}", "ADD", [Run((2, 9), -5, 5), Run((2, 9), -5, 5)], {"act": act})
        case(f"activation {act}", "MUL", [Run((2, 9), -5, 5), Run((2, 9))], {"act": act})
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LOGISTIC", "TANH", "EXP", "NEG", "ABS", "SQUARE", "SIN", "COS", "FLOOR",
               "CEIL", "ROUND", "SIGN", "ELU", "HARD_SWISH"):
        case("on both sides of zero", op, [Run((3, 37), -8, 8)], rtol=2e-5)
    for op in ("LOG", "SQRT", "RSQRT"):
        case("of positive numbers", op, [Run((3, 37), 0.01, 8)])
    for approximate in (0, 1):
        case(f"approximate {approximate}", "GELU", [Run((3, 37), -4, 4)], {"approximate": approximate})
    case("with a slope", "LEAKY_RELU", [Run((2, 30))], {"alpha": 0.125})
    case("with slopes of channels", "PRELU", [Run((1, 4, 5, 3)), f32(1, 1, 3)])
    case("of three", "ADD_N", [x, Run((2, 3, 4)), Run((2, 3, 4))])
    for op in ("LESS", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "EQUAL", "NOT_EQUAL"):
        case("of floats", op, [Run(np.float32([1, 2, 3, 2])), Run(np.float32([2, 2, 2, 2]))])
        case("of integers", op, [Run(i32(1, 2, 3, -2)), i32(2)])
    flags = np.array([True, False, True, False]), np.array([True, True, False, False])
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        case("of all pairs", op, [flags[0], Run(flags[1])])
    case("of both", "LOGICAL_NOT", [Run(flags[0])])
    case("on the first axis", "SELECT", [Run(np.array([True, False])), Run((2, 3)), Run((2, 3))])
    case("of all elements", "SELECT", [Run(np.array([[True, False]] * 3)), Run((3, 2)), f32(3, 2)])
    case("with broadcasting", "SELECT_V2", [Run(np.array([True, False])), Run((3, 1)), f32(2)])
    for op in ("FLOOR_DIV", "FLOOR_MOD"):
        case("of integers", op, [Run(i32(7, -7, 7, -7, 8)), i32(2, 2, -2, -2, -4)])
        case("of floats", op, [Run(np.float32([7, -7, 7, -7.5])), np.float32([2, 2, -2, -2])])


def add_products():
    for h, w in ((1, 1), (3, 3), (2, 5)):
        for padding in (0, 1):
            for stride in (1, 2):
                o = {"padding": padding, "stride_h": stride, "stride_w": 3 - stride, "act": 1}
                case(f"{h}x{w} padding {padding} stride {stride}", "CONV_2D", [Run((2, 7, 6, 3)), f32(4, h, w, 3), f32(4)], o)
                case(f"{h}x{w} padding {padding} stride {stride}", "DEPTHWISE_CONV_2D",
                     [Run((2, 7, 6, 3)), f32(1, h, w, 3), f32(3)],
                     {**o, "stride_w": stride, "multiplier": 1, "act": 3})
    case("without a bias", "CONV_2D", [Run((1, 4, 4, 2)), f32(3, 3, 3, 2), None], {**STRIDE, **SAME})
    case("dilated", "CONV_2D", [Run((1, 9, 9, 2)), f32(3, 3, 3, 2), f32(3)],
         {**STRIDE, **SAME, "dilation_h": 2, "dilation_w": 3})
    case("in groups", "CONV_2D", [Run((1, 5, 5, 6)), f32(4, 3, 3, 3), f32(4)], {**STRIDE, **SAME})
    case("clipped", "CONV_2D", [Run((1, 5, 5, 6), -9, 9), f32(8, 3, 3, 6), f32(8)], {**STRIDE, **SAME, "act": 3})
    case("with any batch", "CONV_2D", [Run((3, 5, 5, 2)), f32(4, 3, 3, 2), f32(4)], {**STRIDE, **SAME},
         signature=[-1, 5, 5, 2])
    case("multiplier 3", "DEPTHWISE_CONV_2D", [Run((1, 5, 5, 2)), f32(1, 3, 3, 6), f32(6)],
         {**STRIDE, **SAME, "multiplier": 3})
    case("dilated", "DEPTHWISE_CONV_2D", [Run((1, 9, 9, 2)), f32(1, 3, 3, 2), f32(2)],
         {**STRIDE, **VALID, "multiplier": 1, "dilation_h": 2, "dilation_w": 2})
    for out, stride, padding in (((1, 8, 8, 3), 2, 0), ((1, 9, 9, 3), 2, 1), ((1, 7, 8, 3), 2, 0), ((1, 4, 4, 3), 1, 0),
                                 ((1, 10, 10, 3), 2, 1)):
        case(f"to {out[1]}x{out[2]} stride {stride} padding {padding}", "TRANSPOSE_CONV",
             [i32(*out), f32(3, 3, 3, 2), Run((1, 4, 4, 2)), f32(3)],
             {"padding": padding, "stride_h": stride, "stride_w": stride, "act": 1})
    for out, padding, size in (((1, 8, 12, 3), 0, 2), ((2, 8, 12, 3), 0, 3), ((1, 9, 13, 3), 1, (3, 4)), ((1, 8, 13, 3), 1, (2, 4))):
        x, w, bias = Run((out[0], 4, 4, 2)), f32(3, *(size if padding else (size, size)), 2), f32(3)
        o = {"padding": padding, "stride_h": 2, "stride_w": 3, "act": 0}
        case(f"to {out} padding {padding}", "CUSTOM Convolution2DTransposeBias", [x, w, bias], o,
             want=FORMULAS["TRANSPOSE_CONV"]([i32(*out), w, x.array, bias], o))
    case("to a shape of the run", "TRANSPOSE_CONV", [Run(i32(1, 8, 8, 3)), f32(3, 3, 3, 2), Run((1, 4, 4, 2))],
         {"padding": 0, "stride_h": 2, "stride_w": 2})
    case("of a matrix", "FULLY_CONNECTED", [Run((3, 5)), f32(4, 5), f32(4)], {"act": 1})
    case("of an image", "FULLY_CONNECTED", [Run((2, 3, 5)), f32(4, 15), f32(4)])
    case("that keeps dimensions", "FULLY_CONNECTED", [Run((2, 3, 5)), f32(4, 5), None], {"keep_num_dims": 1, "act": 3})
    case("of two inputs", "FULLY_CONNECTED", [Run((3, 5)), Run((4, 5)), None])
    for adj_x in (0, 1):
        for adj_y in (0, 1):
            x, y = Run((2, 5, 3) if adj_x else (2, 3, 5)), Run((2, 4, 5) if adj_y else (2, 5, 4))
            case(f"adjoint {adj_x} {adj_y}", "BATCH_MATMUL", [x, y], {"adj_x": adj_x, "adj_y": adj_y})
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for padding in (0, 1):
            for stride in (1, 2):
                case(f"padding {padding} stride {stride}", op, [Run((2, 7, 6, 3))],
                     {"padding": padding, "stride_h": stride, "stride_w": stride, "filter_h": 3, "filter_w": 2})
        case("of all", op, [Run((1, 5, 5, 4))], {**VALID, **STRIDE, "filter_h": 5, "filter_w": 5, "act": 1})


def add_sums():
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for keep in (0, 1):
            case(f"of an image keep {keep}", op, [Run((2, 3, 4, 5), 0.5, 1.5), i32(1, 2)], {"keep_dims": keep})
        case("of the last axis", op, [Run((2, 3, 4), 0.5, 1.5), np.int32(-1)])
    case("beta 1", "SOFTMAX", [Run((2, 3, 7), -9, 9)], {"beta": 1.0})
    case("beta 2", "SOFTMAX", [Run((2, 7), -9, 9)], {"beta": 2.0})
    case("of a matrix", "LOG_SOFTMAX", [Run((2, 7), -9, 9)])
    case("of vectors", "L2_NORMALIZATION", [Run((2, 3, 7))], {"act": 0})
    case("of an image", "LOCAL_RESPONSE_NORMALIZATION", [Run((1, 3, 3, 8))],
         {"radius": 2, "bias": 1.0, "alpha": 0.25, "beta": 0.75})
    for op in ("ARG_MAX", "ARG_MIN"):
        case("of the last axis", op, [Run((3, 9)), np.int32(-1)], {"type": 2}, out="i4")
        case("in 64 bits", op, [Run((3, 9)), np.int32(0)], {"type": 4}, out="i8")


def add_moves():
    x = Run((2, 3, 4, 5))
    case("by a constant", "RESHAPE", [x, i32(6, -1)])
    one = Run((1, 1))
    case("by a constant of no dimensions", "RESHAPE", [one, np.zeros(0, "i4")], want=one.array.reshape(()))
    case("with nothing", "CONCATENATION", [x, np.zeros((2, 0, 4, 5), "f4")], {"axis": 1}, want=x.array)
    case("by its option", "RESHAPE", [x], {"new_shape": [4, 30]})
    case("of listed axes", "SQUEEZE", [Run((1, 3, 1, 5))], {"dims": [0, -2]})
    case("of all axes", "SQUEEZE", [Run((1, 3, 1, 5))])
    for axis in (0, 2, -1):
        case(f"at {axis}", "EXPAND_DIMS", [Run((2, 3)), np.int32(axis)])
    case("of four axes", "TRANSPOSE", [x, i32(3, 0, 2, 1)])
    case("of two axes", "TRANSPOSE", [Run((3, 4)), i32(1, 0)])
    case("of an image", "PAD", [x, np.int32([[0, 0], [1, 2], [3, 0], [0, 1]])])
    case("in 64 bits", "PAD", [Run((2, 3)), np.int64([[0, 1], [2, 0]])])
    case("of a run", "PAD", [Run((2, 3)), Run(np.int32([[0, 1], [2, 0]]))])
    case("with a number", "PADV2", [Run((2, 3)), np.int32([[0, 1], [2, 0]]), np.float32(7.5)])
    for mode in (0, 1):
        case(f"mode {mode}", "MIRROR_PAD", [Run((3, 4)), np.int32([[1, 2], [2, 0]])], {"mode": mode})
    case("on a full pad", "MIRROR_PAD", [Run((3, 4)), np.int32([[3, 3], [0, 4]])], {"mode": 1})
    for axis in (0, -1):
        case(f"on axis {axis}", "CONCATENATION", [Run((2, 3)), f32(2, 3), Run((2, 3))], {"axis": axis})
    case("with an activation", "CONCATENATION", [Run((2, 3)), Run((2, 3))], {"axis": 1, "act": 1})
    case("of channels", "SPLIT", [np.int32(3), Run((1, 2, 2, 6))], {"num": 3})
    case("of the first axis", "SPLIT", [np.int32(-2), Run((4, 3))], {"num": 2})
    case("of three lengths", "SPLIT_V", [Run((2, 9)), i32(2, 3, 4), np.int32(1)], {"num": 3})
    case("with an open length", "SPLIT_V", [Run((9, 2)), i32(2, -1, 4), np.int32(0)], {"num": 3})
    case("of an image", "SLICE", [x, i32(0, 1, 0, 2), i32(-1, 2, 3, -1)])
    case("of a run", "SLICE", [Run((4, 5)), Run(i32(1, 2)), Run(i32(-1, 2))])
    for why, begin, end, step, masks in (
            ("plain", (0, 1, 1), (2, 3, 4), (1, 1, 2), {}),
            ("backwards", (-1, 2, 3), (-3, -4, 0), (-1, -1, -2), {}),
            ("with masks", (1, 1, 1), (1, 2, 3), (1, 1, 1), {"begin_mask": 5, "end_mask": 3}),
            ("backwards with masks", (0, 0, 0), (0, 0, 0), (-1, -2, -1), {"begin_mask": 7, "end_mask": 7}),
            ("that drops axes", (1, -1, 0), (2, 0, 9), (1, 1, 1), {"shrink_axis_mask": 3}),
            ("with an ellipsis", (0, 1), (0, 3), (1, 1), {"ellipsis_mask": 1}),
            ("with new axes", (0, 0, 1, 0), (0, 2, 2, 0), (1, 1, 1, 1), {"new_axis_mask": 9}),
            ("with all masks", (0, 0, 0, 1), (0, 0, 0, 0), (1, 1, 1, 1),
             {"new_axis_mask": 1, "ellipsis_mask": 2, "shrink_axis_mask": 8, "begin_mask": 4, "end_mask": 4}),
            ("past the end", (0, -9, 0), (99, 99, 3), (1, 1, 1), {}),
            ("with offsets", (1, 0, 1), (1, 3, 2), (1, 1, 1), {"offset": 1})):
        case(why, "STRIDED_SLICE", [Run((3, 3, 4)), i32(*begin), i32(*end), i32(*step)], masks)
    for axis in (0, 1, -1):
        case(f"on axis {axis}", "PACK", [Run((2, 3)), Run((2, 3)), f32(2, 3)], {"count": 3, "axis": axis})
        case(f"on axis {axis}", "UNPACK", [Run((3, 2, 3))], {"num": 2 if axis == 1 else 3, "axis": axis})
    case("on the first axis", "GATHER", [Run((4, 3)), i32(2, 0, 2)], {"axis": 0})
    case("on the last axis", "GATHER", [Run((4, 3)), Run(np.int32([[2, 0], [1, 1]]))], {"axis": -1})
    case("by a number", "GATHER", [Run((4, 3)), np.int64(2)], {"axis": 0})
    case("in batches", "GATHER", [Run((2, 4, 3)), Run(np.int32([[2, 0], [1, 1]]))], {"axis": 1, "batch_dims": 1})
    case("of rows", "GATHER_ND", [Run((4, 3)), np.int32([[2, 0], [1, 1]])])
    case("of a matrix", "TILE", [Run((2, 3)), i32(2, 3)])
    case("in 32 bits", "SHAPE", [x], {"type": 2})
    case("of a row", "BROADCAST_TO", [Run((1, 3)), i32(2, 4, 3)])
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        for mode in ({}, {"align_corners": 1}, {"half_pixel": 1}):
            for size in ((6, 8), (2, 3), (5, 4)):
                case(f"to {size} {list(mode)}", op, [Run((2, 3, 4, 3)), i32(*size)], mode)
    for edges in ([[0, 0], [0, 0]], [[1, 0], [2, 1]]):
        case(f"with edges {edges}", "SPACE_TO_BATCH_ND", [Run((2, 5 + (edges[0][0] == 0), 3, 2)), i32(2, 3), np.int32(edges)])
        case(f"with edges {edges}", "BATCH_TO_SPACE_ND", [Run((12, 3, 2, 2)), i32(2, 3), np.int32(edges)])
    case("of all of an axis", "BATCH_TO_SPACE_ND", [Run((12, 3, 2, 2)), i32(2, 3), i32([4, 2], [0, 0])])
    case("of a row", "SPACE_TO_BATCH_ND", [Run((2, 6, 3)), i32(3), np.int32([[2, 1]])])
    case("of rows", "TOPK_V2", [Run((3, 9)), np.int32(4)])
    case("of two axes", "REVERSE_V2", [x, i32(1, -1)])
    case("by two", "SPACE_TO_DEPTH", [Run((1, 4, 6, 3))], {"block": 2})
    case("by two", "DEPTH_TO_SPACE", [Run((1, 2, 3, 12))], {"block": 2})


def add_places():
    """Elements at places that are computed."""
    x, rows = Run((2, 3, 4)), Run((5, 3))
    case("of places twice", "SCATTER_ND", [Run(i32(2, 0, 2).reshape(3, 1)), Run((3, 4)), i32(5, 4)])
    case("of elements", "SCATTER_ND", [np.int32([[0, 1], [1, 2]]), Run(i32(7, -7)), i32(2, 3)])
    case("of a list", "SPARSE_TO_DENSE", [Run(i32(1, 3)), i32(5), Run((2,)), np.float32(0.5)])
    case("of pairs and one value", "SPARSE_TO_DENSE", [np.int32([[0, 1], [2, 2]]), i32(3, 3), np.float32(2), np.float32(-1)])
    case("of a number", "SPARSE_TO_DENSE", [Run(np.array(2, "i4")), i32(4), np.int32(9), np.int32(-9)])
    case("of a constant", "SEGMENT_SUM", [rows, i32(0, 0, 2, 2, 3)])
    case("of the run", "SEGMENT_SUM", [rows, Run(i32(0, 1, 1, 1, 4))])
    for kind in ("SUM", "PROD", "MAX", "MIN"):
        case("with none", f"UNSORTED_SEGMENT_{kind}", [rows, Run(i32(3, 0, -1, 3, 0)), np.int32(4)])
        case("of integers in pairs", f"UNSORTED_SEGMENT_{kind}",
             [Run(integers("int32", 2, 2, 3, low=-9, high=9)), np.int32([[1, 0], [1, 2]]), np.int32(3)])
    for at in ((0, 1), (1, -5), (9, 2)):
        case(f"at {at}", "DYNAMIC_UPDATE_SLICE", [Run((4, 5)), Run((2, 3)), Run(i32(*at))])
    case("of bytes", "DYNAMIC_UPDATE_SLICE",
         [Quant(integers("int8", 3, 2, 4), 0.5, 3), Quant(integers("int8", 1, 2, 2), 0.5, 3), Run(i32(2, 0, 1))],
         out=Grid("int8", 0.5, 3))
    case("of floats", "EMBEDDING_LOOKUP", [Run(i32(2, 0, 2)), f32(4, 3)])
    case("of bytes", "EMBEDDING_LOOKUP", [Run(i32(2, 0, 2)), Quant(integers("int8", 4, 3), 0.25, 0, run=False)], out="f4")
    case("of a scale for each row", "EMBEDDING_LOOKUP",
         [Run(i32(2, 0, 3)), Quant(integers("int8", 4, 3), [0.25, 0.5, 2, 1], [0] * 4, run=False)], out="f4")
    case("of flags", "WHERE", [Run(np.array([[True, False, True], [False, False, True]]))])
    case("of numbers", "WHERE", [Run(np.float32([0, 2, 0, -1]))])
    case("of integers", "UNIQUE", [Run(i32(5, 2, 5, 9, 2, 1))], {"type": 2})
    for axis in (-1, 0, 1):
        case(f"on axis {axis}", "ONE_HOT", [Run(np.int32([[0, 3, -1], [2, 5, 1]])), np.int32(4), np.float32(2), np.float32(-1)],
             {"axis": axis})
    case("of flags", "ONE_HOT", [Run(i32(0, 2)), np.int32(3), np.bool_(True), np.bool_(False)], {"axis": -1})
    case("of a matrix", "MATRIX_DIAG", [x])
    for rows_, columns in ((3, 3), (2, 4), (4, 2)):
        case(f"of {rows_} by {columns}", "MATRIX_SET_DIAG", [Run((2, rows_, columns)), Run((2, min(rows_, columns)))])
    case("of the first two axes", "REVERSE_SEQUENCE", [Run((4, 3, 2)), Run(i32(4, 0, 2))], {"seq_dim": 0, "batch_dim": 1})
    case("of others", "REVERSE_SEQUENCE", [Run((2, 3, 4)), i32(3, 1, 4)], {"seq_dim": 2, "batch_dim": 1})
    for what in ("start", "end"):
        ins = {"start": i32(1, -1, 0, 1), "end": i32(3, 9, 0, 4)}
        ins[what] = Run(ins[what])
        case(f"of a {what} of the run", "STRIDED_SLICE", [Run((4, 3, 5, 6)), ins["start"], ins["end"], i32(1, 1, 1, 2)],
             {"shrink_axis_mask": 2, "begin_mask": 4, "end_mask": 4})


def add_made():
    """Elements made of numbers, and bits."""
    x = Run((2, 3, 4))
    case("of floats", "FILL", [i32(2, 3), Run(np.array(1.5, "f4"))])
    case("of integers by the run", "FILL", [Run(i32(2, 3)), np.int32(7)])
    case("of nothing", "ZEROS_LIKE", [x])
    case("of integers", "RANGE", [np.int32(3), np.int32(-7), np.int32(-3)])
    case("of the run", "RANGE", [np.float32(0), Run(np.array(2, "f4")), np.float32(0.5)])
    case("of three", "RANK", [x], out="i4")
    for op in ("REDUCE_ANY", "REDUCE_ALL"):
        flags = np.array([[True, False, True], [True, True, True], [False, False, False]])
        case("of rows", op, [Run(flags), i32(1)], {"keep_dims": 0})
        case("of all", op, [Run(flags), i32(0, 1)], {"keep_dims": 1})
    for options in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
        case(f"{list(options)}", "CUMSUM", [x, np.int32(-2)], options)
    case("of integers", "CUMSUM", [Run(i32(1, -2, 3)), np.int32(0)], {})
    for padding in (0, 1):
        case(f"padding {padding}", "L2_POOL_2D", [Run((1, 5, 6, 3))],
             {"padding": padding, "stride_h": 2, "stride_w": 1, "filter_h": 3, "filter_w": 2})
        o = {"padding": padding, "stride_d": 1, "stride_h": 2, "stride_w": 1, "act": 1}
        case(f"padding {padding}", "CONV_3D", [Run((2, 4, 5, 6, 3)), f32(2, 3, 2, 3, 4), f32(4)], o)
        case(f"dilated padding {padding}", "CONV_3D", [Run((1, 4, 5, 6, 2)), f32(2, 2, 2, 2, 3), None],
             {**o, "stride_h": 1, "dilation_d": 2, "dilation_h": 3, "dilation_w": 1, "act": 0})
    case("of two shapes", "BROADCAST_ARGS", [Run(i32(3, 1)), i32(2, 1, 5)])
    case("of floats", "BUCKETIZE", [Run(np.float32([[-1, 0, 0.5], [10, 11, 99]]))], {"boundaries": [0.0, 10.0, 100.0]}, out="i4")
    case("of 8 bits", "FAKE_QUANT", [Run((3, 40), -3, 3)], {"min": -1.5, "max": 2.0, "bits": 8, "narrow": 0}, atol=1e-4)
    case("of 4 bits", "FAKE_QUANT", [Run((3, 40), -3, 3)], {"min": 0.0, "max": 2.0, "bits": 4, "narrow": 1}, atol=1e-4)
    case("on all sides", "ATAN2", [Run(np.float32([1, -1, 1, -1, 0, 0, 2, -2, -0.0, 0])),
                                   Run(np.float32([2, 2, -2, -2, 1, -1, 0, 0, -1, 0]))])
    case("of floats", "BITCAST", [Run(np.float32([1, -2, 0.5]))], want=np.float32([1, -2, 0.5]).view("i4"))
    case("of integers", "BITWISE_XOR", [Run(i32(5, -7, 9)), i32(3, 3, -1)])
    case("of signed", "RIGHT_SHIFT", [Run(i32(5, -7, -2 ** 31, 9)), i32(1, 1, 31, 3)])
    case("of unsigned", "RIGHT_SHIFT", [Run(np.uint8([5, 255, 128])), np.uint8([1, 4, 7])])


def scattered_boxes(count):
    corner, size = RNG.uniform(0, 1, (count, 2)), RNG.uniform(0.05, 0.4, (count, 2))
    return np.hstack([corner, corner + size]).astype("f4")


def add_boxes():
    boxes, scores = scattered_boxes(40), RNG.permutation(40).astype("f4") / 40
    for count, share, floor in ((10, 0.3, 0.25), (40, 0.5, 0.0), (3, 0.9, 0.9), (5, 0.5, 1.0)):
        ins = [Run(boxes), Run(scores), np.int32(count), np.float32(share), np.float32(floor)]
        case(f"of {count} above {floor}", "NON_MAX_SUPPRESSION_V4", ins)
        case(f"of {count} above {floor}", "NON_MAX_SUPPRESSION_V5", ins + [np.float32(0)])
    half = np.float32([[0, 0, 2, 2], [0, 0, 2, 1]])  # what is shared is the threshold itself
    case("at the threshold", "NON_MAX_SUPPRESSION_V4", [Run(half), Run(np.float32([0.5, 0.25])), np.int32(2), np.float32(0.5),
                                                        np.float32(0.25)])
    case("at the share", "NON_MAX_SUPPRESSION_V4", [Run(half), Run(np.float32([0.5, 0.25])), np.int32(2), np.float32(0.5),
                                                    np.float32(0)])
    name = "CUSTOM TFLite_Detection_PostProcess"
    base = {"max_detections": 10, "max_classes_per_detection": 1, "num_classes": 3, "detections_per_class": 8,
            "nms_score_threshold": 0.25, "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    anchors = np.hstack([RNG.uniform(0.2, 0.8, (30, 2)), RNG.uniform(0.1, 0.5, (30, 2))]).astype("f4")
    codes, grid = Run((1, 30, 4), -3, 3), Run(RNG.permutation(120).astype("f4").reshape(1, 30, 4) / 128)
    for regular in (False, True):
        for why, more in (("", {}), ("of two classes", {"max_classes_per_detection": 2}), ("of one", {"max_detections": 1}),
                          ("of more than there are", {"max_detections": 50}), ("of none", {"nms_score_threshold": 2.0}),
                          ("from 0", {"nms_score_threshold": 0.0}), ("of a few a class", {"detections_per_class": 2})):
            case(f"regular {regular} {why}", name, [codes, grid, anchors], {**base, "use_regular_nms": regular, **more})
        at = np.float32([[[0.5, 0.25, 0.125], [0.25, 0.125, 0.0625]]])
        far = np.float32([[0.2, 0.2, 0.1, 0.1], [0.8, 0.8, 0.1, 0.1]])
        case(f"regular {regular} at the threshold", name, [Run((1, 2, 4)), Run(at), far], {**base, "use_regular_nms": regular})
        ins = [Quant(integers("uint8", 1, 30, 4), 0.0625, 128), Quant(np.uint8(grid.array * 128 * 2), 1 / 256, 0),
               Quant(integers("uint8", 30, 4, low=20, high=200), 1 / 256, 0, run=False)]
        case(f"regular {regular} of bytes", name, ins, {**base, "use_regular_nms": regular}, out="f4")


def lstm(is_coupled=False, has_peephole=False, states=None, inputs=3, units=4, batch=2):
    """All inputs but the sequence."""
    first = [None] if is_coupled else []
    parts = [*first, *(f32(units, inputs) for _ in range(4 - is_coupled)), *first,
             *(f32(units, units, low=-1, high=1) for _ in range(4 - is_coupled))]
    parts += [None if not has_peephole or k < is_coupled else f32(units) for k in range(3)]
    parts += [*first, *(f32(units) for _ in range(4 - is_coupled)), None, None]
    return parts + (states or [Variable(batch, units), Variable(batch, units)])


def add_recurrent():
    op = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    for major in (0, 1):
        x = Run((5, 2, 3) if major else (2, 5, 3))
        o = {"act": 4, "time_major": major}
        case(f"time major {major}", op, [x, *lstm()], o)
        case(f"time major {major} of coupled gates", op, [x, *lstm(is_coupled=True)], o)
        case(f"time major {major} with peepholes", op, [x, *lstm(has_peephole=True)], o)
        case(f"time major {major} with both", op, [x, *lstm(True, True)], o)
        for limit in (0.25, 10.0):
            case(f"time major {major} with cells within {limit}", op, [x, *lstm()], {**o, "cell_clip": limit})
            case(f"time major {major} with cells within {limit} from states", op, [x, *lstm(states=[Run((2, 4)), Run((2, 4), -20, 20)])], {**o, "cell_clip": limit})
        for act in (0, 1, 4):
            case(f"time major {major} act {act}", "UNIDIRECTIONAL_SEQUENCE_RNN",
                 [x, f32(4, 3), f32(4, 4, low=-0.5, high=0.5), f32(4), Variable(2, 4)], {"time_major": major, "act": act})
    x, o = Run((2, 5, 3)), {"act": 4}
    for rank in (1, 2):
        case(f"of rank {rank}", "SVDF", [Run((2, 3)), f32(4, 3), f32(4, 5), f32(4 // rank), Run((2, 20))], {"rank": rank, "act": 1})
    case("from zeros", "SVDF", [Run((2, 3)), f32(4, 3), f32(4, 5), None, Variable(2, 20)], {"rank": 2, "act": 0})
    case("of one step with cells within a limit", op, [Run((2, 1, 3)), *lstm()], {**o, "cell_clip": 0.25})
    case("from states", op, [x, *lstm(states=[Run((2, 4)), f32(2, 4)])], o)
    case("from a state", "UNIDIRECTIONAL_SEQUENCE_RNN", [x, f32(4, 3), f32(4, 4), f32(4), Run((2, 4))], {"act": 4})
    case("act 0", op, [x, *lstm()], {"act": 0}, rtol=1e-4, atol=1e-4)
    case("act 1", op, [x, *lstm()], {"act": 1}, rtol=1e-4, atol=1e-4)


def add_types():
    case("to integers", "CAST", [Run((3, 5), -9, 9)], {"from": 0, "to": 2}, out="i4")
    case("from integers", "CAST", [Run(i32(1, -2, 3))], {"from": 2, "to": 0}, out="f4")
    case("from halves", "DEQUANTIZE", [f32(3, 5).astype("f2")], out="f4")
    grid = Grid("int8", 0.25, -3)
    case("to int8", "QUANTIZE", [Run((4, 50), -40, 40)], out=grid)
    case("to uint8", "QUANTIZE", [Run((4, 50), -40, 40)], out=Grid("uint8", 0.25, 120))
    case("to int16", "QUANTIZE", [Run((4, 50), -40, 40)], out=Grid("int16", 0.125, 0))
    case("to another scale", "QUANTIZE", [Quant(integers("int8", 4, 50), 0.5, 3)], out=grid)
    case("from sums", "QUANTIZE", [Quant(integers("int32", 4, 50, low=-99999, high=99999), 2.0 ** -11)], out=grid)
    case("to sums", "QUANTIZE", [Quant(integers("int16", 4, 50), 0.5)], out=Grid("int32", 2.0 ** -8))
    case("of sums", "DEQUANTIZE", [Quant(integers("int32", 4, 50, low=-99999, high=99999), 0.5)], out="f4")
    case("of int8", "DEQUANTIZE", [Quant(integers("int8", 4, 50), 0.25, 3)], out="f4")
    case("of a scale for each row", "DEQUANTIZE",
         [Quant(integers("int8", 4, 50), [0.25, 0.5, 2, 1], [0, 0, 0, 0], run=False)], out="f4")


def add_quantized():
    means = np.random.default_rng(6)
    for dtype, zero in (("int8", -5), ("uint8", 121)):
        def x(*shape, scale=0.25, dtype=dtype, zero=zero):
            return Quant(integers(dtype, *shape), scale, zero)

        out = Grid(dtype, 8.0, zero)
        fine = Grid(dtype, 0.25, zero)
        o = {**STRIDE, **SAME, "act": 1}
        weights = {"int8": lambda *shape, count=1, axis=0: Quant(
            integers("int8", *shape, low=-127), [2.0 ** -(i % 4) for i in range(count)], [0] * count, axis, run=False),
                   "uint8": lambda *shape, count=1, axis=0: Quant(integers("uint8", *shape), 0.5, 117, run=False)}[dtype]

        def bias(w, count):
            scale = 0.25 * np.broadcast_to(w.scale, [count])
            return Quant(integers("int32", count, low=-9999, high=9999), scale, np.zeros(count, int), run=False)

        w = weights(6, 3, 3, 4, count=6)
        case(f"{dtype}", "CONV_2D", [x(2, 7, 6, 4), w, bias(w, 6)], o, out)
        case(f"{dtype} clipped", "CONV_2D", [x(2, 7, 6, 4), w, bias(w, 6)], {**o, "act": 3}, Grid(dtype, 0.03125, zero))
        w = weights(6, 1, 1, 4, count=6)
        case(f"{dtype} 1x1", "CONV_2D", [x(1, 7, 6, 4), w, bias(w, 6)], {**STRIDE, **VALID}, out)
        w = weights(1, 3, 3, 4, count=4, axis=3)
        case(f"{dtype}", "DEPTHWISE_CONV_2D", [x(2, 7, 6, 4), w, bias(w, 4)],
             {"padding": 0, "stride_h": 2, "stride_w": 2, "multiplier": 1}, out)
        w = weights(1, 3, 3, 8, count=8, axis=3)
        case(f"{dtype} multiplier 2", "DEPTHWISE_CONV_2D", [x(1, 7, 6, 4), w, bias(w, 8)],
             {**STRIDE, **VALID, "multiplier": 2, "act": 1}, out)
        w = weights(5, 24, count=5)
        case(f"{dtype}", "FULLY_CONNECTED", [x(3, 24), w, bias(w, 5)], {"act": 0}, out)
        case(f"{dtype} of an image", "FULLY_CONNECTED", [x(3, 2, 12), w, None], {"act": 1}, out)
        for op in ("ADD", "SUB"):
            case(f"{dtype}", op, [x(2, 5, 5, 3), x(2, 5, 5, 3, scale=0.5)], {"act": 0}, Grid(dtype, 0.5, zero))
            case(f"{dtype} relu", op, [x(2, 5, 5, 3), x(1, 1, 1, 3, scale=0.5)], {"act": 1}, Grid(dtype, 0.5, zero))
        case(f"{dtype}", "MUL", [x(2, 5, 5, 3), x(2, 5, 5, 3, scale=0.5)], {"act": 0}, Grid(dtype, 16.0, zero))
        for op in ("MAXIMUM", "MINIMUM"):
            case(f"{dtype}", op, [x(2, 30), x(2, 30)], None, fine)
        pool = {**SAME, "stride_h": 2, "stride_w": 2, "filter_h": 3, "filter_w": 3}
        case(f"{dtype}", "MAX_POOL_2D", [x(1, 7, 6, 4)], pool, fine)
        case(f"{dtype} relu", "MAX_POOL_2D", [x(1, 7, 6, 4)], {**pool, "act": 1}, fine)
        for h, w, stride, padding in ((2, 2, 2, VALID), (3, 3, 1, SAME), (2, 4, 1, SAME), (8, 6, 1, VALID), (3, 2, 3, VALID), (40, 48, 1, VALID)):
            info, shape = np.iinfo(dtype), (2, max(9, h), max(9, w), 6)
            image, o = means.integers(info.min, info.max, shape, dtype, endpoint=True), {**padding, "stride_h": stride, "stride_w": stride, "filter_h": h, "filter_w": w}
            image[0, :2, :2] = [[[0] * 6, [1] * 6], [[1] * 6, [0] * 6]]
            case(f"{dtype} {h}x{w}", "AVERAGE_POOL_2D", [Quant(image, 0.3, zero)], o, Given(fixed.average_pool(image, o), 0.3, zero))
        image = x(1, 8, 8, 4)
        case(f"{dtype} in another scale", "AVERAGE_POOL_2D", [image],
             {**VALID, "stride_h": 2, "stride_w": 2, "filter_h": 2, "filter_w": 2}, Grid(dtype, 0.5, zero))
        case(f"{dtype} relu", "AVERAGE_POOL_2D", [image],
             {**VALID, "stride_h": 2, "stride_w": 2, "filter_h": 2, "filter_w": 2, "act": 1}, fine)
        case(f"{dtype}", "MEAN", [x(1, 4, 4, 8), i32(1, 2)], {"keep_dims": 0}, fine)
        probability = Grid(dtype, 1 / 256, -128 if dtype == "int8" else 0)
        case(f"{dtype}", "SOFTMAX", [x(3, 9)], {"beta": 1.0}, probability)
        case(f"{dtype}", "LOGISTIC", [x(3, 90, scale=0.0625)], None, probability)
        case(f"{dtype}", "TANH", [x(3, 90, scale=0.0625)], None, Grid(dtype, 1 / 128, 0 if dtype == "int8" else 128))
        case(f"{dtype}", "HARD_SWISH", [x(3, 90, scale=0.0625)], None, Grid(dtype, 0.0625, zero))
        case(f"{dtype}", "LEAKY_RELU", [x(3, 90)], {"alpha": 0.25}, fine)
        for op, ins, options in (
                ("RESHAPE", [x(2, 6), i32(3, 4)], None), ("TRANSPOSE", [x(2, 3, 4), i32(2, 0, 1)], None),
                ("PAD", [x(2, 3), np.int32([[1, 0], [2, 1]])], None),
                ("CONCATENATION", [x(2, 3), x(2, 3), x(2, 3)], {"axis": 1}),
                ("STRIDED_SLICE", [x(4, 6), i32(0, 5), i32(4, 0), i32(2, -1)], {}),
                ("GATHER", [x(4, 3), i32(2, 0)], {"axis": 0}), ("PACK", [x(2, 3), x(2, 3)], {"count": 2, "axis": 0}),
                ("SPACE_TO_DEPTH", [x(1, 4, 4, 2)], {"block": 2}),
                ("RESIZE_NEAREST_NEIGHBOR", [x(1, 3, 3, 2), i32(6, 6)], {"half_pixel": 1})):
            case(f"{dtype}", op, ins, options, fine)
        case(f"{dtype} of two scales", "CONCATENATION", [x(2, 3), x(2, 3, scale=0.5)], {"axis": 1},
             Grid(dtype, 0.5, zero))
        case(f"{dtype} in two", "SPLIT", [np.int32(1), x(2, 6)], {"num": 2}, fine)
    for scale, zero in (([0.5], [0]), ([1, 0.5, 0.25, 2, 1], [0] * 5)):
        def nibbles(*shape, scale=scale, zero=zero):
            return Nibbles(integers("int8", *shape, low=-8, high=7), scale, zero, run=False)

        o, why = {**STRIDE, **SAME, "act": 1}, f"int4 weights of {len(scale)} scales"
        image = Quant(integers("int8", 1, 5, 4, 3), 0.25, 3)
        case(why, "CONV_2D", [image, nibbles(5, 3, 3, 3), None], o, Grid("int8", 2.0, -4))
        case(why, "FULLY_CONNECTED", [Quant(integers("int8", 3, 7), 0.25, 3), nibbles(5, 7), None], {"act": 0}, Grid("int8", 1.0, 2))
        case(why, "DEQUANTIZE", [nibbles(5, 3)], out="f4")


class Given:
    """What an output is, integer by integer, and its scale."""

    def __init__(self, values, scale, zero=0):
        self.values, self.scale, self.zero = values, scale, zero

    def quantize(self, _):
        return self.values


def add_comparisons():
    """Quantized operands, one of which is coarser than the units of 2^-8 that they are compared in, and one finer."""
    rng = np.random.default_rng(21)
    pairs = [(dtype, op) for dtype in ("int8", "uint8") for op in fixed_bytes.COMPARE] + [("int16", "EQUAL"), ("int16", "NOT_EQUAL")]
    for dtype, op in pairs:
        info, middle = np.iinfo(dtype), 128 if dtype == "uint8" else 0
        for scale, other in ((0.0123, 0.0071), (0.0123, 0.0123), (0.0009, 0.0011), (0.7, 0.0471), (0.5, 0.25)):
            zeros = (0, 0) if dtype == "int16" else (middle - 7, middle + 19)
            x, y = (Quant(rng.integers(info.min, info.max, (6, 256), dtype, endpoint=True), s, z) for s, z in zip((scale, other), zeros))
            # Next to equal ones, and equal ones.
            near = np.clip(np.rint((x.values[:4].astype("f8") - x.zero) * scale / other) + y.zero + rng.integers(-2, 3, (4, 256)), info.min, info.max)
            y.values[:4] = near.astype(dtype)
            case(f"{dtype} {scale} {other}", op, [x, y], out=None, want=fixed_bytes.compare(op, x, y))
        row = Quant(y.values[:1], y.scale, y.zero, run=False)
        case(f"{dtype} with a row", op, [x, row], out=None, want=fixed_bytes.compare(op, x, row))
    # Real numbers where a scale is not below 1; the integers of int16.
    x, y = Quant(np.full((4, 40), 3, "i1"), 1.0, 3), Quant(rng.integers(-4, 10, (4, 40), "i1"), 0.0011, 3)
    case("int8 of a scale of 1", "LESS", [x, y], want=x.real() < y.real())
    x, y = (Quant(rng.integers(-2**15, 2**15, (4, 40), "i2"), scale) for scale in (0.5, 0.0071))
    y.values[0] = x.values[0]
    assert (x.real() < y.real()).sum() != (x.values < y.values).sum()
    for op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        case("int16 of two scales", op, [x, y], want=fixed_bytes.COMPARE[op](x.values, y.values))


def add_int16():
    """Scales that are no powers of two: rounding in fixed point decides many elements."""
    s, t, u = 0.0123, 0.0071, 0.0149
    x, y = integers("int16", 3, 200), integers("int16", 3, 200)
    x[0, :8] = [-32768, 32767, 1, -1, 0, 2, -2, 3]
    for act in (0, 1, 2, 3):
        case(f"fixed point act {act}", "ADD", [Quant(x, s), Quant(y, t)], {"act": act}, Given(fixed.add(x, y, (s, t, u), act), u))
    case("fixed point", "SUB", [Quant(x, s), Quant(y, t)], {"act": 0}, Given(fixed.add(x, y, (s, t, u), 0, -1), u))
    case("fixed point of one row", "ADD", [Quant(x, s), Quant(y[:1], t, run=False)], {"act": 0}, Given(fixed.add(x, y[:1] + 0 * x, (s, t, u)), u))
    for act in (0, 3):
        case(f"fixed point act {act}", "MUL", [Quant(x, s), Quant(y, t)], {"act": act}, Given(fixed.mul(x, y, (s, t, 9.7), act), 9.7))
    for out in (u, 0.0061):
        case(f"fixed point {out}", "LEAKY_RELU", [Quant(x, s)], {"alpha": 0.3}, Given(fixed.leaky_relu(x, 0.3, s, out), out))
    for out in (s, u, 0.0061, 0.00017):
        case(f"fixed point {out}", "RELU", [Quant(x, s)], None, Given(fixed.relu(x, s, out, 1), out))
        case(f"fixed point {out}", "RELU6", [Quant(x, s)], None, Given(fixed.relu(x, s, out, 3), out))
        case(f"fixed point {out}", "ABS", [Quant(x, s)], None, Given(fixed.absolute(x, s, out), out))
    # 6 is halfway between two integers, and is bounded by the one that is farther from 0.
    case("fixed point 12 / 4097", "RELU6", [Quant(x, 12 / 4097)], None, Given(fixed.relu(x, 12 / 4097, 12 / 4097, 3), 12 / 4097))
    slopes, one = np.random.default_rng(17).integers(-128, 127, 200, "i1", endpoint=True), np.full((1, 1), -113, "i1")
    for zero, out in ((0, u), (-7, 0.0061), (100, 3.7)):
        case(f"fixed point {zero}", "PRELU", [Quant(x, s), Quant(slopes, t, zero, run=False)], None, Given(fixed.prelu(x, slopes, zero, (s, t, out)), out))
    case("fixed point of one slope", "PRELU", [Quant(x, s), Quant(one, t, 3)], None, Given(fixed.prelu(x, one, 3, (s, t, u)), u))
    for out in (u, 0.6, 9.7, 333.0):
        case(f"fixed point {out}", "SQUARED_DIFFERENCE", [Quant(x, s), Quant(y, t)], None, Given(fixed.squared_difference(x, y, (s, t, out)), out))
    case("fixed point of one row", "SQUARED_DIFFERENCE", [Quant(x, s), Quant(y[:1], u, run=False)], None, Given(fixed.squared_difference(x, y[:1], (s, u, 4.0)), 4.0))
    case("fixed point", "QUANTIZE", [Quant(x, s)], None, Given(fixed.requantize(x, s, 0.005), 0.005))
    case("fixed point to int32", "QUANTIZE", [Quant(x, s)], None, Given(fixed.requantize(x, s, 1e-6, dtype="int32"), 1e-6))
    case("fixed point to int8", "QUANTIZE", [Quant(x, s)], None, Given(fixed.requantize(x, s, 2.1, 0, 17, "int8"), 2.1, 17))
    z = integers("int8", 3, 90)
    case("fixed point from int8", "QUANTIZE", [Quant(z, s, -9)], None, Given(fixed.requantize(z, s, 0.0003, -9), 0.0003))
    for bias, act in ((None, 0), ("i8", 0), ("i4", 3)):
        numbers = None if bias is None else RNG.integers(-2**20, 2**20, 6).astype(bias)
        image, w = integers("int16", 2, 7, 6, 4), integers("int8", 6, 3, 2, 4, low=-127)
        scales = np.float32(RNG.uniform(0.001, 0.003, 6))
        options = {**SAME, "stride_h": 2, "stride_w": 1, "act": act, "dilation_h": 1, "dilation_w": 2}
        sums = None if bias is None else Quant(numbers, s * scales, run=False)
        case(f"fixed point bias {bias}", "CONV_2D", [Quant(image, s), Quant(w, scales, run=False), sums], options,
             Given(fixed.product("CONV_2D", [image, w, numbers], options, s, scales, 0.05), 0.05))
        w = integers("int8", 1, 3, 3, 8, low=-127)
        scales = np.float32(RNG.uniform(0.001, 0.003, 8))
        numbers = None if bias is None else RNG.integers(-2**20, 2**20, 8).astype(bias)
        sums = None if bias is None else Quant(numbers, s * scales, run=False)
        options = {**VALID, **STRIDE, "multiplier": 2, "act": act}
        case(f"fixed point bias {bias}", "DEPTHWISE_CONV_2D", [Quant(image, s), Quant(w, scales, axis=3, run=False), sums], options,
             Given(fixed.product("DEPTHWISE_CONV_2D", [image, w, numbers], options, s, scales, 0.05), 0.05))
        for scale in (0.0017, np.float32(RNG.uniform(0.001, 0.003, 5))):
            rows, w = integers("int16", 2, 3, 40), integers("int8", 5, 40, low=-127)
            numbers = None if bias is None else RNG.integers(-2**20, 2**20, 5).astype(bias)
            sums = None if bias is None else Quant(numbers, s * scale, run=False)
            options = {"act": act, "keep_num_dims": int(act > 0)}
            case(f"fixed point bias {bias} of {np.size(scale)}", "FULLY_CONNECTED", [Quant(rows, s), Quant(w, scale, run=False), sums], options,
                 Given(fixed.product("FULLY_CONNECTED", [rows, w, numbers], options, s, scale, 0.05, np.ndim(scale) == 0), 0.05))
    image, w, numbers = integers("int16", 1, 4, 3, 5), integers("int8", 2, 3, 2, 5, low=-127), RNG.integers(-2**33, 2**33, 2)
    scales, options = np.float32([0.002, 0.0013]), {**SAME, "stride_h": 2, "stride_w": 2, "act": 0}
    case("fixed point", "TRANSPOSE_CONV", [i32(1, 8, 6, 2), Quant(w, scales, run=False), Quant(image, s), Quant(numbers, s * scales, run=False)],
         options, Given(fixed.product("TRANSPOSE_CONV", [i32(1, 8, 6, 2), w, image, numbers], options, s, scales, 0.05), 0.05))


def add_int16_functions():
    """LOGISTIC, TANH, SOFTMAX, MEAN, SUM, AVERAGE_POOL_2D and BATCH_MATMUL, to the bit, with numbers of their own."""
    rng = np.random.default_rng(16)

    def numbers16(*shape, low=-2**15, high=2**15 - 1):
        return rng.integers(low, high, shape, "i2", endpoint=True)

    every = np.arange(-2**15, 2**15).astype("i2").reshape(64, 1024)
    for scale in (2.0 ** -12, 2.0 ** -11, 2.0 ** -10, 2.0 ** -13, 2.0 ** -12 * 1.0005, 2.0 ** -11 * 1.0006, 0.00123, 0.0371, 1e-6, 4e-7, 1e-9, 0.9, 3.1):
        for op, function in (("LOGISTIC", fixed.logistic), ("TANH", fixed.tanh)):
            case(f"of int16 {scale:.9g}", op, [Quant(every, scale)], None, Given(function(every, scale), 2.0 ** -15))
    positive = np.maximum(every, 0)
    for scale, out in ((2.0 ** -12, 2.0 ** -12), (0.00037, 0.0011), (0.002161872, 1.82e26), (1e-6, 3.1e-5)):
        case(f"of int16 {scale:.9g}", "EXP", [Quant(every, scale)], None, Given(fixed.on_float_lines(every, scale, out, fixed.exp_of), out))
    case("of int16 past the range of floats", "EXP", [Quant(every, 0.5)], None, Grid("int16", 0.25), want=np.exp(np.minimum(every / 2, 99)))
    # Of the last one the first number is as far as can be from that of 0, and the difference wraps.
    for scale, out in ((0.00037, 0.00031), (2.0 ** -7, 2.0 ** -12), (1e-7, 0.0007), (0.0031, 7e-5), (0.5, 0.0001)):
        case(f"of int16 {scale:.9g}", "LOG", [Quant(every, scale)], None, Given(fixed.on_float_lines(every, scale, out, fixed.log_of), out))
    for scale, out in ((0.00037, 0.0031), (2.0 ** -7, 2.0 ** -12), (1e-7, 0.9), (0.9, 1e-5)):
        case(f"of int16 {scale:.9g}", "RSQRT", [Quant(positive, scale)], None, Given(fixed.on_float_lines(positive, scale, out, fixed.rsqrt_of), out))
    for scale, out in ((0.00037, 0.000107), (2.0 ** -7, 2.0 ** -12), (1e-7, 0.9), (0.9, 0.0053)):
        case(f"of int16 {scale:.9g}", "SQRT", [Quant(positive, scale)], None, Given(fixed.sqrt(positive, scale, out), out))
    for scale, out in ((2.0 ** -12, 2.0 ** -12), (0.00037, 0.00031), (0.0031, 0.0021), (0.000047, 0.00002)):
        for is_tanh, function in enumerate((fixed.gelu_of, fixed.gelu_tanh_of)):
            case(f"of int16 {scale:.9g} {is_tanh}", "GELU", [Quant(every, scale)], {"approximate": is_tanh}, Given(fixed.on_float_lines(every, scale, out, function), out))
    for scale, beta, depth in ((2.0 ** -12, 1, 7), (0.00031, 1, 40), (0.00031, 0.5, 513), (0.02, 1, 1), (1e-7, 1, 3000), (0.7, 2, 12)):
        x = numbers16(5, depth)
        x[0], x[1, ::2], x[1, 1::2], x[2] = 5, -2**15, 2**15 - 1, numbers16(depth, low=-30, high=30)
        case(f"of int16 {scale:.9g} {beta} {depth}", "SOFTMAX", [Quant(x, scale)], {"beta": beta}, Given(fixed.softmax(x, scale, beta), 2.0 ** -15))
    # Rows whose sums are next to powers of two.
    x = np.full((33, 32), -2**15, "i2")
    for i in range(33):
        x[i, :max(i, 1)] = 7
    case("of int16 of equal ones", "SOFTMAX", [Quant(x, 0.01)], {"beta": 1}, Given(fixed.softmax(x, 0.01, 1), 2.0 ** -15))
    extremes = np.where(rng.integers(0, 2, (2, 3, 5, 8)), 2**15 - 1, -2**15).astype("i2")
    for name, x in (("random", numbers16(2, 3, 5, 8)), ("small", numbers16(2, 3, 5, 8, low=-9, high=9)), ("extreme", extremes)):
        for op in ("MEAN", "SUM"):
            for axes, keep, scale, out in (((1, 2), 1, 0.3, 0.3), ((-1,), 0, 0.3, 0.011), ((0, 3, -1), 0, 0.3, 7.3), ((0, 1, 2, 3), 1, 0.01, 0.3),
                                           ((2,), 0, 0.3, 1e-5), ((1,), 0, 1e-9, 0.9), ((0, 1, 2, 3), 0, 1e-9, 0.9)):
                want = fixed.reduction(x, axes, keep, scale, out, op == "MEAN")
                case(f"of int16 {name} {axes} {scale} {out}", op, [Quant(x, scale), i32(*axes)], {"keep_dims": keep}, Given(want, out))
        for axes, keep, scale, out in (((-1,), 0, 0.00031, 0.00017), ((1, 2), 1, 0.0021, 1e-12), ((2, 1), 0, 0.0021, 1e-10), ((0, 3), 1, 0.0003, 7e-5), ((0, 2), 0, 3e-5, 3e-5),
                                       ((0, 1, 2), 0, 0.0004, 1e-9), ((0, -1), 0, 0.0001, 1.0)):
            want = fixed.product_along(x, axes, keep, scale, out)
            case(f"of int16 {name} {axes} {scale} {out}", "REDUCE_PROD", [Quant(x, scale), i32(*axes)], {"keep_dims": keep}, Given(want, out))
    x = numbers16(400, 1)
    case("of int16 of one", "REDUCE_PROD", [Quant(x, 0.0123), i32(1)], {"keep_dims": 0}, Given(fixed.product_along(x, (1,), 0, 0.0123, 0.0149), 0.0149))
    x = numbers16(400, 2)
    case("of int16 of two", "REDUCE_PROD", [Quant(x, 0.0123), i32(1)], {"keep_dims": 1}, Given(fixed.product_along(x, (1,), 1, 0.0123, 9.7), 9.7))
    for out in (0.31, 1e-5):
        x = rng.choice(np.array([-113, -57, 41, 97], "i2"), (6, 64))
        case(f"of int16 of 64 {out}", "REDUCE_PROD", [Quant(x, 0.0151), i32(1)], {"keep_dims": 0}, Given(fixed.product_along(x, (1,), 0, 0.0151, out), out))
    # More factors, and a factor that fixed point does not have, go through real numbers.
    case("of int16 of 65", "REDUCE_PROD", [Quant(np.where(np.arange(130).reshape(2, 65) % 3, -2, 2).astype("i2"), 0.5), i32(1)], {"keep_dims": 0}, Grid("int16", 0.25))
    case("of int16 to a fine scale", "REDUCE_PROD", [Quant(numbers16(40, 1, low=-3, high=3), 1.0), i32(1)], {"keep_dims": 0}, Grid("int16", 2.0 ** -9))
    x, y = numbers16(64, 200), numbers16(64, 200)
    x[:6], y[3:9] = numbers16(6, 200, low=-9, high=9), numbers16(6, 200, low=-40, high=40)
    x[10, ::3], x[10, 1::3], x[10, 2::3] = -2**15, 2**15 - 1, 0
    x[11, :32] = [2**i for i in range(15)] + [-2**i for i in range(16)] + [1]
    y[11, :32] = [1] * 16 + [-1] * 16
    x[12, :31], y[13, :31] = x[11, :31], x[11, :31]
    y[y == 0] = -2**15
    for act, scales in ((0, (0.0123, 0.0071, 0.00031)), (1, (0.0123, 0.0071, 0.0061)), (0, (0.00031, 0.00029, 0.000123)), (3, (0.5, 0.031, 0.0017)), (2, (0.3, 0.3, 2.0 ** -12)),
                        (0, (2.0 ** -15, 2.0 ** -15, 2.0 ** -15)), (0, (1e-5, 0.9, 0.7)), (0, (0.7, 1e-4, 2.1))):
        case(f"of int16 {scales} act {act}", "DIV", [Quant(x, scales[0]), Quant(y, scales[1])], {"act": act}, Given(fixed.quotient(x, y, scales, act), scales[2]))
    case("of int16 by a column", "DIV", [Quant(x, 0.0123), Quant(y[:, :1], 0.0071, run=False)], {"act": 0}, Given(fixed.quotient(x, y[:, :1], (0.0123, 0.0071, 0.31)), 0.31))
    # Quotients that the last bit of a reciprocal decides.
    a, b, scales = np.array([-32476, 8091, -26103, -29530, -4176, -29391], "i2"), np.array([7433, 30582, 26847, 7233, 25631, 20651], "i2"), (0.0123, 0.0071, 0.00031)
    case("of int16 next to the middle", "DIV", [Quant(a, scales[0]), Quant(b, scales[1])], {"act": 0}, Given(fixed.quotient(a, b, scales), scales[2]))
    # And those of negative powers of two, which have a bit less than positive ones.
    a, b, scales = np.array([-2**14, -2**15, -2**14, -2**15], "i2"), np.array([231, 462, 7953, 15906], "i2"), (0.007008866872638464, 0.0029888947028666735, 0.008167166262865067)
    case("of int16 of negative powers of two", "DIV", [Quant(a, scales[0]), Quant(b, scales[1])], {"act": 0}, Given(fixed.quotient(a, b, scales), scales[2]))
    sizes = np.concatenate([np.arange(1, 2**15), [-2**15]]).astype("i2")
    x = numbers16(2**15)
    case("of int16 by each number", "DIV", [Quant(x, 0.0123), Quant(sizes, 0.0071)], {"act": 0}, Given(fixed.quotient(x, sizes, (0.0123, 0.0071, 0.0011)), 0.0011))
    for h, w, size in ((3, 4, (6, 8)), (3, 4, (2, 3)), (5, 7, (5, 4)), (9, 9, (1, 1)), (1, 1, (3, 2)), (7, 5, (13, 31)), (20, 30, (7, 11))):
        for options in ({}, {"align_corners": 1}, {"half_pixel": 1}):
            image = numbers16(2, h, w, 3)
            image[0, :, :, 0] = rng.integers(-2, 3, (h, w))
            want = fixed.resize_bilinear(image, size, options)
            case(f"of int16 {h}x{w} to {size} {list(options)}", "RESIZE_BILINEAR", [Quant(image, 0.0123), i32(*size)], options, Given(want, 0.0123))
    image = numbers16(1, 2, 2, 1, low=-4, high=4)
    case("of int16 in another scale", "RESIZE_BILINEAR", [Quant(image, 0.5), i32(4, 4)], {}, Grid("int16", 0.125))
    # Scales whose factor in float is another one than in double, for many numbers, of which some are next to the middle of two.
    x, y, slopes = numbers16(30000), numbers16(30000), rng.integers(-128, 127, 30000, "i1", endpoint=True)
    scales = (0.0030849585, 0.0048615895, 0.002927589)
    case("of int16 and a factor in float", "PRELU", [Quant(x, scales[0]), Quant(slopes, scales[1])], None, Given(fixed.prelu(x, slopes, 0, scales), scales[2]))
    scales = (0.011069877, 0.0010753274, 4.3556676)
    case("of int16 and a factor in double", "SQUARED_DIFFERENCE", [Quant(x, scales[0]), Quant(y, scales[1])], None, Given(fixed.squared_difference(x, y, scales), scales[2]))
    # Many sums, of which some are so near the middle of two integers that the factor's last bits decide.
    x = numbers16(12000, 2)
    case("of int16 of many", "SUM", [Quant(x, 0.27583), i32(1)], {"keep_dims": 0}, Given(fixed.reduction(x, (1,), 0, 0.27583, 0.55131, False), 0.55131))
    case("of int16 of many", "MEAN", [Quant(x, 0.26477), i32(1)], {"keep_dims": 0}, Given(fixed.reduction(x, (1,), 0, 0.26477, 0.261795, True), 0.261795))
    # Means of large numbers next to the middle of two.
    image, o = numbers16(1, 60, 40, 2, low=32000), {**VALID, **STRIDE, "filter_h": 7, "filter_w": 9, "act": 0}
    image[..., 1] *= -1
    case("of large int16", "AVERAGE_POOL_2D", [Quant(image, 0.3)], o, Given(fixed.average_pool(image, o), 0.3))
    for h, w, stride, padding, act in ((2, 2, 2, VALID, 0), (3, 3, 1, SAME, 1), (2, 4, 1, SAME, 2), (8, 6, 1, VALID, 3), (40, 48, 1, VALID, 0), (1, 1, 1, VALID, 3), (3, 3, 1, SAME, 0),
                                         (4, 4, 1, VALID, 0), (2, 8, 1, SAME, 0), (17, 1, 1, VALID, 0)):
        image, o = numbers16(2, max(9, h), max(9, w), 3), {**padding, "stride_h": stride, "stride_w": stride, "filter_h": h, "filter_w": w, "act": act}
        image[0, :2, :2] = [[[0] * 3, [1] * 3], [[1] * 3, [0] * 3]]
        image[1, :2, :2] = [[[0] * 3, [-1] * 3], [[-1] * 3, [-32768, 32767, -32768]]]
        want = fixed.bounded(fixed.average_pool(image, o), act, 0.00047).astype("i2")
        case(f"of int16 {h}x{w} act {act}", "AVERAGE_POOL_2D", [Quant(image, 0.00047)], o, Given(want, 0.00047))
    for adj_x, adj_y, right, out in ((0, 0, "int16", 0.9), (1, 0, "int16", 3.7), (0, 1, "int8", 0.01), (1, 1, "int16", 0.002)):
        x, info = numbers16(2, 1, 4, 6), np.iinfo(right)
        y = rng.integers(info.min, info.max, (3, 6, 5), right, endpoint=True)
        x[0, 0, 0], y[0, :, 0] = -2**15, info.min
        x, y = np.swapaxes(x, -1, -2) if adj_x else x, np.swapaxes(y, -1, -2) if adj_y else y
        o, scales = {"adj_x": adj_x, "adj_y": adj_y}, (0.0007, 0.013, out)
        case(f"of int16 and {right} {adj_x} {adj_y}", "BATCH_MATMUL", [Quant(np.ascontiguousarray(x), scales[0]), Quant(np.ascontiguousarray(y), scales[1])], o,
             Given(fixed.matmul(x, y, o, scales), out))
    # Scales whose product in float, over the third in double, has another multiplier of 16 bits than in other precisions.
    x, y, o, scales = numbers16(40, 3), numbers16(3, 40), {"adj_x": 0, "adj_y": 0}, (0.000781, 0.012589, 0.620838)
    case("of int16 and a factor in float", "BATCH_MATMUL", [Quant(x, scales[0]), Quant(y, scales[1])], o, Given(fixed.matmul(x, y, o, scales), scales[2]))


def add_dynamic_range():
    """Weights of int8, inputs of floats: each batch is rounded to steps of its own range."""
    x = Run((3, 5, 5, 4), -3, 9)
    o = {**STRIDE, **SAME, "act": 1}
    for why, scale in (("of one scale", [0.0625]), ("of several scales", [2.0 ** -i for i in range(3, 9)])):
        w = Quant(integers("int8", 6, 3, 3, 4, low=-127), scale, np.zeros(len(scale), int), run=False)
        want = FORMULAS["CONV_2D"]([dynamic(x.array, len(scale) == 1), w.real(), None], o)
        case(f"dynamic {why}", "CONV_2D", [x, w, None], o, want=want)
    w = Quant(integers("int8", 1, 3, 3, 4, low=-127), [0.5, 0.25, 2, 1], np.zeros(4, int), 3, run=False)
    o = {**o, "multiplier": 1}
    case("dynamic", "DEPTHWISE_CONV_2D", [x, w, None], o,
         want=FORMULAS["DEPTHWISE_CONV_2D"]([dynamic(x.array, False), w.real(), None], o))
    rows, bias = Run((3, 9), -5, 5), f32(4)
    rows.array[1] = 0  # has no range
    w = Quant(integers("int8", 4, 9, low=-127), 0.25, 0, run=False)
    for is_symmetric in (True, False):
        with np.errstate(invalid="ignore", divide="ignore"):
            real = np.nan_to_num(dynamic(rows.array, is_symmetric))
        options = {"act": 0, "keep_num_dims": 0, "asymmetric": int(not is_symmetric)}
        case(f"dynamic symmetric {is_symmetric}", "FULLY_CONNECTED", [rows, w, bias], options,
             want=FORMULAS["FULLY_CONNECTED"]([real, w.real(), bias], options))


def whole(why, tensors, ops, inputs, outputs, others, want, rtol=1e-5, atol=1e-5):
    """A model of several subgraphs. `inputs`: {name: array}; `want`: the outputs, computed here."""
    name = re.sub(r"[^a-z0-9]+", "_", f"{ops[-1][0]} {why}".lower().replace("-", "minus ")).strip("_")
    assert name not in CASES, name
    is_exact = all(y.dtype.kind in "biu" for y in want)
    CASES[name] = (tf.model(tensors, ops, list(inputs), outputs, others), list(inputs.values()), want,
                   0 if is_exact else rtol, 0 if is_exact else atol)


def numbers(*names, shape=(2, 3)):
    return [tf.tensor(name, "float32", shape) for name in names]


def add_branches():
    x, w, k = f32(2, 3), f32(3, 3), f32(2, 3)
    graphs = {
        "matrix": (([*numbers("x", "y"), tf.constant("w", w)], [("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 1})], ["x"], ["y"]),
                   np.maximum(x @ w.T, 0)),
        "negative": ((numbers("x", "y"), [("NEG", ["x"], ["y"], None)], ["x"], ["y"]), -x),
        "itself": ((numbers("x"), [], ["x"], ["x"]), x),
        "constant": (([*numbers("x"), tf.constant("k", k)], [], ["x"], ["k"]), k)}
    for yes, no in (("matrix", "negative"), ("itself", "matrix"), ("constant", "itself"), ("negative", "negative")):
        for flag in (True, False):
            whole(f"{flag} {yes} or {no}", [tf.tensor("c", "bool"), *numbers("x", "y")], [("IF", ["c", "x"], ["y"], {"then": 1, "else": 2})],
                  {"c": np.array(flag), "x": x}, ["y"], [graphs[yes][0], graphs[no][0]], [graphs[yes if flag else no][1]])
    # A composite is what its subgraph does: of one, of two inside each other, and of integers.
    inner = ([*numbers("a", "b")], [("STABLEHLO_COMPOSITE", ["a"], ["b"], {"name": "inner", "subgraph": 2})], ["a"], ["b"])
    whole("of a matrix", numbers("x", "y"), [("STABLEHLO_COMPOSITE", ["x"], ["y"], {"name": "matrix", "subgraph": 1})], {"x": x}, ["y"],
          [graphs["matrix"][0]], [graphs["matrix"][1]])
    whole("twice", numbers("x", "y", "z"), [("STABLEHLO_COMPOSITE", ["x"], ["y"], {"subgraph": 1}), ("STABLEHLO_COMPOSITE", ["y"], ["z"], {"subgraph": 2})],
          {"x": x}, ["z"], [inner, graphs["negative"][0]], [x])
    both = ([*numbers("a", "b", "c", "d")], [("SUB", ["a", "b"], ["c"], {"act": 0}), ("MUL", ["a", "b"], ["d"], {"act": 0})], ["a", "b"], ["d", "c"])
    whole("of two results", numbers("x", "k", "y", "z"), [("STABLEHLO_COMPOSITE", ["x", "k"], ["y", "z"], {"subgraph": 1})], {"x": x, "k": k}, ["z", "y"],
          [both], [x - k, x * k])
    # One tensor as two operands, and two results that are one.
    twice = (numbers("a", "b", "s"), [("SUB", ["a", "b"], ["s"], {"act": 0})], ["a", "b"], ["s", "s"])
    swap = (numbers("a", "b"), [], ["a", "b"], ["b", "a"])
    for flag in (True, False):
        whole(f"{flag} of one tensor", [tf.tensor("c", "bool"), *numbers("x", "y", "z")], [("IF", ["c", "x", "x"], ["y", "z"], {"then": 1, "else": 2})],
              {"c": np.array(flag), "x": x}, ["y", "z"], [twice, swap], [x - x if flag else x] * 2)
        whole(f"{flag} of two tensors", [tf.tensor("c", "bool"), *numbers("x", "k", "y", "z")],
              [("IF", ["c", "x", "k"], ["y", "z"], {"then": 1, "else": 2})], {"c": np.array(flag), "x": x, "k": k}, ["y", "z"],
              [twice, swap], [x - k, x - k] if flag else [k, x])
    # A computed condition, an operator in the branch that has branches, and subgraphs that two operators run.
    inner = ([tf.tensor("c", "bool", (1,)), *numbers("x", "y")], [("IF", ["c", "x"], ["y"], {"then": 2, "else": 3})], ["c", "x"], ["y"])
    for sign in (1, -1):
        z = np.abs(x) * np.float32(sign)
        half = np.where(sign < 0, -z, z) / 2 + z
        tensors = [*numbers("x", "t", "u", "v", "y"), tf.constant("axes", i32(0, 1)), tf.constant("zero", np.float32([0])),
                   *numbers("m", shape=(1, 1)), tf.constant("one", i32(1)), *numbers("n", shape=(1,)), tf.tensor("c", "bool", (1,)),
                   tf.constant("half", np.float32(0.5))]
        ops = [("REDUCE_MIN", ["x", "axes"], ["m"], {"keep_dims": 1}), ("RESHAPE", ["m", "one"], ["n"], None), ("LESS", ["n", "zero"], ["c"], None),
               ("IF", ["c", "c", "x"], ["t"], {"then": 1, "else": 3}), ("MUL", ["t", "half"], ["u"], {"act": 0}),
               ("ADD", ["u", "x"], ["v"], {"act": 0})]
        ops[3] = ("IF", ["c", "x"], ["t"], {"then": 2, "else": 3})
        ops.append(("IF", ["c", "c", "v"], ["y"], {"then": 1, "else": 4}))
        other = ([tf.tensor("c", "bool", (1,)), *numbers("x")], [], ["c", "x"], ["x"])
        whole(f"sign {sign} computed and nested", tensors, ops, {"x": z}, ["t", "y"],
              [inner, graphs["negative"][0], graphs["itself"][0], other], [-z if sign < 0 else z, -half if sign < 0 else half])
    q = Quant(integers("int8", 4, 8), 0.25, 3)
    v = Quant(integers("int8", 5, 8, low=-127), [0.5, 0.25, 1, 2, 0.5], [0] * 5)
    product = Grid("int8", 8.0, -4).quantize(np.maximum(q.real() @ v.real().T, 0))
    of_bytes = ([tf.tensor("x", "int8", (4, 8), scale=0.25, zero=3), tf.constant("w", v.values, scale=v.scale, zero=v.zero),
                 tf.tensor("y", "int8", (4, 5), scale=8.0, zero=-4)], [("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 1})], ["x"], ["y"])
    fixed_bytes = ([of_bytes[0][0], tf.constant("k", product[::-1].copy(), scale=8.0, zero=-4)], [], ["x"], ["k"])
    for flag in (True, False):
        whole(f"{flag} of bytes", [tf.tensor("c", "bool"), of_bytes[0][0], of_bytes[0][2]], [("IF", ["c", "x"], ["y"], {"then": 1, "else": 2})],
              {"c": np.array(flag), "x": q.values}, ["y"], [of_bytes, fixed_bytes], [product if flag else product[::-1].copy()])


def add_loops():
    """Each is computed here by a loop of Python."""
    def integer(*names):
        return [tf.tensor(name, "int32") for name in names]

    below = ([*integer("n"), *numbers("x"), tf.constant("limit", np.int32(4)), tf.tensor("c", "bool")], [("LESS", ["n", "limit"], ["c"], None)],
             ["n", "x"], ["c"])
    w = f32(3, 3, low=-1, high=1)
    step = ([*integer("n", "m"), *numbers("x", "y"), tf.constant("one", np.int32(1)), tf.constant("w", w)],
            [("ADD", ["n", "one"], ["m"], {"act": 0}), ("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 2})], ["n", "x"], ["m", "y"])
    for first in (0, 3, 4, 9):
        x = f32(2, 3)
        n, y = first, x
        while n < 4:
            n, y = n + 1, np.clip(y @ w.T, -1, 1)
        whole(f"from {first}", [*integer("n", "m"), *numbers("x", "y")], [("WHILE", ["n", "x"], ["m", "y"], {"cond": 1, "body": 2})],
              {"n": np.int32(first), "x": x}, ["m", "y"], [below, step], [np.int32(n), y.astype("f4")])
    # Inputs of subgraphs for which the file has numbers, too: those of the run count.
    first = tf.constant("x", i32(3, 2)), tf.constant("n", np.int32(9))
    turned = ([*integer("m"), tf.constant("one", np.int32(1)), tf.tensor("y", "int32", (2,)), *first, tf.constant("by", i32(1, -1))],
              [("ADD", ["n", "one"], ["m"], {"act": 0}), ("MUL", ["x", "by"], ["y"], {"act": 0})], ["n", "x"], ["m", "y"])
    few = ([*first, tf.constant("limit", np.int32(3)), tf.tensor("c", "bool")], [("LESS", ["n", "limit"], ["c"], None)], ["n", "x"], ["c"])
    shape = ([*first[:1], *numbers("z", "y", shape=(2, 3))], [("RESHAPE", ["z", "x"], ["y"], None)], ["x", "z"], ["y"])
    whole("of inputs with numbers", [*integer("n", "m"), tf.tensor("x", "int32", (2,)), tf.tensor("y", "int32", (2,))],
          [("WHILE", ["n", "x"], ["m", "y"], {"cond": 1, "body": 2})], {"n": np.int32(0), "x": i32(5, 7)}, ["m", "y"], [few, turned],
          [np.int32(3), i32(5, -7)])
    z = f32(2, 3)
    whole("to a shape of the run", [tf.tensor("c", "bool"), tf.tensor("x", "int32", (2,)), *numbers("z", "y")],
          [("IF", ["c", "x", "z"], ["y"], {"then": 1, "else": 1})], {"c": np.array(True), "x": i32(2, 3), "z": z}, ["y"], [shape], [z])
    # Results that change places: numbers of Fibonacci. The condition is a list of one.
    positive = ([tf.tensor("n", "int32", (1,)), *integer("a", "b"), tf.constant("zero", i32(0)), tf.tensor("c", "bool", (1,))],
                [("GREATER", ["n", "zero"], ["c"], None)], ["a", "b", "n"], ["c"])
    add = ([tf.tensor("n", "int32", (1,)), tf.tensor("m", "int32", (1,)), *integer("a", "b", "s"), tf.constant("one", i32(1))],
           [("ADD", ["a", "b"], ["s"], {"act": 0}), ("SUB", ["n", "one"], ["m"], {"act": 0})], ["a", "b", "n"], ["b", "s", "m"])
    top = [tf.tensor("n", "int32", (1,)), tf.tensor("m", "int32", (1,)), *integer("a", "b", "y", "z")]
    for count, y, z in ((0, 0, 1), (1, 1, 1), (10, 55, 89)):
        whole(f"fibonacci {count}", top, [("WHILE", ["a", "b", "n"], ["y", "z", "m"], {"cond": 1, "body": 2})],
              {"a": np.int32(0), "b": np.int32(1), "n": i32(count)}, ["y", "z"], [positive, add], [np.int32(y), np.int32(z)])
    # A list that grows, of a size that the run decides.
    grown = {"shape": (1,), "signature": (-1,)}
    short = ([tf.tensor("x", "int32", **grown), tf.tensor("n", "int32", (1,)), tf.constant("limit", i32(6)), tf.tensor("c", "bool", (1,))],
             [("SHAPE", ["x"], ["n"], {"type": 2}), ("LESS", ["n", "limit"], ["c"], None)], ["x"], ["c"])
    longer = ([tf.tensor(name, "int32", **grown) for name in "xyz"] + [tf.constant("one", i32(1))],
              [("ADD", ["x", "one"], ["y"], {"act": 0}), ("CONCATENATION", ["x", "y"], ["z"], {"axis": 0})], ["x"], ["z"])
    for first in (i32(5), i32(1, 2, 3, 4), np.arange(7, dtype="i4")):
        y = first
        while len(y) < 6:
            y = np.concatenate([y, y + np.int32(1)])
        whole(f"grows from {len(first)}", [tf.tensor(name, "int32", first.shape, signature=(-1,)) for name in "xy"],
              [("WHILE", ["x"], ["y"], {"cond": 1, "body": 2})], {"x": first}, ["y"], [short, longer], [y])
    # A loop in a branch in a loop: the outer one has n passes, of which the odd ones double x until it is 100.
    small = ([*integer("x"), tf.constant("limit", np.int32(100)), tf.tensor("c", "bool")], [("LESS", ["x", "limit"], ["c"], None)], ["x"], ["c"])
    double = (integer("x", "y"), [("ADD", ["x", "x"], ["y"], {"act": 0})], ["x"], ["y"])
    doubled = (integer("x", "y"), [("WHILE", ["x"], ["y"], {"cond": 1, "body": 2})], ["x"], ["y"])
    less = ([*integer("x", "y"), tf.constant("by", np.int32(77))], [("SUB", ["x", "by"], ["y"], {"act": 0})], ["x"], ["y"])
    counted = ([*integer("n", "x"), tf.constant("zero", np.int32(0)), tf.tensor("c", "bool")], [("GREATER", ["n", "zero"], ["c"], None)], ["n", "x"], ["c"])
    chosen = ([*integer("n", "x", "m", "r", "y"), tf.constant("one", np.int32(1)), tf.constant("two", np.int32(2)), tf.tensor("odd", "bool")],
              [("FLOOR_MOD", ["n", "two"], ["r"], None), ("EQUAL", ["r", "one"], ["odd"], None),
               ("IF", ["odd", "x"], ["y"], {"then": 3, "else": 4}), ("SUB", ["n", "one"], ["m"], {"act": 0})], ["n", "x"], ["m", "y"])
    for count in (0, 1, 4, 7):
        n, y = count, 80
        while n > 0:
            if n % 2 == 1:
                while y < 100:
                    y += y
            else:
                y -= 77
            n -= 1
        whole(f"of branches of loops {count}", integer("n", "x", "m", "y"), [("WHILE", ["n", "x"], ["m", "y"], {"cond": 5, "body": 6})],
              {"n": np.int32(count), "x": np.int32(80)}, ["y"], [small, double, doubled, less, counted, chosen], [np.int32(y)])
    # Images, whose order of axes changes inside.
    taps, picture = f32(4, 3, 3, 4, low=-0.3, high=0.3), f32(1, 5, 4, 4)
    small_image = numbers("x", "y", shape=(1, 5, 4, 4))
    fewer = ([*integer("n"), small_image[0], tf.constant("limit", np.int32(2)), tf.tensor("c", "bool")], [("LESS", ["n", "limit"], ["c"], None)],
             ["n", "x"], ["c"])
    convolved = ([*integer("n", "m"), *small_image, tf.constant("one", np.int32(1)), tf.constant("w", taps)],
                 [("CONV_2D", ["x", "w", None], ["y"], {**STRIDE, **SAME, "act": 1}), ("ADD", ["n", "one"], ["m"], {"act": 0})],
                 ["n", "x"], ["m", "y"])
    y = picture
    for _ in range(2):
        y = FORMULAS["CONV_2D"]([y, taps, None], {**STRIDE, **SAME, "act": 1})
    whole("of convolutions", [*integer("n", "m"), *small_image], [("WHILE", ["n", "x"], ["m", "y"], {"cond": 1, "body": 2})],
          {"n": np.int32(0), "x": picture}, ["y"], [fewer, convolved], [y.astype("f4")])


def verify(folder, word, *roundings):
    """Cases whose name has `word`, as read, optimized, and through ONNX. The number of those that fail."""
    chosen = [name for name in CASES if word in name]
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        lines = []
        for name in chosen:
            model, inputs, outputs, rtol, atol = CASES[name]
            data = pathlib.Path(work, name, "test_data_set_0")
            data.mkdir(parents=True)
            (data.parent / "model.tflite").write_bytes(model)
            for kind, arrays in (("input", inputs), ("output", outputs)):
                for i, array in enumerate(arrays):
                    np.save(data / f"{kind}_{i}.npy", array)
            lines.append(f"{data.parent}/model.tflite\trtol={rtol}\tatol={atol}\n")
        listed = pathlib.Path(work, "cases.txt")
        listed.write_text("".join(lines))
        for how in (["--target", "ref", "--rules=none"], ["--target", "cpu"], ["--target", "cpu", "--through=onnx"]):
            done = subprocess.run([folder / "lightnet", "verify", *how, *roundings, "--summary", "--list", listed],
                                  capture_output=True, text=True, check=False, timeout=600)
            results = [line for line in done.stdout.splitlines() if line.startswith(("pass", "WRONG", "FAILED", "CRASH"))]
            bad = [line.replace(work, "") for line in results if not line.startswith("pass")]
            print(" ".join(how), f"{len(results) - len(bad)} of {len(chosen)}", *bad, sep="\n  ")
            failed += len(bad) + (len(results) != len(chosen))
            if len(results) != len(chosen):
                print(done.stdout[-1000:], done.stderr[-2000:])
    return failed


def main():
    for add in (add_elementwise, add_products, add_sums, add_moves, add_places, add_made, add_boxes, add_recurrent, add_types, add_quantized,
                add_comparisons, add_int16, add_dynamic_range, add_branches, add_loops, add_int16_functions):
        add()
    word = sys.argv[3] if sys.argv[2:3] == ["-k"] else ""
    sys.exit(verify(pathlib.Path(sys.argv[1]).resolve(), word) != 0)


if __name__ == "__main__":
    main()
