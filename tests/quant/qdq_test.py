#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX models against exact integers and doubles in NumPy, whether a rewrite fires or not.

Usage: qdq_test.py FOLDER-OF-THE-COMMANDS [sixth | all | CASE...]

A case is a model: dequantize, an operator, an activation, quantize, in a combination of types, scales and biases. Each
runs on `cpu`, on its generic kernels (with `all`) and on `ref`; no rewrite may be refused. What is expected is computed
here from the definition of ONNX, q = saturate(round(y / scale) + zero) with y in doubles, and nothing of LightNet. The
byte has to be that one. Where y / scale is so near to the middle of two integers that steps in float32 may end on
either side (`slack`, a bound on their error), either is right; cases have such elements by chance only, and few.

Without `all` a sample of the combinations runs, with `sixth` a larger one, and all cases with a name of their own.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")
EPS = 2.0 ** -24  # of float32

# ---- Types ----

# Name in ONNX's list of types, least and greatest integer.
TYPES = {"u8": (2, 0, 255), "s8": (3, -128, 127), "u16": (4, 0, 65535), "s16": (5, -32768, 32767),
         "u4": (21, 0, 15), "s4": (22, -8, 7), "f8": (17, -448, 448)}
NUMPY_OF = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2"}


def float8_values():
    """Finite numbers of FLOAT8E4M3FN by their bytes."""
    values = {}
    for byte in range(256):
        exponent, mantissa = byte >> 3 & 15, byte & 7
        if exponent == 15 and mantissa == 7:
            continue  # NaN
        number = mantissa * 2.0 ** -9 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7)
        values[byte] = -number if byte & 128 else number
    return values


FLOAT8 = float8_values()
BYTE_OF_FLOAT8 = {value: byte for byte, value in FLOAT8.items()}


def constant(name, q, kind):
    """TensorProto of integers, or of numbers of float8."""
    q = np.asarray(q)
    number, low, _ = TYPES[kind]
    if kind in NUMPY_OF:
        data = q.astype(NUMPY_OF[kind]).tobytes()
    elif kind == "f8":
        data = bytes(BYTE_OF_FLOAT8[value] for value in q.ravel().astype(float))
    else:
        nibbles = [int(value) & 15 for value in q.ravel()] + [0] * (q.size % 2)
        data = bytes(a | b << 4 for a, b in zip(nibbles[::2], nibbles[1::2]))
    return {1: list(q.shape), 2: number, 8: name, 9: data}


class Graph:
    def __init__(self, opset=21, floats="f4"):
        self.nodes, self.inputs, self.weights, self.feeds, self.count = [], [], [], [], 0
        self.opset, self.floats, self.has_microsoft = opset, floats, False

    def name(self):
        self.count += 1
        return "t%d" % self.count

    def number(self, array, dtype=None):
        name = self.name()
        self.weights.append(ow.tensor(np.asarray(array, dtype or self.floats), name))
        return name

    def quantized(self, q, kind, is_input=False):
        name = self.name()
        if not is_input:
            self.weights.append(constant(name, q, kind))
        elif kind in NUMPY_OF:
            self.inputs.append((name, ow.tensor_type(ow.NUMPY[NUMPY_OF[kind]], list(q.shape))))
            self.feeds.append(np.asarray(q, NUMPY_OF[kind]))
        else:  # NumPy has no such type: the numbers themselves, quantized
            self.inputs.append((name, ow.tensor_type(ow.NUMPY[self.floats], list(q.shape))))
            self.feeds.append(np.asarray(q, self.floats))
            return self.quantize(name, 1, 0, kind)
        return name

    def input(self, array):
        name = self.name()
        self.inputs.append((name, ow.tensor_type(ow.NUMPY[array.dtype.str[1:]], list(array.shape))))
        self.feeds.append(array)
        return name

    def op(self, optype, inputs, count=1, **attributes):
        outputs = [self.name() for _ in range(count)]
        self.nodes.append(ow.node(optype, inputs, outputs, **attributes))
        return outputs[0] if count == 1 else outputs

    def dequantize(self, q, scale, zero, kind, **attributes):
        return self.op("DequantizeLinear", [q, self.number(scale), self.quantized(zero, kind)], **attributes)

    def quantize(self, x, scale, zero, kind, **attributes):
        return self.op("QuantizeLinear", [x, self.number(scale), self.quantized(np.array(zero), kind)], **attributes)

    def model(self, output, number):
        graph = {1: self.nodes, 2: "g", 5: self.weights, 11: [{1: name, 2: kind} for name, kind in self.inputs],
                 12: [{1: output, 2: {1: {1: number, 2: {}}}}]}
        return ow.message({1: 10, 2: "test", 7: graph, 8: {1: "", 2: self.opset}})


# ---- What is expected ----

class Want:
    """y in doubles, and how far steps in float32 may be from it; `is_loose`: steps in float16, so that it is far."""

    def __init__(self, y, error, is_loose=False):
        self.y = np.asarray(y, float)
        self.error = np.broadcast_to(np.asarray(error, float), self.y.shape)
        self.is_loose = is_loose

    def then(self, function, lipschitz=1.1, approximation=0.0):
        """After a function whose slope has a bound, and which is computed with some error of its own."""
        y = function(self.y)
        own = approximation * (np.abs(self.y) + np.abs(y))
        return Want(y, lipschitz * self.error + 4 * EPS * np.abs(y) + own, self.is_loose)


def product(a, b, bias=0.0):
    """Of real matrices [..., M, K] and [..., K, N]."""
    y = a @ b + bias
    sums = np.abs(a) @ np.abs(b) + np.abs(bias)
    return Want(y, (a.shape[-1] + 8) * EPS * sums)


def convolution(x, w, bias, stride=1, pad=0, group=1, dilation=1):
    if dilation > 1:  # zeros between the weights
        spread = np.zeros(w.shape[:2] + tuple((size - 1) * dilation + 1 for size in w.shape[2:]))
        spread[:, :, ::dilation, ::dilation] = w
        w = spread
    n, _, height, width = x.shape
    out, in_group, kh, kw = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow_ = (height + 2 * pad - kh) // stride + 1, (width + 2 * pad - kw) // stride + 1
    y, sums = np.zeros((2, n, out, oh, ow_))
    for o in range(out):
        first = o // (out // group) * in_group
        for i in range(oh):
            for j in range(ow_):
                part = padded[:, first:first + in_group, i * stride:i * stride + kh, j * stride:j * stride + kw] * w[o]
                y[:, o, i, j] = part.sum((1, 2, 3))
                sums[:, o, i, j] = np.abs(part).sum((1, 2, 3))
    bias = np.asarray(bias, float).reshape(-1, 1, 1)
    return Want(y + bias, (in_group * kh * kw + 8) * EPS * (sums + np.abs(bias)))


def real(q, scale, zero, axis=None):
    """What integers are the quantized form of."""
    scale, zero = np.asarray(scale, "f4").astype(float), np.asarray(zero, float)
    if axis is not None and scale.ndim == 1:
        shape = [1] * np.ndim(q)
        shape[axis] = -1
        scale, zero = scale.reshape(shape), np.broadcast_to(zero, scale.shape).reshape(shape)
    return (np.asarray(q, float) - zero) * scale


FLOAT8_SORTED = np.array(sorted(FLOAT8.values()))


def nearest_float8(x):
    """Ties to the even mantissa."""
    x = np.clip(x, -448, 448)
    at = np.clip(np.searchsorted(FLOAT8_SORTED, x), 1, len(FLOAT8_SORTED) - 1)
    below, above = FLOAT8_SORTED[at - 1], FLOAT8_SORTED[at]
    is_even = np.vectorize(lambda value: BYTE_OF_FLOAT8[value] % 2 == 0)(above)
    return np.where((x - below > above - x) | ((x - below == above - x) & is_even), above, below)


def bounds(want, scale, zero, kind):
    """The least and the greatest integer that are right: one, but near the middle of two."""
    scale = float(np.float32(scale))
    v, slack = want.y / scale, want.error / abs(scale) + 2 * EPS * np.abs(want.y / scale)
    if kind == "f8":
        return nearest_float8(v - slack), nearest_float8(v + slack), v
    _, least, most = TYPES[kind]
    return (*[np.clip(np.rint(x) + zero, least, most) for x in (v - slack, v + slack)], v)


def check_quantized(got, want, scale, zero, kind):
    """None, or what is wrong."""
    low, high, v = bounds(want, scale, zero, kind)
    got = np.asarray(got, float)
    if got.shape != v.shape:
        return "shape %s instead of %s" % (got.shape, v.shape)
    if (low != high).mean() > 0.1 and not want.is_loose:
        return "the case proves little: %d of %d may be either" % ((low != high).sum(), low.size)
    wrong = (got < np.minimum(low, high)) | (got > np.maximum(low, high)) | np.isnan(got)
    if wrong.any():
        at = np.unravel_index(wrong.argmax(), wrong.shape)
        return "%d of %d wrong: [%s] is %g instead of %g (y / scale = %.9g)" % (
            wrong.sum(), wrong.size, ", ".join(map(str, at)), got[at], low[at], v[at])
    if v.size > 3 and np.ptp(low) == 0:
        return "the case proves little: all elements are %g" % low.flat[0]
    return None


# ---- Cases ----

CASES = {}  # name -> function that returns a built case; those of a sample have a "/" in their names
SEED = 1


class Case:
    def __init__(self, graph, output, check, number, flags=()):
        self.graph, self.output, self.check, self.number, self.flags = graph, output, check, number, list(flags)
        self.is_on_cpu = False


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(rng, shape, kind, wide=False):
    """Random integers of a type; of 16 bits not all, so that float32 can tell their sums apart."""
    _, low, high = TYPES[kind]
    if kind == "f8":
        return rng.choice([value for value in FLOAT8.values() if abs(value) <= 16 and abs(value) >= 0.25], shape)
    if kind in ("u16", "s16") and not wide:
        middle = (low + high + 1) // 2
        low, high = middle - 300, middle + 300
    return rng.integers(low, high + 1, shape)


def zero_of(rng, kind):
    _, low, high = TYPES[kind]
    if kind == "f8":
        return 0
    return int((low + high + 1) // 2 + rng.choice((-3, -2, -1, 1, 2, 3))) if kind not in ("s4", "u4") else int((low + high + 1) // 2)


def finish(g, y, want, kind, rng, is_int_wanted=True, scale=None, flags=()):
    """Quantizes y, and gives it out as integers, or as the numbers that they are where NumPy lacks the type."""
    _, low, high = TYPES[kind]
    zero = zero_of(rng, kind)
    if scale is None:
        span = np.abs(want.y).max() or 1.0
        scale = np.float32(span / (0.45 * (high - low)))
        if kind in ("u16", "s16"):  # steps that float32 can tell apart
            scale = np.float32(max(scale, 40 * np.median(want.error)))
        for _ in range(20):  # what many elements are, such as a bound, should not be in the middle of two integers
            least, most, _ = bounds(want, scale, zero, kind)
            if (least != most).mean() < 0.05:
                break
            scale = np.float32(scale * 1.017)
    q = g.quantize(y, scale, zero, kind)
    if kind in NUMPY_OF and is_int_wanted:
        return Case(g, q, lambda got: check_quantized(got, want, scale, zero, kind), TYPES[kind][0], flags)
    out = g.op("DequantizeLinear", [q, g.number(1.0), g.quantized(np.array(0), kind)])
    return Case(g, out, lambda got: check_quantized(got, want, scale, zero, kind), 1 if g.floats == "f4" else 10, flags)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.vectorize(__import__("math").erf)(x)


# Name -> what it adds to a graph, the function in NumPy, its largest slope, error relative to operand and result.
ACTIVATIONS = {
    "none": (lambda g, y: y, lambda x: x, 1, 0),
    "Relu": (lambda g, y: g.op("Relu", [y]), lambda x: np.maximum(x, 0), 1, 0),
    "Clip": (lambda g, y: g.op("Clip", [y, g.number(-0.7), g.number(0.9)]),
             lambda x: np.clip(x, float(np.float32(-0.7)), float(np.float32(0.9))), 1, 0),
    "ClipLow": (lambda g, y: g.op("Clip", [y, g.number(-0.3)]), lambda x: np.maximum(x, float(np.float32(-0.3))), 1, 0),
    "Relu6": (lambda g, y: g.op("Clip", [y, g.number(0), g.number(0.6)]),
              lambda x: np.clip(x, 0, float(np.float32(0.6))), 1, 0),
    "LeakyRelu": (lambda g, y: g.op("LeakyRelu", [y], alpha=0.25), lambda x: np.where(x < 0, x * 0.25, x), 1, 0),
    "Sigmoid": (lambda g, y: g.op("Sigmoid", [y]), sigmoid, 1, 2e-6),
    "Tanh": (lambda g, y: g.op("Tanh", [y]), np.tanh, 1, 2e-6),
    "HardSigmoid": (lambda g, y: g.op("HardSigmoid", [y], alpha=0.5, beta=0.25), lambda x: np.clip(0.5 * x + 0.25, 0, 1), 1, 1e-6),
    "HardSwish": (lambda g, y: g.op("HardSwish", [y]), lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 2, 2e-6),
    "Elu": (lambda g, y: g.op("Elu", [y], alpha=1.0), lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x), 1, 2e-6),
    "Softplus": (lambda g, y: g.op("Softplus", [y]), lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), 1, 2e-6),
    "Gelu": (lambda g, y: g.op("Gelu", [y]), lambda x: 0.5 * x * (1 + erf(x / 2 ** 0.5)), 1.2, 4e-6),
    "SiLU": (lambda g, y: g.op("Mul", [y, g.op("Sigmoid", [y])]), lambda x: x * sigmoid(x), 1.2, 4e-6),
    "Mish": (lambda g, y: g.op("Mish", [y]), lambda x: x * np.tanh(np.log1p(np.exp(x))), 1.2, 4e-6),
    "Abs": (lambda g, y: g.op("Abs", [y]), np.abs, 1, 0),
    "Neg": (lambda g, y: g.op("Neg", [y]), lambda x: -x, 1, 0),
}


def with_activation(g, y, want, name):
    add, function, slope, error = ACTIVATIONS[name]
    return add(g, y), want.then(function, slope, error)


def weight_scales(rng, count, per_channel, size):
    return (rng.uniform(0.5, 1.5, count if per_channel else ()) / size).astype("f4")


def product_case(optype, kinds, act="none", bias="none", per_channel=False, is_int_wanted=True, floats="f4", batch=(), flags=()):
    """Conv, Gemm or MatMul of (source, weight, result)."""
    def build(rng):
        g = Graph(floats=floats)
        src, weight, dst = kinds
        spread = {"u16": 300, "s16": 300, "f8": 8, "u4": 8, "s4": 8}
        ss = np.float32(rng.uniform(0.6, 1.4) / spread.get(src, 128))
        zs, zw = zero_of(rng, src), zero_of(rng, weight) if weight[0] == "u" else 0
        is_conv, is_dynamic, channels = optype.startswith("Conv"), optype == "MatMulOfTwo", 6
        group = 2 if optype == "ConvGroups" else 6 if optype == "ConvDepthwise" else 1
        if is_conv:
            x, w = numbers(rng, (2, 6, 5, 7), src), numbers(rng, (channels, 6 // group, 3, 3), weight)
            axis = 0
        else:
            is_turned = optype == "Gemm"
            x, w = numbers(rng, (*batch, 4, 9), src), numbers(rng, (channels, 9) if is_turned else (9, channels), weight)
            axis = 0 if is_turned else 1
        ws = weight_scales(rng, channels, per_channel, spread.get(weight, 128) * np.sqrt(w.size / channels) / 3)
        zeros = np.full(np.shape(ws), zw)
        if per_channel and weight[0] == "u":
            zeros = zeros + rng.integers(-3, 4, channels)
        xd = g.dequantize(g.quantized(x, src, True), ss, np.array(zs), src)
        wd = g.dequantize(g.quantized(w, weight, is_dynamic), ws, zeros, weight, axis=axis)
        inputs, added = [xd, wd], np.zeros(channels)
        if bias != "none":
            added, name = bias_of(g, rng, bias, ss, ws, channels)
            inputs.append(name)
        xr, wr = real(x, ss, zs), real(w, ws, zeros, axis)
        if floats == "f2":
            xr, wr = real(x, np.float16(ss), zs), real(w, np.float16(ws), zeros, axis)
        if is_conv:
            stride, dilation = 2 if optype == "ConvStride" else 1, 2 if optype == "ConvDilated" else 1
            y = g.op("Conv", inputs, pads=[dilation] * 4, strides=[stride] * 2, dilations=[dilation] * 2, group=group)
            want = convolution(xr, wr, added, stride, dilation, group, dilation)
        elif optype == "Gemm":
            y, want = g.op("Gemm", inputs, transB=1), product(xr, wr.T, added)
        else:
            y, want = g.op("MatMul", inputs[:2]), product(xr, wr, added)
            if bias != "none":
                y = g.op("Add", [y, inputs[2]])
        if floats == "f2":  # each step may be rounded to float16, or none
            terms = w[0].size if is_conv else x.shape[-1]
            want = Want(want.y, want.error * 2 ** 13 * 4 / (terms + 8), True)
        y, want = with_activation(g, y, want, act)
        return finish(g, y, want, dst, rng, is_int_wanted, flags=flags)
    return build


def bias_of(g, rng, kind, ss, ws, channels):
    if kind == "float":
        b = rng.uniform(-0.5, 0.5, channels).astype("f4")
        return b.astype(float), g.number(b)
    unit = np.broadcast_to(np.asarray(ss * ws, "f4"), (channels,)).copy()
    q = rng.integers(-2000, 2000, channels).astype("i4")
    b = g.op("DequantizeLinear", [g.number(q, "i4"), g.number(unit), g.number(np.zeros(channels), "i4")], axis=0)
    return q.astype(float) * unit.astype(float), b


def pair_case(optype, kinds, act="none", shapes=((3, 4, 5), (3, 4, 5)), is_int_wanted=True, floats="f4"):
    """Two dequantized tensors, element by element."""
    functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum,
                 "Min": np.minimum, "Pow": np.power, "Mod": np.fmod}

    def build(rng):
        g = Graph(floats=floats)
        a_kind, b_kind, dst = kinds
        a, b = numbers(rng, shapes[0], a_kind), numbers(rng, shapes[1], b_kind)
        span = {"u16": 300.0, "s16": 300.0, "f8": 8.0, "u4": 8.0, "s4": 8.0}
        sa, sb = [np.float32(rng.uniform(0.6, 1.4) / span.get(kind, 128.0)) for kind in (a_kind, b_kind)]
        za, zb = zero_of(rng, a_kind), zero_of(rng, b_kind)
        if optype in ("Div", "Mod", "Pow"):  # away from 0, and from numbers without a power
            b = np.where(b < TYPES[b_kind][1] * 0.5 + TYPES[b_kind][2] * 0.5, TYPES[b_kind][2] if b_kind[1:] != "16" else zb + 250, b)
            b = np.maximum(b, zb + (1 if b_kind in ("u4", "s4") else 60)) if b_kind != "f8" else np.abs(b)
        if optype == "Pow":
            a = np.maximum(a, za + 1) if a_kind != "f8" else np.abs(a)
        xd = g.dequantize(g.quantized(a, a_kind, True), sa, np.array(za), a_kind)
        yd = g.dequantize(g.quantized(b, b_kind, True), sb, np.array(zb), b_kind)
        ra, rb = real(a, sa, za), real(b, sb, zb)
        y = functions[optype](ra, rb)
        error = 8 * EPS * (np.abs(ra) + np.abs(rb) + np.abs(y)) * (1 + np.abs(y))
        if optype == "Mod":  # a jump where the quotient is whole: float32 may be on either side
            ratio = ra / rb
            error = np.where(np.abs(ratio - np.rint(ratio)) < 1e-5, np.abs(rb) + error, error)
        attributes = {"fmod": 1} if optype == "Mod" else {}
        node = g.op(optype, [xd, yd], **attributes)
        node, want = with_activation(g, node, Want(y, error), act)
        return finish(g, node, want, dst, rng, is_int_wanted)
    return build


def move_case(optype, kinds, is_int_wanted=True, floats="f4"):
    """One or more tensors moved, pooled or requantized."""
    def build(rng):
        g = Graph(floats=floats)
        src, dst = kinds
        ss, zs = np.float32(rng.uniform(0.6, 1.4) / 100), zero_of(rng, src)
        count = int(optype[-1]) if optype.startswith("Concat") else 1
        names, reals = [], []
        for i in range(count):
            q = numbers(rng, (2, 4, 6, 6), src)
            scale = np.float32(ss * (1 + i / 2))
            names.append(g.dequantize(g.quantized(q, src, True), scale, np.array(zs), src))
            reals.append(real(q, scale, zs))
        x, xr = names[0], reals[0]
        error = 8 * EPS
        if count > 1:
            y, want = g.op("Concat", names, axis=1), np.concatenate(reals, 1)
        elif optype == "Identity":
            y, want = x, xr
        elif optype == "Reshape":
            y, want = g.op("Reshape", [x, g.number([8, 36], "i8")]), xr.reshape(8, 36)
        elif optype == "Transpose":
            y, want = g.op("Transpose", [x], perm=[0, 2, 3, 1]), xr.transpose(0, 2, 3, 1)
        elif optype == "Slice":
            y = g.op("Slice", [x, g.number([1], "i8"), g.number([3], "i8"), g.number([1], "i8")])
            want = xr[:, 1:3]
        elif optype == "MaxPool":
            y = g.op("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
            want = xr.reshape(2, 4, 3, 2, 3, 2).max((3, 5))
        elif optype == "AveragePool":
            y = g.op("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
            want = xr.reshape(2, 4, 3, 2, 3, 2).mean((3, 5))
        elif optype == "GlobalAveragePool":
            y, want, error = g.op("GlobalAveragePool", [x]), xr.mean((2, 3), keepdims=True), 64 * EPS
        elif optype == "Softmax":
            y = g.op("Softmax", [x], axis=-1)
            e = np.exp(xr - xr.max(-1, keepdims=True))
            want, error = e / e.sum(-1, keepdims=True), 64 * EPS
        return finish(g, y, Want(want, error * np.abs(xr).max()), dst, rng, is_int_wanted)
    return build


def activation_case(act, kinds, floats="f4"):
    def build(rng):
        g = Graph(floats=floats)
        src, dst = kinds
        q, ss, zs = numbers(rng, (3, 40), src), np.float32(1 / {"u16": 100, "s16": 100, "f8": 4, "u4": 3, "s4": 3}.get(src, 40)), zero_of(rng, src)
        x = g.dequantize(g.quantized(q, src, True), ss, np.array(zs), src)
        xr = real(q, ss, zs)
        y, want = with_activation(g, x, Want(xr, 2 * EPS * np.abs(xr)), act)
        return finish(g, y, want, dst, rng)
    return build


# (source, weight, result)
TRIPLES = [("u8", "u8", "u8"), ("u8", "s8", "u8"), ("s8", "s8", "s8"), ("u8", "s8", "s8"), ("s8", "u8", "u8"), ("s8", "s8", "u8"),
           ("u16", "s8", "u16"), ("s16", "s8", "s16"), ("u16", "u16", "u16"), ("s16", "s16", "s16"), ("u8", "s4", "u8"),
           ("s8", "u4", "s8"), ("u4", "u4", "u4"), ("s4", "s4", "s4"), ("u8", "s8", "s16"), ("s8", "s8", "u16"), ("s16", "s8", "s8"),
           ("u16", "s8", "u8"), ("f8", "f8", "f8"), ("u8", "s8", "s4"), ("u16", "s4", "u16")]
PAIRS = sorted({(a, c) for a, _, c in TRIPLES})
PRODUCTS = ("Conv", "ConvGroups", "ConvDepthwise", "ConvStride", "ConvDilated", "Gemm", "MatMul", "MatMulOfTwo")


def add_combinations():
    for optype in PRODUCTS:
        for kinds in TRIPLES:
            CASES["%s/%s" % (optype, "-".join(kinds))] = product_case(optype, kinds, per_channel=kinds[1] != "f8", bias="float")
        for kinds in TRIPLES[:6]:
            for bias in ("none", "float", "int32"):
                for per_channel in (False, True):
                    name = "%s/%s/%s/%s" % (optype, "-".join(kinds), bias, "channels" if per_channel else "one")
                    CASES[name] = product_case(optype, kinds, bias=bias, per_channel=per_channel)
        for act in ACTIVATIONS:
            for kinds in (("u8", "s8", "u8"), ("s8", "s8", "s8"), ("u16", "s8", "u16"), ("u8", "s8", "s16"), ("s16", "s8", "s8")):
                CASES["%s/%s/%s" % (optype, act, "-".join(kinds))] = product_case(optype, kinds, act, "float", True)
        CASES["%s/halves" % optype] = product_case(optype, ("u8", "s8", "u8"), floats="f2")
        CASES["%s/halves/ref" % optype] = product_case(optype, ("u8", "s8", "u8"), floats="f2", flags=["-t", "ref", "--keep-halves"])
    CASES["MatMul/batch"] = product_case("MatMul", ("u8", "s8", "u8"), "Relu", "float", True, batch=(3,))
    for optype in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod"):
        for kinds in TRIPLES:
            if optype != "Pow" or kinds[0] != "f8":  # whose powers are all near the middle
                CASES["%s/%s" % (optype, "-".join(kinds))] = pair_case(optype, kinds)
        for act in ("Relu", "Clip", "ClipLow", "Relu6", "LeakyRelu", "Sigmoid", "SiLU"):
            for kinds in (("u8", "u8", "u8"), ("s8", "s8", "s8"), ("u8", "s8", "u8"), ("u16", "u16", "u16")):
                CASES["%s/%s/%s" % (optype, act, "-".join(kinds))] = pair_case(optype, kinds, act)
        CASES["%s/broadcast" % optype] = pair_case(optype, ("u8", "s8", "u8"), shapes=((3, 4, 5), (4, 1)))
    for optype in ("Identity", "Reshape", "Transpose", "Slice", "MaxPool", "AveragePool", "GlobalAveragePool", "Softmax",
                   "Concat2", "Concat3", "Concat4", "Concat5"):
        for kinds in PAIRS:
            CASES["%s/%s" % (optype, "-".join(kinds))] = move_case(optype, kinds)
    for act in ACTIVATIONS:
        for kinds in PAIRS:
            CASES["%s/%s" % (act, "-".join(kinds))] = activation_case(act, kinds)


# Rows that are joined many at a time, and operands that are repeated over them.
SHORT_ROWS = {"a_row": ((2, 40, 48), (48,)), "a_number_for_each_row": ((3, 1100, 5), (3, 1100, 1)), "two_rows": ((6, 1, 30), (1, 50, 30)),
              "planes": ((4, 1, 3, 7), (1, 25, 3, 1)), "numbers": ((9, 1, 1), (1, 1, 290)), "long_rows": ((3, 1, 1100), (1, 2, 1100)),
              "rows_between": ((2, 1, 9, 1, 5), (2, 8, 1, 7, 1))}
for label, shapes in SHORT_ROWS.items():
    CASES["Sub/broadcast/" + label] = pair_case("Sub", ("u8", "s8", "u8"), shapes=shapes)
    CASES["Mul/broadcast/" + label] = pair_case("Mul", ("s8", "u8", "s8"), shapes=shapes[::-1])


# ---- Cases with names: sums, biases and scales at their ends ----

def exactly(g, q, kind, want):
    """A case whose integers are written out."""
    want = np.asarray(want)
    return Case(g, q, lambda got: None if np.array_equal(np.asarray(got).ravel(), want.ravel()) else
                "%s instead of %s" % (np.asarray(got).ravel()[:8].tolist(), want.ravel()[:8].tolist()), TYPES[kind][0])


def ends_of_floats(y):
    """y is a float: 1e-5 of the largest is what sums in another order may differ by."""
    def check(got):
        got = np.asarray(got, float).reshape(np.shape(y))
        off = np.abs(got - y).max() / np.abs(y).max()
        return None if off <= 1e-5 else "%.3g of the largest off" % off
    return check


@case
def a_channel_with_a_tiny_scale_keeps_its_bias(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.full((1, 1, 1, 2), 100), "u8", True), 0.02, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.array([1, 50]).reshape(2, 1, 1, 1), "s8"), [1.1920929e-7, 0.01], np.zeros(2), "s8", axis=0)
    y = g.op("Conv", [a, w, g.number([6, 6])])
    return exactly(g, g.quantize(y, 6 / 127, 0, "u8"), "u8", [127, 127, 148, 148])


@case
def a_column_of_zeros_keeps_its_bias(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.full((1, 2), 100), "u8", True), 0.02, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.array([[0, 0], [50, 50]]), "s8"), [1e-8, 0.01], np.zeros(2), "s8", axis=0)
    y = g.op("Gemm", [a, w, g.number([3, 3])], transB=1)
    return exactly(g, g.quantize(y, 6 / 127, 0, "u8"), "u8", [64, 106])


@case
def a_scale_of_zero_keeps_the_bias(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.full((1, 2), 100), "u8", True), 0.02, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.array([[1, 1], [50, 50]]), "s8"), [0, 0.01], np.zeros(2), "s8", axis=0)
    y = g.op("Gemm", [a, w, g.number([3, 3])], transB=1)
    return exactly(g, g.quantize(y, 6 / 127, 0, "u8"), "u8", [64, 106])


def long_sum_of(terms):
    def build(rng):
        g = Graph(13)
        a = g.dequantize(g.quantized(np.full((1, terms), 255), "u8", True), 1 / 255, np.array(0), "u8")
        w = g.dequantize(g.quantized(np.full((terms, 1), 255), "u8"), 1 / 255, np.array(0), "u8")
        return exactly(g, g.quantize(g.op("MatMul", [a, w]), terms / 200, 0, "u8"), "u8", [200])
    return build


for count in (33025, 33026, 70000):
    CASES["%d_products_do_not_wrap" % count] = long_sum_of(count)


def dynamic_sum_of(terms):
    """Two inputs whose common length is a symbol: what is compiled for some sizes must not be used for all."""
    def build(rng):
        g = Graph(13)
        for name, shape, fed in (("a", [1, "k"], (1, terms)), ("b", ["k", 1], (terms, 1))):
            g.inputs.append((name, ow.tensor_type("UINT8", shape)))
            g.feeds.append(np.full(fed, 255, "u1"))
        a = g.dequantize("a", 1 / 255, np.array(0), "u8")
        b = g.dequantize("b", 1 / 255, np.array(0), "u8")
        return exactly(g, g.quantize(g.op("MatMul", [a, b]), terms / 200, 0, "u8"), "u8", [200])
    return build


CASES["a_sum_of_dynamic_length_does_not_wrap"] = dynamic_sum_of(70000)
CASES["a_short_sum_of_dynamic_length"] = dynamic_sum_of(300)


@case
def a_convolution_of_many_products_does_not_wrap(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.full((1, 8400, 2, 2), 255), "u8", True), 1 / 255, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.full((2, 8400, 2, 2), 255), "u8"), 1 / 255, np.array(0), "u8")
    return exactly(g, g.quantize(g.op("Conv", [a, w]), 33600 / 200, 0, "u8"), "u8", [200, 200])


@case
def a_gemm_of_many_products_does_not_wrap(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.full((1, 34000), 255), "u8", True), 1 / 255, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.full((2, 34000), 255), "u8"), 1 / 255, np.array(0), "u8")
    return exactly(g, g.quantize(g.op("Gemm", [a, w], transB=1), 170, 0, "u8"), "u8", [200, 200])


@case
def a_bias_is_not_rounded_to_units_of_the_sum(rng):
    g = Graph(13)
    a = g.dequantize(g.quantized(np.arange(4).reshape(1, 1, 2, 2), "u8", True), 1, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.ones((1, 1, 1, 1)), "s8"), 1, np.array(0), "s8")
    y = g.op("Conv", [a, w, g.number([0.4])])
    return exactly(g, g.quantize(y, 0.05, 0, "u8"), "u8", [8, 28, 48, 68])


@case
def half_a_unit_of_bias_decides(rng):
    # 3.5 units of 1 and a step of 0.25: what is rounded first is 2 steps off.
    g = Graph(13)
    a = g.dequantize(g.quantized(np.arange(4).reshape(4, 1), "u8", True), 1, np.array(0), "u8")
    w = g.dequantize(g.quantized(np.ones((1, 1)), "s8"), 1, np.array(0), "s8")
    y = g.op("Gemm", [a, w, g.number([3.5])])
    return exactly(g, g.quantize(y, 0.25, 3, "u8"), "u8", [17, 21, 25, 29])


def large_bias_of(q, want):
    def build(rng):
        g = Graph(13)
        a = g.dequantize(g.quantized(np.full((1, 1, 1, 1), 255), "u8", True), 0.02, np.array(0), "u8")
        w = g.dequantize(g.quantized(np.full((1, 1, 1, 1), 127), "s8"), 0.01, np.array(0), "s8")
        unit = np.float32(0.02) * np.float32(0.01)
        b = g.op("DequantizeLinear", [g.number([q], "i4"), g.number([unit]), g.number([0], "i4")], axis=0)
        return exactly(g, g.quantize(g.op("Conv", [a, w, b]), 4000, 128, "u8"), "u8", [want])
    return build


CASES["a_bias_near_2_to_31_does_not_wrap"] = large_bias_of(2147483600, 235)
CASES["a_bias_that_the_sum_takes_beyond_2_to_31_does_not_wrap"] = large_bias_of(2147470000, 235)
CASES["a_bias_near_minus_2_to_31_does_not_wrap"] = large_bias_of(-2147483600, 21)


def scaled_case(m, n, k, scale_shape, batch=0, second=None):
    """MatMulInteger, Cast, then scales of rows, of columns, of a batch, or one."""
    def build(rng):
        g = Graph(13)
        a = rng.integers(-99, 99, ((batch, m, k) if batch else (m, k)))
        b = rng.integers(-99, 99, (k, n))
        s = rng.uniform(0.01, 0.1, scale_shape).astype("f4")
        t = np.float32(0.02) if second is None else rng.uniform(0.01, 0.1, second).astype("f4")
        f = g.op("Cast", [g.op("MatMulInteger", [g.quantized(a, "s8", True), g.quantized(b, "s8")])], to=1)
        y = g.op("Mul", [f, g.op("Mul", [g.input(s), g.number(t)])])
        want = (a @ b).astype(float) * (s.astype(float) * t.astype(float))
        return Case(g, y, ends_of_floats(want), 1)
    return build


for label, arguments in {
        "of_rows_as_many_as_columns": (8, 8, 16, (8, 1)), "of_rows": (8, 5, 16, (8, 1)), "of_columns": (8, 5, 16, (5,)),
        "of_columns_as_a_row": (5, 5, 16, (1, 5)), "one": (8, 5, 16, (1,)), "of_a_batch": (3, 4, 16, (4, 1, 1), 4),
        "of_a_batch_and_another": (3, 5, 16, (4, 1, 1), 4), "of_elements": (4, 4, 8, (4, 4)),
        "of_rows_and_columns": (4, 4, 8, (4, 1), 0, (4,)), "of_columns_of_a_batch": (3, 4, 8, (4,), 4)}.items():
    CASES["scales_%s_after_a_sum" % label] = scaled_case(*arguments)


@case
def weights_with_scales_of_the_wrong_axis_stay(rng):
    # Scales of rows of the right side of a product, as many as columns.
    g = Graph()
    a, b = numbers(rng, (3, 6), "u8"), numbers(rng, (6, 6), "s8")
    ws = rng.uniform(0.5, 1.5, 6).astype("f4") / 128
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), ws, np.zeros(6), "s8", axis=0)
    want = product(real(a, 0.01, 128), real(b, ws, np.zeros(6), 0))
    return finish(g, g.op("MatMul", [x, w]), want, "u8", rng)


@case
def a_negative_axis_is_one_from_the_end(rng):
    g = Graph()
    a, b = numbers(rng, (3, 6), "u8"), numbers(rng, (6, 6), "s8")
    ws = rng.uniform(0.5, 1.5, 6).astype("f4") / 128
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), ws, np.zeros(6), "s8", axis=-1)
    want = product(real(a, 0.01, 128), real(b, ws, np.zeros(6), 1))
    return finish(g, g.op("MatMul", [x, w]), want, "u8", rng)


@case
def a_bias_after_an_activation_stays_there(rng):
    g = Graph()
    a, b = numbers(rng, (3, 6), "u8"), numbers(rng, (6, 6), "s8")
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), 0.01, np.array(0), "s8")
    added = rng.uniform(-1, 1, 6).astype("f4")
    y = g.op("Add", [g.op("Relu", [g.op("MatMul", [x, w])]), g.number(added)])
    want = product(real(a, 0.01, 128), real(b, 0.01, 0)).then(lambda v: np.maximum(v, 0) + added.astype(float))
    return finish(g, y, want, "u8", rng)


@case
def a_bias_of_rows_is_none_of_columns(rng):
    g = Graph()
    a, b = numbers(rng, (6, 5), "u8"), numbers(rng, (5, 6), "s8")
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), 0.01, np.array(0), "s8")
    added = rng.uniform(-1, 1, (6, 1)).astype("f4")
    want = product(real(a, 0.01, 128), real(b, 0.01, 0))
    want = Want(want.y + added, want.error)
    return finish(g, g.op("Add", [g.op("MatMul", [x, w]), g.number(added)]), want, "u8", rng)


def wrong_axis(optype):
    """Scales of inputs of the weights, as many as outputs: not the scales of columns."""
    def build(rng):
        g = Graph()
        is_conv = optype == "Conv"
        a = numbers(rng, (1, 6, 4, 4) if is_conv else (3, 6), "u8")
        b = numbers(rng, (6, 6, 1, 1) if is_conv else (6, 6), "s8")
        ws = rng.uniform(0.5, 1.5, 6).astype("f4") / 128
        x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
        axis = 0 if optype == "MatMul" else 1
        w = g.dequantize(g.quantized(b, "s8", optype == "MatMul"), ws, np.zeros(6), "s8", axis=axis)
        ar, br = real(a, 0.01, 128), real(b, ws, np.zeros(6), axis)
        if optype == "MatMul":  # of two inputs
            return finish(g, g.op("MatMul", [x, w]), product(ar, br), "u8", rng)
        if is_conv:
            return finish(g, g.op("Conv", [x, w]), convolution(ar, br, np.zeros(6)), "u8", rng)
        return finish(g, g.op("Gemm", [x, w], transB=1), product(ar, br.T), "u8", rng)
    return build


CASES["scales_of_inputs_of_a_convolution_stay"] = wrong_axis("Conv")
CASES["scales_of_inputs_of_a_gemm_stay"] = wrong_axis("Gemm")
CASES["scales_of_rows_of_the_right_side_stay"] = wrong_axis("MatMul")


@case
def scales_of_elements_of_a_vector_stay(rng):
    g = Graph()
    a, b = numbers(rng, (5, 8), "u8"), numbers(rng, (8,), "s8")
    ws = rng.uniform(0.5, 1.5, 8).astype("f4") / 128
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), ws, np.zeros(8), "s8", axis=0)
    want = product(real(a, 0.01, 128), real(b, ws, np.zeros(8), 0)[:, None])
    return finish(g, g.op("MatMul", [x, w]), Want(want.y[:, 0], want.error[:, 0]), "u8", rng)


@case
def large_products_have_a_bias_in_every_part(rng):
    g = Graph()
    a, b = numbers(rng, (3, 900), "u8"), numbers(rng, (900, 1100), "s8")
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), 0.001, np.array(0), "s8")
    added = rng.uniform(-3, 3, 1100).astype("f4")
    y = g.op("Add", [g.op("MatMul", [x, w]), g.number(added)])
    return finish(g, y, product(real(a, 0.01, 128), real(b, 0.001, 0), added.astype(float)), "u8", rng)


@case
def scales_of_channels_stay_where_elements_are_added(rng):
    g = Graph()
    a, b = numbers(rng, (2, 5, 3), "u8"), numbers(rng, (2, 5, 3), "u8")
    scales = rng.uniform(0.5, 1.5, 5).astype("f4") / 64
    x = g.dequantize(g.quantized(a, "u8", True), scales, np.full(5, 100), "u8", axis=1)
    y = g.dequantize(g.quantized(b, "u8", True), 0.01, np.array(128), "u8")
    ra, rb = real(a, scales, np.full(5, 100), 1), real(b, 0.01, 128)
    return finish(g, g.op("Add", [x, y]), Want(ra + rb, 8 * EPS * (np.abs(ra) + np.abs(rb))), "u8", rng)


def again(optype, first, second, kinds=("u8", "u8")):
    """Quantized twice, with these (scale, zero), with nothing, Relu or MaxPool between."""
    def build(rng):
        g = Graph()
        q = numbers(rng, (1, 2, 4, 4), kinds[0])
        x = g.dequantize(g.quantized(q, kinds[0], True), first[0], np.array(first[1]), kinds[0])
        y = real(q, *first)
        if optype == "Relu":
            x, y = g.op("Relu", [x]), np.maximum(y, 0)
        elif optype == "MaxPool":
            x, y = g.op("MaxPool", [x], kernel_shape=[2, 2]), np.maximum.reduce([y[:, :, i:i + 3, j:j + 3] for i in (0, 1) for j in (0, 1)])
        want = Want(y, 8 * EPS * np.abs(y))
        out = g.quantize(x, second[0], second[1], kinds[1])
        return Case(g, out, lambda got: check_quantized(got, want, second[0], second[1], kinds[1]), TYPES[kinds[1]][0])
    return build


CASES["the_same_scale_again"] = again("Identity", (0.1, 100), (0.1, 100))
CASES["the_same_scale_and_another_zero_point"] = again("Identity", (0.1, 100), (0.1, 90))
CASES["the_same_zero_point_and_another_scale"] = again("Identity", (0.1, 100), (0.13, 100))
CASES["the_same_scale_in_another_type"] = again("Identity", (0.1, 100), (0.1, 100), ("u8", "s8"))
CASES["a_maximum_of_negative_scale"] = again("MaxPool", (-0.1, 100), (0.1, 100))
CASES["a_rectifier_to_negative_scale"] = again("Relu", (0.1, 100), (-0.1, 100))


def rectified(pair_scale, pair_zero, scale, zero, act="Relu", is_conv=False):
    """A product, quantized, a rectifier of its own, quantized again."""
    def build(rng):
        g = Graph()
        a, b = numbers(rng, (4, 9), "u8"), numbers(rng, (9, 6), "s8")
        ar, br = real(a, 0.01, 128), real(b, 0.01, 0)
        first = product(ar, br)
        if is_conv:
            a, b = a.reshape(4, 9, 1, 1), b.T.reshape(6, 9, 1, 1)
            first = Want(first.y.reshape(4, 6, 1, 1), first.error.reshape(4, 6, 1, 1))
        x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
        w = g.dequantize(g.quantized(b, "s8"), 0.01, np.array(0), "s8")
        y = g.op("Conv" if is_conv else "MatMul", [x, w])
        low, high, _ = bounds(first, pair_scale, pair_zero, "u8")
        middle = g.dequantize(g.quantize(y, pair_scale, pair_zero, "u8"), pair_scale, np.array(pair_zero), "u8")
        out = g.quantize(g.op(act, [middle]), scale, zero, "u8")
        function = ACTIVATIONS[act][1]
        either = [np.clip(np.rint(function(real(q, pair_scale, pair_zero)) / float(np.float32(scale))) + zero, 0, 255) for q in (low, high)]

        def check(got):
            is_wrong = (got != either[0]) & (got != either[1])
            return "%d of %d wrong" % (is_wrong.sum(), is_wrong.size) if is_wrong.any() else None
        return Case(g, out, check, 2)
    return build


CASES["a_rectifier_of_the_same_scale"] = rectified(0.07, 128, 0.07, 128)
CASES["a_rectifier_of_the_same_scale_after_a_convolution"] = rectified(0.07, 128, 0.07, 128, is_conv=True)
CASES["a_rectifier_to_another_zero_point"] = rectified(0.07, 128, 0.07, 20)
CASES["a_rectifier_to_another_scale"] = rectified(0.07, 128, 0.05, 128)


@case
def a_product_with_a_negative_scale_keeps_its_rectifier(rng):
    g = Graph()
    a, b = numbers(rng, (4, 9), "u8"), numbers(rng, (9, 6), "s8")
    x = g.dequantize(g.quantized(a, "u8", True), 0.01, np.array(128), "u8")
    w = g.dequantize(g.quantized(b, "s8"), 0.01, np.array(0), "s8")
    want = product(real(a, 0.01, 128), real(b, 0.01, 0)).then(lambda v: np.maximum(v, 0))
    out = g.quantize(g.op("Relu", [g.op("MatMul", [x, w])]), -0.07, 200, "u8")
    return Case(g, out, lambda got: check_quantized(got, want, -0.07, 200, "u8"), 2)


def product_to_floats(optype, act):
    """Dequantized, multiplied, an activation, and not quantized again."""
    def build(rng):
        built = product_case(optype, ("u8", "s8", "u8"), act, "float", True)(rng)
        g, q = built.graph, built.output
        node = next(n for n in g.nodes if n[2] == [q])
        g.nodes.remove(node)
        want = built.check.__closure__
        want = next(c.cell_contents for c in want if isinstance(c.cell_contents, Want))
        return Case(g, node[1][0], ends_of_floats(want.y), 1)
    return build


for name_of_act in ACTIVATIONS:
    for name_of_op in ("Conv", "Gemm", "MatMul"):
        CASES["%s/to_floats/%s" % (name_of_op, name_of_act)] = product_to_floats(name_of_op, name_of_act)


def words_of_rows(kind, zeros):
    """Numbers to integers of 16 bits and back, with a scale and a zero point for each row."""
    def build(rng):
        g = Graph(21)
        x, scales = rng.uniform(-4000, 4000, (4, 70)).astype("f4"), np.array([0.1, 0.25, 0.0625, 1], "f4")
        q = g.op("QuantizeLinear", [g.input(x), g.number(scales), g.quantized(np.array(zeros), kind)], axis=0)
        y = g.op("DequantizeLinear", [q, g.number(scales), g.quantized(np.array(zeros), kind)], axis=0)
        z, (_, low, high) = np.array(zeros).reshape(4, 1), TYPES[kind]
        words = np.clip(np.rint(x / scales.reshape(4, 1)) + z, low, high)
        built = exactly(g, y, "u8", ((words - z) * scales.reshape(4, 1).astype(float)).astype("f4"))
        built.number, built.is_on_cpu = 1, True
        return built
    return build


CASES["signed_words_of_rows"] = words_of_rows("s16", (0, -32768, 32767, 11))
CASES["unsigned_words_of_rows"] = words_of_rows("u16", (0, 65535, 32768, 11))


@case
def dynamic_quantization_has_bias_and_activation(rng):
    g = Graph(13)
    x, b = rng.uniform(-3, 2, (5, 12)).astype("f4"), rng.integers(-99, 99, (12, 7))
    added, ws = rng.uniform(-1, 1, 7).astype("f4"), rng.uniform(0.01, 0.02, 7).astype("f4")
    q, s, z = g.op("DynamicQuantizeLinear", [g.input(x)], 3)
    f = g.op("Cast", [g.op("MatMulInteger", [q, g.quantized(b, "s8"), z])], to=1)
    y = g.op("Relu", [g.op("Add", [g.op("Mul", [f, g.op("Mul", [s, g.number(ws)])]), g.number(added)])])
    scale = np.float32((np.float32(x.max()) - np.float32(x.min())) / np.float32(255))
    zero = np.clip(np.rint(np.float32(0 - x.min()) / scale), 0, 255)
    quantized = np.clip(np.rint(x / scale) + zero, 0, 255)
    want = np.maximum((quantized - zero) @ b * (float(scale) * ws.astype(float)) + added, 0)
    return Case(g, y, ends_of_floats(want), 1)


def convolution_of_sums(group=1, kinds=("u8", "s8"), zero=0, size=(6, 7)):
    """ConvInteger alone: sums of TL_INT32."""
    def build(rng):
        g = Graph(13)
        a, b = numbers(rng, (2, 6, *size), kinds[0]), numbers(rng, (6, 6 // group, 3, 3), kinds[1])
        za = zero_of(rng, kinds[0])
        y = g.op("ConvInteger", [g.quantized(a, kinds[0], True), g.quantized(b, kinds[1]), g.quantized(np.array(za), kinds[0]),
                                 g.quantized(np.array(zero), kinds[1])], pads=[1, 1, 1, 1], group=group)
        want = convolution(a.astype(float) - za, b.astype(float) - zero, np.zeros(6), 1, 1, group).y
        built = exactly(g, y, "u8", want.astype("i4"))
        built.number, built.is_on_cpu = 6, True
        return built
    return build


CASES["a_convolution_of_integers"] = convolution_of_sums()
CASES["a_convolution_of_integers_in_groups"] = convolution_of_sums(2, ("s8", "s8"))
CASES["a_depthwise_convolution_of_integers"] = convolution_of_sums(6, ("u8", "u8"), 100)


def sums_of_taps(x, w, group):
    """Of integers, tap by tap: what is around an image of 1 or 3 taps is 0."""
    n, channels, height, width = x.shape
    out, size, pad = w.shape[0], w.shape[2], w.shape[2] // 2
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad))).reshape(n, group, channels // group, height + 2 * pad, -1)
    return sum(np.einsum("ngchw,goc->ngohw", padded[..., i:i + height, j:j + width], w[:, :, i, j].reshape(group, out // group, -1), optimize=True)
               for i in range(size) for j in range(size)).reshape(n, out, height, width)


class Parts:
    """Images of bytes with one scale and zero point, each with its name; sums are scaled by powers of two."""

    def __init__(self, rng):
        self.rng, self.g, self.kind = rng, Graph(13), str(rng.choice(["u8", "s8"]))
        self.zero = zero_of(rng, self.kind)
        q = numbers(rng, (2, 16, 61, 63), self.kind)
        self.image = self.g.quantized(q, self.kind, True), q.astype(float)

    def convolved(self, outputs, size, group=1):
        (name, q), g = self.image, self.g
        w = numbers(self.rng, (outputs, q.shape[1] // group, size, size), "s8")
        sums = sums_of_taps(q - self.zero, w.astype(float), group)
        scale = 2.0 ** -np.floor(np.log2(np.abs(sums).max() / 200))
        one, zero = g.number(1.0), g.quantized(np.array(self.zero), self.kind)
        y = g.op("QLinearConv", [name, one, zero, g.quantized(w, "s8"), one, g.quantized(np.array(0), "s8"), g.number(1 / scale), zero],
                 pads=[size // 2] * 4, group=group)
        return y, self.bounded(sums * scale)

    def bounded(self, x):
        return np.clip(np.rint(x) + self.zero, *TYPES[self.kind][1:])

    def pooled(self):
        name, q = self.image
        padded = np.pad(q, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=TYPES[self.kind][1])
        most = np.max([padded[:, :, i:i + q.shape[2], j:j + q.shape[3]] for i in range(3) for j in range(3)], axis=0)
        return self.g.op("MaxPool", [name], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), most

    def some(self, count):
        makers = [lambda: self.convolved(17, 3), lambda: self.convolved(24, 3), lambda: self.convolved(9, 1), lambda: self.convolved(16, 3, 16),
                  lambda: self.convolved(8, 3, 4), lambda: self.convolved(32, 3, 16), self.pooled, lambda: self.image]
        return [makers[i]() for i in self.rng.integers(0, len(makers), count)]

    def joined(self, parts):
        return self.g.op("Concat", [name for name, _ in parts], axis=1), np.concatenate([q for _, q in parts], 1)


@case
def parts_of_large_images_are_joined(rng):
    parts = Parts(rng)
    all_parts = parts.some(2) + [parts.joined(parts.some(2))] + parts.some(1) + [parts.convolved(17, 3)]
    all_parts += [all_parts[int(rng.integers(0, 2))]]
    name, q = parts.joined(all_parts)
    return exactly(parts.g, name, parts.kind, q)


def convolution_of_groups(group, of_group, outputs, kinds=("u8", "s8"), zero=0, size=(5, 6)):
    """Sums of many groups of few channels, with a zero point for each output."""
    def build(rng):
        g = Graph(13)
        a, b = numbers(rng, (2, group * of_group, *size), kinds[0]), numbers(rng, (group * outputs, of_group, 3, 3), kinds[1])
        za, zb = zero_of(rng, kinds[0]), np.full(group * outputs, zero) + (np.arange(group * outputs) % 5 if zero else 0)
        y = g.op("ConvInteger", [g.quantized(a, kinds[0], True), g.quantized(b, kinds[1]), g.quantized(np.array(za), kinds[0]),
                                 g.quantized(zb, kinds[1])], pads=[1, 1, 1, 1], group=group)
        want = convolution(a.astype(float) - za, b.astype(float) - zb.reshape(-1, 1, 1, 1), np.zeros(group * outputs), 1, 1, group).y
        built = exactly(g, y, "u8", want.astype("i4"))
        built.number, built.is_on_cpu = 6, True
        return built
    return build


for label, arguments in {"2": (24, 2, 2), "2_of_bytes_with_zero_points": (10, 2, 2, ("u8", "u8"), 100), "3": (5, 3, 3, ("s8", "s8"), -7),
                         "1_that_make_2": (9, 1, 2, ("u8", "u8"), 130), "4_that_make_1": (14, 4, 1), "12": (3, 12, 12, ("s8", "u8"), 90),
                         "1_that_make_20": (4, 1, 20)}.items():
    CASES["a_convolution_in_groups_of_" + label] = convolution_of_groups(*arguments)


def sums_of_rows(x, w, stride, dilation, pads, group):
    """A convolution of rows [N, C, W] by weights [O, C / group, K]."""
    out, of_group, taps = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), pads))
    width = (padded.shape[2] - dilation * (taps - 1) - 1) // stride + 1
    y = np.zeros((len(x), out, width))
    for o in range(out):
        first = o // (out // group) * of_group
        for t in range(taps):
            seen = padded[:, first:first + of_group, t * dilation:][:, :, :(width - 1) * stride + 1:stride]
            y[:, o] += np.einsum("ncw,c->nw", seen, w[o, :, t])
    return y


def convolution_of_rows(group=1, kinds=("u8", "s8"), zero=0):
    def build(rng):
        g = Graph(13)
        a, b = numbers(rng, (2, 6, 19), kinds[0]), numbers(rng, (6, 6 // group, 5), kinds[1])
        za = zero_of(rng, kinds[0])
        y = g.op("ConvInteger", [g.quantized(a, kinds[0], True), g.quantized(b, kinds[1]), g.quantized(np.array(za), kinds[0]),
                                 g.quantized(np.array(zero), kinds[1])], pads=[3, 4], strides=[2], dilations=[2], group=group)
        want = sums_of_rows(a.astype(float) - za, b.astype(float) - zero, 2, 2, (3, 4), group)
        built = exactly(g, y, "u8", want.astype("i4"))
        built.number, built.is_on_cpu = 6, True
        return built
    return build


CASES["a_convolution_of_rows"] = convolution_of_rows()
CASES["a_convolution_of_rows_in_groups"] = convolution_of_rows(2, ("s8", "s8"))
CASES["a_depthwise_convolution_of_rows"] = convolution_of_rows(6, ("u8", "u8"), 100)


def sums_of_volumes(x, w, strides, dilations, pads, group):
    """A convolution of volumes [N, C, D, H, W] by weights [O, C / group, ...]."""
    out, of_group = w.shape[:2]
    padded = np.pad(x, ((0, 0), (0, 0)) + pads)
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded.shape[2:], dilations, w.shape[2:], strides)]
    y = np.zeros((len(x), out, *sizes))
    for o in range(out):
        first = o // (out // group) * of_group
        for taps in np.ndindex(*w.shape[2:]):
            seen = padded[:, first:first + of_group]
            for axis, (t, d, s, n) in enumerate(zip(taps, dilations, strides, sizes)):
                seen = seen.take(range(t * d, t * d + (n - 1) * s + 1, s), axis + 2)
            y[:, o] += np.einsum("ncdhw,c->ndhw", seen, w[(o, slice(None)) + taps])
    return y


def convolution_of_volumes(kernel, channels=(6, 8), group=1, strides=(1, 1, 1), dilations=(1, 1, 1), pads=((0, 0),) * 3,
                           kinds=("u8", "s8"), zero=0):
    """ConvInteger of volumes."""
    def build(rng):
        g = Graph(13)
        a, b = numbers(rng, (2, channels[0], 5, 6, 7), kinds[0]), numbers(rng, (channels[1], channels[0] // group, *kernel), kinds[1])
        za = zero_of(rng, kinds[0])
        y = g.op("ConvInteger", [g.quantized(a, kinds[0], True), g.quantized(b, kinds[1]), g.quantized(np.array(za), kinds[0]),
                                 g.quantized(np.array(zero), kinds[1])], strides=list(strides), dilations=list(dilations), group=group,
                 pads=[p[0] for p in pads] + [p[1] for p in pads])
        want = sums_of_volumes(a.astype(float) - za, b.astype(float) - zero, strides, dilations, pads, group)
        built = exactly(g, y, "u8", want.astype("i4"))
        built.number, built.is_on_cpu = 6, True
        return built
    return build


for label, arguments in {
        "": dict(kernel=(3, 3, 3), pads=((1, 1), (1, 1), (1, 1))), "_in_groups": dict(kernel=(2, 1, 3), group=2, strides=(2, 1, 2), pads=((0, 1), (2, 0), (1, 1))),
        "_with_gaps": dict(kernel=(2, 3, 2), dilations=(3, 2, 1), pads=((2, 1), (1, 1), (0, 0)), kinds=("s8", "u8"), zero=90),
        "_that_are_depthwise": dict(kernel=(3, 2, 2), channels=(20, 20), group=20, pads=((1, 1), (0, 1), (1, 0)), kinds=("u8", "u8"), zero=120),
        "_with_steps_that_are_depthwise": dict(kernel=(2, 3, 3), channels=(9, 9), group=9, strides=(2, 2, 1), dilations=(2, 1, 1), pads=((1, 0), (1, 1), (1, 1))),
        "_of_points": dict(kernel=(1, 1, 1), kinds=("s8", "s8")), "_of_points_with_steps": dict(kernel=(1, 1, 1), strides=(2, 1, 1)),
        "_of_planes": dict(kernel=(1, 3, 3), channels=(16, 20), pads=((0, 0), (1, 1), (1, 1))), "_of_planes_with_steps": dict(kernel=(1, 3, 2), strides=(1, 2, 3), dilations=(1, 1, 2), pads=((0, 0), (1, 0), (0, 2))),
        "_of_planes_after": dict(kernel=(1, 2, 1), pads=((0, 1), (0, 0), (0, 0))), "_without_padding": dict(kernel=(2, 2, 2)),
        "_of_planes_outside": dict(kernel=(1, 2, 3), pads=((1, 2), (0, 0), (1, 1))),
        "_of_depths": dict(kernel=(3, 1, 1), pads=((1, 1), (0, 0), (0, 0)))}.items():
    CASES["sums_of_volumes" + label] = convolution_of_volumes(**arguments)


@case
def a_convolution_of_volumes(rng):
    g = Graph(13)
    a, b, zero = numbers(rng, (1, 3, 2, 4, 5), "u8"), numbers(rng, (4, 3, 1, 1, 1), "s8"), zero_of(rng, "u8")
    x = g.dequantize(g.quantized(a, "u8", True), 0.04, np.array(zero), "u8")
    w = g.dequantize(g.quantized(b, "s8"), 0.01, np.array(0), "s8")
    rows = real(a, 0.04, zero).reshape(1, 3, 8, 5)
    want = convolution(rows, real(b, 0.01, 0)[..., 0], np.zeros(4))
    return finish(g, g.op("Conv", [x, w]), Want(want.y.reshape(1, 4, 2, 4, 5), want.error.reshape(1, 4, 2, 4, 5)), "u8", rng)


def dynamic_convolution(scale_shape, bias_shape, act="Relu"):
    """DynamicQuantizeLinear, ConvInteger, Cast, scales, a bias, an activation; the image is as wide as it has channels."""
    def build(rng):
        g = Graph(13)
        x, b = rng.uniform(-3, 2, (2, 4, 6, 6)).astype("f4"), rng.integers(-99, 99, (6, 4, 3, 3))
        t, added = rng.uniform(0.01, 0.02, scale_shape).astype("f4"), rng.uniform(-1, 1, bias_shape).astype("f4")
        q, s, z = g.op("DynamicQuantizeLinear", [g.input(x)], 3)
        sums = g.op("ConvInteger", [q, g.quantized(b, "s8"), z, g.quantized(np.array(0), "s8")], pads=[1, 1, 1, 1])
        scaled = g.op("Mul", [g.op("Cast", [sums], to=1), g.op("Mul", [s, g.number(t)])])
        y = with_activation(g, g.op("Add", [scaled, g.number(added)]), Want(0, 0), act)[0]
        scale = np.float32((np.float32(x.max()) - np.float32(x.min())) / np.float32(255))
        zero = np.clip(np.rint(np.float32(0 - x.min()) / scale), 0, 255)
        quantized = np.clip(np.rint(x / scale) + zero, 0, 255)
        want = convolution(quantized - zero, b.astype(float), np.zeros(6), 1, 1).y
        want = ACTIVATIONS[act][1](want * (float(scale) * t.astype(float)) + added)
        built = Case(g, y, ends_of_floats(want), 1)
        built.is_on_cpu = True
        return built
    return build


for label, arguments in {
        "one_scale": ((), (1, 6, 1, 1)), "a_scale_of_channels": ((6, 1, 1), (6, 1, 1)), "a_scale_of_channels_of_4_axes": ((1, 6, 1, 1), (1, 6, 1, 1), "SiLU"),
        "a_scale_of_columns": ((6,), (1, 6, 1, 1)), "a_bias_of_columns": ((), (6,)), "a_scale_of_rows": ((6, 1), (6, 1))}.items():
    CASES["a_dynamic_convolution_with_" + label] = dynamic_convolution(*arguments)


def scaled_once(is_conv, scale_shape=(), act="Relu"):
    """ConvInteger or MatMulInteger, Cast, a constant, a bias, an activation."""
    def build(rng):
        g = Graph(13)
        a = numbers(rng, (2, 3, 5, 6), "u8") if is_conv else numbers(rng, (4, 9), "u8")
        b = numbers(rng, (7, 3, 3, 3), "u8") if is_conv else numbers(rng, (9, 7), "u8")
        za, zb = zero_of(rng, "u8"), zero_of(rng, "u8")
        scale = rng.uniform(0.001, 0.002, scale_shape).astype("f4")
        added = rng.uniform(-1, 1, (7, 1, 1) if is_conv else (7,)).astype("f4")
        ins = [g.quantized(a, "u8", True), g.quantized(b, "u8"), g.quantized(np.array(za), "u8"), g.quantized(np.array(zb), "u8")]
        sums = g.op("ConvInteger", ins, pads=[1, 1, 1, 1]) if is_conv else g.op("MatMulInteger", ins)
        scaled = g.op("Mul", [g.op("Cast", [sums], to=1), g.number(scale)])
        y = with_activation(g, g.op("Add", [scaled, g.number(added)]), Want(0, 0), act)[0]
        fa, fb = a.astype(float) - za, b.astype(float) - zb
        want = convolution(fa, fb, np.zeros(7), 1, 1).y if is_conv else fa @ fb
        built = Case(g, y, ends_of_floats(ACTIVATIONS[act][1](want * scale.astype(float) + added)), 1)
        built.is_on_cpu = True
        return built
    return build


CASES["sums_of_images_are_scaled_once"] = scaled_once(True)
CASES["sums_of_images_are_scaled_once_as_a_row"] = scaled_once(True, (1, 1), "SiLU")
CASES["sums_of_rows_are_scaled_once"] = scaled_once(False)
CASES["sums_of_columns_are_scaled_once"] = scaled_once(False, (7,))
CASES["sums_of_each_row_are_scaled_once"] = scaled_once(False, (4, 1))


# What is between rules, operands and kernels, in every sample.
ALWAYS = {"Conv/Clip/u8-s8-u8", "MatMul/Clip/s8-s8-s8", "Conv/to_floats/Relu", "MatMul/to_floats/Clip", "Gemm/SiLU/u8-s8-u8",
          "Conv/Relu6/s8-s8-s8", "ConvDepthwise/u8-s8-u8/float/channels", "Gemm/s8-s8-s8/int32/channels", "Add/Clip/u8-s8-u8",
          "MatMulOfTwo/s8-u8-u8/none/one", "ConvGroups/u8-u8-u8/float/channels", "ConvDilated/u8-s8-s8/none/one",
          "Concat2/u8-u8", "Concat3/s8-s8", "Concat4/u8-s8", "Sub/broadcast", "Mul/Relu/s8-s8-s8", "Transpose/u8-u8", "Slice/s8-s8",
          "Reshape/u8-u8", "MaxPool/s8-u8", "Sigmoid/u8-u8", "Clip/u8-u8", "HardSigmoid/s8-s8", "Sub/Relu/u8-u8-u8", "Sub/Relu6/u8-u8-u8", "Mul/Clip/u8-u8-u8", "Mul/u8-u8-u8",
          "Add/u8-s8-u8", "Add/Relu/u8-u8-u8", "Sub/u8-u8-u8", "MatMul/Relu/u8-s8-u8", "Conv/Relu/u8-s8-u8"}
ALWAYS |= {"%s/broadcast/%s" % (optype, label) for optype in ("Sub", "Mul") for label in SHORT_ROWS}

# ---- Running ----

def run(built, target, folder, environment):
    path = folder / "model.onnx"
    path.write_bytes(built.graph.model(built.output, built.number))
    command = [LIGHTNET, "run", str(path), "-o", str(folder), "--threads=1"] + (built.flags or ["-t", target])
    for i, array in enumerate(built.graph.feeds):
        np.save(folder / ("%d.npy" % i), array)
        command += ["-i", "%d=%s/%d.npy" % (i, folder, i)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    if done.returncode != 0:
        return "does not run: " + done.stderr.strip()[-400:]
    listed = json.loads((folder / "outputs.json").read_text())
    return built.check(np.load(folder / listed[0]["file"]))


def refused(built, target, folder, fired):
    """Rewrites that were refused, whose rules should have said so; `fired` receives the names of the others."""
    command = [LIGHTNET, "opt", "--verbose", "-o", str(folder / "out.net"), str(folder / "model.onnx")]
    command += built.flags or ["-t", target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        return done.stderr.strip()[-300:]
    on_ref = re.search(r"\b(quant_conv|quantize|dequantize)_ref\(", (folder / "out.net").read_text())
    if target == "cpu" and built.is_on_cpu and on_ref:
        return "%s is on ref" % on_ref[1]
    lines = [line for line in done.stderr.splitlines() if " is refused: " in line]
    fired.update(re.findall(r"^info: firing \d+: \w+: (\w+) ", done.stderr, re.M))
    return lines[0] if lines else None


def rules():
    """Names of the rules of quant.rules, one for each row. No ONNX model has a rescale; tests/il/rules/quant_rescaled.net does."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "src/pass/rules/quant.rules").read_text()
    names = set()
    for rule in re.split(r"^rule ", text, flags=re.M)[1:]:
        name = rule.split()[0]
        if "= rescale(" in rule:
            continue
        rows = re.match(r".*?\n  for ([^=]*?) in ([^=]*?)\n  \w+ =", rule, re.S)
        firsts = [row.split()[0] for row in rows[2].split(",")] if rows else []
        names.update("%s_%s" % (name, first) for first in firsts) if rows else names.add(name)
    return names


# Numbers of columns by shape: what the operator itself refuses.
SHAPES = {"[4]": True, "[1, 4]": True, "[1]": True, "[4, 1]": False, "[2, 4]": False, "[3]": False}


def check_shapes(folder):
    """What is wrong with scales and zero points of a shape."""
    wrong = []
    for arg, dtype in (("weight_scale", "TL_FLOAT"), ("weight_zero", "TL_INT8"), ("bias", "TL_FLOAT")):
        for shape, is_right in SHAPES.items():
            scales = ", weight_scale=s" if arg != "weight_scale" else ""
            (folder / "shape.net").write_text(
                "input(| dst=x | dtype=TL_UINT8, dims=[4, 4]);\ninput(| dst=w | dtype=TL_INT8, dims=[4, 4]);\n"
                "input(| dst=s | dtype=TL_FLOAT, dims=[1]);\ninput(| dst=t | dtype=%s, dims=%s);\n"
                "quant_matmul(src=x, weight=w, src_scale=s%s, %s=t | dst=y |);\n" % (dtype, shape, scales, arg))
            done = subprocess.run([LIGHTNET, "opt", "-o", str(folder / "out.net"), str(folder / "shape.net")], capture_output=True, text=True,
                                  timeout=60, check=False)
            expected = is_right and not (arg == "bias" and shape == "[1]")
            if (done.returncode == 0) != expected:
                wrong.append("%s of %s: exit %d %s" % (arg, shape, done.returncode, done.stderr.strip()[-200:]))
    return wrong


def check_merged_zeros(folder):
    """What is wrong with zero points that are put between merged groups of four outputs."""
    wrong = []
    for shape, is_right in {"[4]": True, "[1]": True, "[]": True, "[2]": False, "[3]": False, "[5]": False, "[0]": False}.items():
        (folder / "zeros.net").write_text(
            "input(| dst=w | dtype=TL_INT8, dims=[4, 1, 1, 1]);\ninput(| dst=z | dtype=TL_INT8, dims=%s);\n"
            "quant_conv_pack_cpu(weight=w, weight_zero=z | dst=p | group=2, merged=2);\n" % shape)
        done = subprocess.run([LIGHTNET, "opt", "-o", str(folder / "out.net"), str(folder / "zeros.net")], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != (0 if is_right else 1) or ("weight_zero has" in done.stderr) == is_right:
            wrong.append("zero points %s of merged groups: exit %d %s" % (shape, done.returncode, done.stderr.strip()[-200:]))
    return wrong


WINDOWS = {  # what a convolution is asked to write, and how it is refused
    "src_scale=s, weight_scale=s, dst_scale=s, into=i | dst=y | dst_first=5": ("TL_UINT8", "1, 4, 4, 9", None),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=5": ("TL_FLOAT", "1, 4, 4, 9", None),
    "src_scale=s, weight_scale=s, dst_scale=s | dst=y | dst_first=5, dst_channels=9": ("TL_UINT8", "1", None),
    "src_scale=s, weight_scale=s, dst_scale=s, into=i | dst=y | dst_first=4": ("TL_FLOAT", "1, 4, 4, 9", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s, dst_scale=s, into=i | dst=y | dst_first=3": ("TL_INT8", "1, 4, 4, 9", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=4": ("TL_UINT8", "1, 4, 4, 9", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=0": ("TL_FLOAT", "1, 1, 4, 4, 9", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=1": ("TL_FLOAT", "16, 9", "images of bytes or numbers only"),
    " | dst=y | dst_channels=9": ("TL_UINT8", "1", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s | dst=y | dst_channels=9, size=[1, 1, 1], stride=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], dilation=[1, 1, 1]": ("TL_UINT8", "1", "images of bytes or numbers only"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=6": ("TL_FLOAT", "1, 4, 4, 9", "channels from 6 on are not among 9"),
    "src_scale=s, weight_scale=s, dst_scale=s | dst=y | dst_channels=3": ("TL_UINT8", "1", "channels from 0 on are not among 3"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=2": ("TL_FLOAT", "1, 5, 4, 9", "`into` has 5 pixels"),
    "src_scale=s, weight_scale=s, into=i | dst=y | dst_first=-1": ("TL_FLOAT", "1, 4, 4, 9", "dst_first is -1"),
}


def check_windows(folder):
    """What is wrong with the images of which a convolution may write four channels."""
    wrong = []
    for text, (dtype, dims, words) in WINDOWS.items():
        (folder / "window.net").write_text(
            "input(| dst=x | dtype=TL_UINT8, dims=[%s1, 4, 4, 8]);\ninput(| dst=i | dtype=%s, dims=[%s]);\n"
            "create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.5]);\ncreate(| dst=w | dtype=TL_INT8, dims=[4, 8, 1, 1], ran=[-9, 9]);\n"
            "quant_conv_pack_cpu(weight=w | dst=p |);\nquant_conv_nhwc_cpu(src=x, packed=p%s%s, channels=4%s);\n"
            % ("1, " if "size" in text else "", dtype, dims, "" if text.startswith(" ") else ", ", text, "" if "size" in text else ", size=[1, 1]"))
        done = subprocess.run([LIGHTNET, "opt", "-o", str(folder / "out.net"), str(folder / "window.net")], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != (1 if words else 0) or (words or "") not in done.stderr:
            wrong.append("%s, into %s [%s]: exit %d %s" % (text, dtype, dims, done.returncode, done.stderr.strip()[-200:]))
    return wrong


def check_means(folder):
    """What is wrong with the images, scales and zero points that a mean of bytes takes."""
    wrong = []
    for dims, scale, zero, is_right in (("2, 3, 4, 5", "", "1", True), ("2, 3, 4, 5", "5", "", False), ("2, 3, 4, 5", "", "5", False),
                                        ("2, 0, 4, 5", "1", "", False), ("2, 3, 0, 5", "", "", False), ("0, 3, 4, 5", "", "", True)):
        (folder / "mean.net").write_text(
            "input(| dst=x | dtype=TL_UINT8, dims=[%s]);\ninput(| dst=s | dtype=TL_FLOAT, dims=[%s]);\ninput(| dst=z | dtype=TL_UINT8, dims=[%s]);\n"
            "quant_mean_nhwc_cpu(src=x, scale=s, zero=z | dst=y |);\n" % (dims, scale, zero))
        done = subprocess.run([LIGHTNET, "opt", "-o", str(folder / "out.net"), str(folder / "mean.net")], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != (0 if is_right else 1) or ("takes pixels, and one scale" in done.stderr) == is_right:
            wrong.append("mean of [%s], scale [%s], zero [%s]: exit %d %s" % (dims, scale, zero, done.returncode, done.stderr.strip()[-200:]))
    return wrong


def check_mean_of_threads(folder):
    """What is wrong with means of whole blocks of channels, several of them at once."""
    x = np.random.default_rng(SEED).integers(0, 256, (3, 111, 123, 192)).astype("u1")
    want = (x.astype(float).mean((1, 2), keepdims=True) - 7) * 0.5
    np.save(folder / "x.npy", x)
    (folder / "mean.net").write_text(
        "input(| dst=x | dtype=TL_UINT8, dims=[3, 111, 123, 192]);\ncreate(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.5]);\n"
        "create(| dst=z | dtype=TL_UINT8, dims=[], data=[7]);\nquant_mean_nhwc_cpu(src=x, scale=s, zero=z | dst=y |);\n")
    wrong = []
    for threads in 1, 4, 4:
        done = subprocess.run([LIGHTNET, "run", "--threads=%d" % threads, "-i", "x=%s/x.npy" % folder, "-o", str(folder), str(folder / "mean.net")],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0 or np.abs(np.load(folder / "y.npy") / want - 1).max() > 1e-5:
            wrong.append("means of %d threads: exit %d %s" % (threads, done.returncode, done.stderr.strip()[-200:]))
    return wrong


def main():
    add_combinations()
    names = sys.argv[2:]
    is_all = names == ["all"]
    seed = int(os.environ.get("LN_TEST_SEED", SEED))
    if is_all:
        names = list(CASES)
    elif not names or names == ["sixth"]:
        combined = [name for name in CASES if "/" in name]
        names = [name for name in CASES if "/" not in name or name in ALWAYS]
        names += random.Random(seed).sample(combined, len(combined) // (6 if sys.argv[2:] else 60))
    failures, fired = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for wrong in [wrong for check in (check_shapes, check_merged_zeros, check_windows, check_means, check_mean_of_threads) for wrong in check(folder)]:
            failures += 1
            print("FAILED: " + wrong)
        for name in names:
            built = CASES[name](np.random.default_rng([seed, sum(name.encode())]))
            sides = [("cpu", {}), ("ref", {})] + ([("cpu", {"LN_CPU_ISA": "generic"})] if is_all else [])
            for target, variables in sides:
                wrong = run(built, target, folder, {**os.environ, **variables})
                if not wrong and not variables and (is_all or target == "cpu"):
                    wrong = refused(built, target, folder, fired)
                if wrong:
                    failures += 1
                    print("FAILED: %s on %s%s: %s" % (name, target, " (generic)" if variables else "", wrong))
    silent = rules() - fired if is_all or len(sys.argv) == 2 else set()
    if silent:
        failures += 1
        print("FAILED: rules that fire in no case: " + ", ".join(sorted(silent)))
    print("%d of %d cases, seed LN_TEST_SEED=%d, %d failures" % (len(names), len(CASES), seed, failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
