# SPDX-License-Identifier: Apache-2.0
"""What definitions give, once more in NumPy: written from the specification of ONNX, of com.microsoft and of LightNet's list,
in doubles and integers of Python, sharing nothing with the library.
"""
import itertools
import math

import numpy as np

from cases import FLOATS, INTEGERS, NARROW, PATTERNS, rounded

RNG = np.random.RandomState(20)
F = "TL_FLOAT"


def numbers(*shape, low=-2.0, high=2.0):
    return RNG.uniform(low, high, shape)


def whole(*shape, low=-9, high=10):
    return RNG.randint(low, high, shape)


erf = np.vectorize(math.erf, otypes=["f8"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


# ---- Of one element ----

def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


# operator: (formula, least, largest)
UNARY = {
    "Relu": (lambda x: np.maximum(x, 0), -3, 3), "Sigmoid": (sigmoid, -6, 6), "Tanh": (np.tanh, -4, 4),
    "HardSwish": (lambda x: x * np.clip(single(1 / 6) * x + 0.5, 0, 1), -5, 5), "Softplus": (softplus, -6, 6),
    "Softsign": (lambda x: x / (1 + np.abs(x)), -5, 5), "Mish": (lambda x: x * np.tanh(softplus(x)), -4, 4),
    "Exp": (np.exp, -5, 5), "Log": (np.log, 0.1, 9), "Sin": (np.sin, -6, 6), "Cos": (np.cos, -6, 6),
    "Tan": (np.tan, -1.3, 1.3), "Asin": (np.arcsin, -1, 1), "Acos": (np.arccos, -1, 1), "Atan": (np.arctan, -5, 5),
    "Sinh": (np.sinh, -4, 4), "Cosh": (np.cosh, -4, 4), "Asinh": (np.arcsinh, -5, 5), "Acosh": (np.arccosh, 1, 9),
    "Atanh": (np.arctanh, -0.9, 0.9), "Erf": (erf, -3, 3), "Reciprocal": (lambda x: 1 / x, 0.1, 5), "ms_Gelu": (gelu, -4, 4),
    "ms_FastGelu": (gelu_tanh, -4, 4), "relu": (lambda x: np.maximum(x, 0), -3, 3), "sigmoid": (sigmoid, -6, 6),
}


def single(number):
    """What an attribute of ONNX, a float, has for it."""
    return float(np.float32(number))


def leaky(a):
    return lambda x: np.where(x < 0, a * x, x)


# operator, parameters, formula
UNARY_WITH = [
    ("LeakyRelu", {"alpha": 0.25}, leaky(0.25)), ("LeakyRelu", {}, leaky(single(0.01))), ("lrelu", {"negslope": 0.125}, leaky(0.125)),
    ("Elu", {"alpha": 1.5}, lambda x: np.where(x < 0, 1.5 * np.expm1(x), x)), ("Elu", {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    ("Selu", {"alpha": 1.25, "gamma": 0.5}, lambda x: 0.5 * np.where(x < 0, 1.25 * np.expm1(x), x)),
    ("HardSigmoid", {"alpha": 0.25, "beta": 0.375}, lambda x: np.clip(0.25 * x + 0.375, 0, 1)),
    ("HardSigmoid", {}, lambda x: np.clip(single(0.2) * x + 0.5, 0, 1)),
    ("ThresholdedRelu", {"alpha": 0.75}, lambda x: np.where(x > 0.75, x, 0)), ("ThresholdedRelu", {}, lambda x: np.where(x > 1, x, 0)),
    ("Gelu", {}, gelu), ("Gelu", {"approximate": "tanh"}, gelu_tanh),
    ("Swish", {}, lambda x: x * sigmoid(x)), ("Swish", {"alpha": 1.5}, lambda x: x * sigmoid(1.5 * x)),
    ("ms_QuickGelu", {}, lambda x: x * sigmoid(single(1.702) * x)), ("ms_QuickGelu", {"alpha": 0.5}, lambda x: x * sigmoid(0.5 * x)),
    ("Affine", {"alpha": 1.5, "beta": -0.25}, lambda x: 1.5 * x - 0.25), ("Scale", {"scale": 2.5}, lambda x: 2.5 * x),
    ("ScaledTanh", {"alpha": 1.5, "beta": 0.75}, lambda x: 1.5 * np.tanh(0.75 * x)),
]


def elements(cases):
    for optype, (formula, low, high) in UNARY.items():
        cases.of_floats(optype, [np.concatenate([numbers(20, low=low, high=high), [low, high]])], formula)
    for optype, params, formula in UNARY_WITH:
        cases.of_floats(optype, [numbers(21, low=-4, high=4)], formula, params, "_".join(params))
    x = whole(17)
    for dtype in INTEGERS:
        if dtype == "TL_BOOL":
            continue
        given = np.abs(x) if "U" in dtype else x
        if "U" not in dtype:
            for optype in ("Relu", "relu"):
                cases.add(optype, [(dtype, given)], [(dtype, np.maximum(given, 0))])
            cases.add("lrelu", [(dtype, given)], [(dtype, [v if v >= 0 else 2 * v for v in given.tolist()])], {"negslope": 2.5})
        near = np.clip(given, -1, 1)  # erf of 1 is 0.84
        cases.add("Erf", [(dtype, near)], [(dtype, np.zeros(17))])
    for dtype, bits in FLOATS.items():
        specials = np.array([1, np.nan, np.inf, -np.inf, -0.0, np.nan])
        cases.add("IsNaN", [(dtype, specials)], [("TL_BOOL", np.isnan(specials))])
    for dtype, nans in (("TL_FLOAT8E4M3FN", (0x7f, 0xff)), ("TL_FLOAT8E4M3FNUZ", (0x80,)), ("TL_FLOAT8E5M2", (0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff)),
                        ("TL_FLOAT8E5M2FNUZ", (0x80,))):
        patterns = np.arange(256)
        cases.add("IsNaN", [(dtype, patterns)], [("TL_BOOL", np.isin(patterns, nans))])


def without_effect(cases):
    """What operator sets before 6 said of memory."""
    for optype in ("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Reciprocal"):
        formula, low, high = UNARY[optype]
        x = rounded(F, numbers(9, low=low, high=high))
        cases.add(optype, [(F, x)], [(F, formula(x))], {"consumed_inputs": [0], "since": 1}, "consumed_inputs")
    x = rounded(F, numbers(9, low=-4, high=4))
    for optype, formula in (("Elu", lambda x: np.where(x < 0, np.expm1(x), x)), ("LeakyRelu", leaky(single(0.01))),
                            ("HardSigmoid", lambda x: np.clip(single(0.2) * x + 0.5, 0, 1)), ("Sum", lambda x: x), ("Mean", lambda x: x),
                            ("Selu", lambda x: single(1.0507) * np.where(x < 0, single(1.6732) * np.expm1(x), x))):
        cases.add(optype, [(F, x)], [(F, formula(x))], {"consumed_inputs": [0], "since": 1}, "consumed_inputs")
    for params, (alpha, gamma) in (({"alpha": 1.25}, (1.25, single(1.0507))), ({"gamma": 0.5}, (single(1.6732), 0.5)), ({}, (single(1.6732), single(1.0507)))):
        cases.add("Selu", [(F, x)], [(F, gamma * np.where(x < 0, alpha * np.expm1(x), x))], {"since": 1, **params}, "1_" + "_".join(params))
    of = rounded(F, numbers(1, 2, 3))
    y = (of - of.mean(2, keepdims=True)) / np.sqrt(of.var(2, keepdims=True) + 1e-5)
    cases.add("InstanceNormalization", [(F, of), (F, np.ones(2)), (F, np.zeros(2))], [(F, y)], {"consumed_inputs": [0], "since": 1}, "consumed_inputs")


def several(cases):
    a, b, c = numbers(2, 3), numbers(2, 3), numbers(3)
    cases.of_floats("Sum", [a, b, c], lambda a, b, c: a + b + c)
    cases.of_floats("Sum", [a], lambda a: a, why="one")
    cases.of_floats("Mean", [a, b, c], lambda a, b, c: (a + b + c) / 3)
    for dtype in FLOATS:  # two sums: that of x and b has the type as well
        cases.of_floats("ms_BiasAdd", [numbers(2, 3, 4), numbers(4), numbers(2, 3, 4)], lambda x, b, z: rounded(dtype, x + b) + z,
                        types=(dtype,))
    cases.of_floats("ms_BiasGelu", [numbers(2, 3), numbers(3)], lambda x, b: gelu(x + b))
    cases.of_floats("ms_FastGelu", [numbers(2, 3), numbers(3)], lambda x, b: gelu_tanh(x + b), why="bias")


# ---- Windows ----

def pads_of(sizes, windows, strides, dilations, pads, auto_pad):
    """(before, after) of each axis."""
    if auto_pad == "VALID":
        return [(0, 0)] * len(sizes)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        found = []
        for size, k, s, d in zip(sizes, windows, strides, dilations):
            total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
            found.append((total // 2, total - total // 2) if auto_pad == "SAME_UPPER" else (total - total // 2, total // 2))
        return found
    n = len(sizes)
    pads = pads or [0] * 2 * n
    return list(zip(pads[:n], pads[n:]))


def windows_of(x, kernel, strides, dilations, pads, ceil=False):
    """For each output place: the window's positions on each axis, some of them outside."""
    sizes = x.shape[2:]
    counts = []
    for size, k, s, d, (before, after) in zip(sizes, kernel, strides, dilations, pads):
        span = size + before + after - ((k - 1) * d + 1)
        count = (-(-span // s) if ceil else span // s) + 1
        if ceil and (count - 1) * s >= size + before:  # it would begin behind the image
            count -= 1
        counts.append(count)
    for place in itertools.product(*map(range, counts)):
        yield place, [[o * s + i * d - before for i in range(k)]
                      for o, k, s, d, (before, _) in zip(place, kernel, strides, dilations, pads)]


def defaults(n, strides, dilations):
    return strides or [1] * n, dilations or [1] * n


def shape_of_places(places):
    return tuple(max(p[a] for p in places) + 1 for a in range(len(places[0])))


def conv(x, w, b=None, group=1, strides=None, pads=None, dilations=None, auto_pad="NOTSET", fill=0):
    n = x.ndim - 2
    strides, dilations = defaults(n, strides, dilations)
    pads = pads_of(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    found = list(windows_of(x, w.shape[2:], strides, dilations, pads))
    y = np.zeros((x.shape[0], w.shape[0]) + shape_of_places([p for p, _ in found]), x.dtype)
    of_group, in_group = w.shape[0] // group, w.shape[1]
    for place, axes in found:
        for at in itertools.product(*[range(k) for k in w.shape[2:]]):
            here = [axes[a][i] for a, i in enumerate(at)]
            inside = all(0 <= i < size for i, size in zip(here, x.shape[2:]))
            for o in range(w.shape[0]):
                first = o // of_group * in_group
                for c in range(in_group):
                    value = x[(slice(None), first + c) + tuple(here)] if inside else fill
                    y[(slice(None), o) + place] += value * w[(o, c) + at]
    return y if b is None else y + np.reshape(b, (-1,) + (1,) * n)


def conv_transpose(x, w, b=None, group=1, strides=None, pads=None, dilations=None, auto_pad="NOTSET", output_padding=None,
                   output_shape=None):
    n = x.ndim - 2
    strides, dilations = defaults(n, strides, dilations)
    output_padding = output_padding or [0] * n
    full = [s * (size - 1) + op + (k - 1) * d + 1
            for s, size, op, k, d in zip(strides, x.shape[2:], output_padding, w.shape[2:], dilations)]
    if output_shape or auto_pad.startswith("SAME"):
        wanted = output_shape or [size * s for size, s in zip(x.shape[2:], strides)]
        pads = []
        for f, o in zip(full, wanted):
            total = f - o
            small, large = total // 2, total - total // 2
            pads.append((small, large) if auto_pad == "SAME_UPPER" else (large, small))
    else:
        pads = pads_of(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    of_group = w.shape[1]
    y = np.zeros((x.shape[0], of_group * group) + tuple(f - a - z for f, (a, z) in zip(full, pads)), x.dtype)
    for place in itertools.product(*map(range, x.shape[2:])):
        for at in itertools.product(*map(range, w.shape[2:])):
            out = [p * s + i * d - before for p, s, i, d, (before, _) in zip(place, strides, at, dilations, pads)]
            if not all(0 <= o < size for o, size in zip(out, y.shape[2:])):
                continue
            for c in range(x.shape[1]):
                g = c // (x.shape[1] // group)
                for o in range(of_group):
                    y[(slice(None), g * of_group + o) + tuple(out)] += x[(slice(None), c) + place] * w[(c, o) + at]
    return y if b is None else y + np.reshape(b, (-1,) + (1,) * n)


def pool(x, kernel, take, strides=None, pads=None, dilations=None, auto_pad="NOTSET", ceil_mode=0, include_pad=False):
    """`take` gets what is inside of a window, and how many places count."""
    n = x.ndim - 2
    strides, dilations = defaults(n, strides, dilations)
    pads = pads_of(x.shape[2:], kernel, strides, dilations, pads, auto_pad)
    found = list(windows_of(x, kernel, strides, dilations, pads, bool(ceil_mode)))
    y = np.zeros(x.shape[:2] + shape_of_places([p for p, _ in found]), x.dtype)
    for place, axes in found:
        inside = [here for here in itertools.product(*axes) if all(0 <= i < s for i, s in zip(here, x.shape[2:]))]
        padded = sum(all(-b <= i < s + a for i, s, (b, a) in zip(here, x.shape[2:], pads)) for here in itertools.product(*axes))
        values = np.stack([x[(slice(None), slice(None)) + here] for here in inside])
        y[(slice(None), slice(None)) + place] = take(values, padded if include_pad else len(inside))
    return y


CONV_PARAMS = [({}, ""), ({"pads": [1, 0, 1, 2]}, "pads"), ({"strides": [2, 1], "dilations": [1, 2]}, "strides_dilations"),
               ({"group": 2}, "group"), ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "same_upper"),
               ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, "same_lower"), ({"auto_pad": "VALID"}, "valid"),
               ({"kernel_shape": [3, 2]}, "kernel_shape")]


def without(params, *names):
    return {key: value for key, value in params.items() if key not in names}


def convolutions(cases):
    x, b = numbers(2, 4, 6, 5), numbers(6)
    for params, why in CONV_PARAMS:
        w = numbers(6, 4 // params.get("group", 1), 3, 2)
        of = without(params, "kernel_shape")
        cases.of_floats("Conv", [x, w], lambda x, w: conv(x, w, **of), params, why)
        cases.of_floats("Conv", [x, w, b], lambda x, w, b: conv(x, w, b, **of), params, why + "_bias")
        cases.of_floats("ms_FusedConv", [x, w, b], lambda x, w, b: np.maximum(conv(x, w, b, **of), 0),
                        {**params, "activation": "Relu"}, why)
    one, three = numbers(1, 2, 7), numbers(1, 2, 4, 3, 5)
    cases.of_floats("Conv", [one, numbers(3, 2, 3)], lambda x, w: conv(x, w, pads=[1, 0]), {"pads": [1, 0]}, "1d")
    cases.of_floats("Conv", [three, numbers(3, 2, 2, 2, 2)], lambda x, w: conv(x, w, strides=[2, 1, 2]), {"strides": [2, 1, 2]}, "3d")
    w = numbers(6, 4, 3, 2)
    z = numbers(2, 6, 4, 4)
    for activation, numbers_of, formula in (
            ("LeakyRelu", [0.25], leaky(0.25)), ("Sigmoid", None, sigmoid), ("Tanh", None, np.tanh),
            ("Clip", [-0.5, 0.75], lambda y: np.clip(y, -0.5, 0.75)), ("HardSigmoid", [0.25, 0.375], lambda y: np.clip(0.25 * y + 0.375, 0, 1))):
        cases.of_floats("ms_FusedConv", [x, w, b, z], lambda x, w, b, z: formula(conv(x, w, b) + z),
                        {"activation": activation, "activation_params": numbers_of}, activation.lower())
    integer_convolutions(cases)


def integer_convolutions(cases):
    for params, why in CONV_PARAMS:
        of = without(params, "kernel_shape")
        for tx, tw in itertools.product(("TL_UINT8", "TL_INT8"), repeat=2):
            x = whole(2, 4, 6, 5, low=0 if tx == "TL_UINT8" else -128, high=256 if tx == "TL_UINT8" else 128)
            w = whole(6, 4 // params.get("group", 1), 3, 2, low=0 if tw == "TL_UINT8" else -128, high=256 if tw == "TL_UINT8" else 128)
            zx, zw = 7, whole(6, low=0, high=9)
            y = conv(x - zx, w - zw.reshape(6, 1, 1, 1), **of)
            cases.add("ConvInteger", [(tx, x), (tw, w), (tx, zx), (tw, zw)], [("TL_INT32", y)], params, why + "_zeros_" + tw[3:].lower())
            cases.add("ConvInteger", [(tx, x), (tw, w)], [("TL_INT32", conv(x, w, **of))], params, why + "_" + tw[3:].lower())
            qlinear_conv(cases, (tx, x, zx), (tw, w, zw), params, why)


def qlinear_conv(cases, of_x, of_w, params, why):
    """Exact: what is rounded is a fraction."""
    (tx, x, zx), (tw, w, zw) = of_x, of_w
    of = without(params, "kernel_shape")
    b = whole(6, low=-3000, high=3000)
    scale, scales, scale_y = 0.5, np.array([2.0**-k for k in range(4, 10)]), 2.0
    for bias in (None, b):
        sums = conv(x - zx, w - zw.reshape(6, 1, 1, 1), **of) + (0 if bias is None else bias.reshape(6, 1, 1))
        y = np.rint(sums * (scale * scales / scale_y).reshape(6, 1, 1)) + 3
        y = np.clip(y, *((0, 255) if tx == "TL_UINT8" else (-128, 127)))
        cases.add("QLinearConv", [(tx, x), (F, scale), (tx, zx), (tw, w), (F, scales), (tw, zw), (F, scale_y), (tx, 3)]
                  + ([] if bias is None else [("TL_INT32", bias)]), [(tx, y)], params, why + ("" if bias is None else "_bias"))


def transposed_convolutions(cases):
    x, b = numbers(2, 4, 3, 4), numbers(6)
    for params, why in [*CONV_PARAMS, ({"strides": [2, 3], "output_padding": [1, 2]}, "output_padding"),
                        ({"strides": [2, 2], "output_shape": [7, 8]}, "output_shape"),
                        ({"strides": [2, 2], "output_shape": [7, 8], "auto_pad": "SAME_UPPER"}, "output_shape_same")]:
        group = params.get("group", 1)
        w = numbers(4, 6 // group, 3, 2)
        of = without(params, "kernel_shape")
        cases.of_floats("ConvTranspose", [x, w, b], lambda x, w, b: conv_transpose(x, w, b, **of), params, why)
        cases.of_floats("ConvTranspose", [x, w], lambda x, w: conv_transpose(x, w, **of), params, why + "_alone")


def pools(cases):
    x = numbers(2, 3, 6, 5)
    mean = lambda v, count: v.sum(0) / count
    common = [({}, ""), ({"pads": [1, 0, 1, 1]}, "pads"), ({"strides": [2, 3]}, "strides"), ({"dilations": [2, 1]}, "dilations"),
              ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "same_upper"), ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, "same_lower"),
              ({"auto_pad": "VALID", "strides": [2, 2]}, "valid"), ({"ceil_mode": 1, "strides": [2, 2], "pads": [0, 0, 0, 1]}, "ceil")]
    for params, why in common:
        kernel = [3, 2]
        cases.of_floats("AveragePool", [x], lambda x: pool(x, kernel, mean, **params), {"kernel_shape": kernel, **params}, why)
        cases.of_floats("AveragePool", [x], lambda x: pool(x, kernel, mean, include_pad=True, **params),
                        {"kernel_shape": kernel, "count_include_pad": 1, **params}, why + "_include")
        for p in (1, 2, 3):
            cases.of_floats("LpPool", [x], lambda x: pool(x, kernel, lambda v, _: (np.abs(v)**p).sum(0)**(1 / p), **params),
                            {"kernel_shape": kernel, **({} if p == 2 else {"p": p}), **params}, "%s_%d" % (why, p))
    cases.of_floats("GlobalAveragePool", [x], lambda x: x.mean((2, 3), keepdims=True))
    cases.of_floats("GlobalMaxPool", [x], lambda x: x.max((2, 3), keepdims=True))
    for p in (1, 2, 3):
        cases.of_floats("GlobalLpPool", [x], lambda x: (np.abs(x)**p).sum((2, 3), keepdims=True)**(1 / p),
                        {} if p == 2 else {"p": p}, str(p))


# ---- LightNet's list ----

def list_operators(cases):
    x, b = numbers(2, 4, 6, 5), numbers(6)
    for params, why in [({}, ""), ({"padding": [1, 0, 1, 2]}, "padding"), ({"stride": [2, 1], "dilation": [1, 2]}, "stride_dilation"),
                        ({"group": 2}, "group"), ({"autopad": "SAME_UPPER", "stride": [2, 2]}, "same_upper"),
                        ({"autopad": "SAME_LOWER", "stride": [2, 2]}, "same_lower"), ({"act": "relu"}, "act"),
                        ({"act": "relu", "autopad": "SAME_UPPER", "group": 2, "dilation": [2, 1]}, "same_act")]:
        group = params.get("group", 1)
        of = {"group": group, "strides": params.get("stride"), "pads": params.get("padding"), "dilations": params.get("dilation"),
              "auto_pad": params.get("autopad", "NOTSET")}
        after = (lambda y: np.maximum(y, 0)) if "act" in params else (lambda y: y)
        w, v = numbers(6, 4 // group, 3, 2), numbers(4, 6 // group, 3, 2)
        cases.of_floats("conv2d", [x, w, b], lambda x, w, b: after(conv(x, w, b, **of)), {"size": [3, 2], **params}, why)
        cases.of_floats("deconv2d", [x, v, b], lambda x, w, b: after(conv_transpose(x, w, b, **of)), {"size": [3, 2], **params}, why)
    x, w, b = whole(1, 2, 4, 4, low=0, high=2), np.eye(2, dtype="i8").reshape(2, 2, 1, 1), np.array([0, 1])
    cases.add("deconv2d", [("TL_BOOL", x), ("TL_BOOL", w), ("TL_BOOL", b)], [("TL_BOOL", conv_transpose(x, w, b) > 0)], {"size": [1, 1]})
    cut_mean = lambda v, count: np.trunc(v.sum(0) / count)
    for dtype in INTEGERS:
        if dtype == "TL_BOOL":
            continue
        low = 0 if "U" in dtype else -3
        x, w, b = whole(1, 2, 4, 4, low=low, high=4), whole(2, 2, 2, 2, low=low, high=3), whole(2, low=low, high=4)
        cases.add("conv2d", [(dtype, x), (dtype, w), (dtype, b)], [(dtype, conv(x, w, b))], {"size": [2, 2]})
        cases.add("deconv2d", [(dtype, x), (dtype, w), (dtype, b)], [(dtype, conv_transpose(x, w, b))], {"size": [2, 2]})
        cases.add("maxpool2d", [(dtype, x)], [(dtype, pool(x, [2, 2], lambda v, _: v.max(0)))], {"size": [2, 2], "stride": [1, 1]})
        cases.add("avgpool2d", [(dtype, x)], [(dtype, pool(x, [2, 2], cut_mean))], {"size": [2, 2], "stride": [1, 1]})
    mean = lambda v, count: v.sum(0) / count
    x = numbers(2, 3, 6, 5)
    for params, why in [({}, ""), ({"padding": [1, 0, 1, 1]}, "padding"), ({"stride": [2, 3]}, "stride"),
                        ({"autopad": "SAME_UPPER", "stride": [2, 2]}, "same")]:
        of = {"strides": params.get("stride"), "pads": params.get("padding"), "auto_pad": params.get("autopad", "NOTSET")}
        for optype, take in (("maxpool2d", lambda v, _: v.max(0)), ("avgpool2d", mean)):
            cases.of_floats(optype, [x], lambda x: pool(x, [3, 2], take, **of), {"size": [3, 2], "stride": [1, 1], **params}, why)
    keys = numbers(11)
    cases.of_floats("sort1d", [keys], np.sort, {"dir": "TL_SORT_DIR_ASCENDING"}, "up")
    cases.of_floats("sort1d", [keys], lambda x: -np.sort(-x), {"dir": "TL_SORT_DIR_DESCENDING"}, "down")


# ---- Along axes ----

REDUCTIONS = {
    "ReduceL1": lambda x, **of: np.abs(x).sum(**of), "ReduceL2": lambda x, **of: np.sqrt(np.square(x).sum(**of)),
    "ReduceLogSum": lambda x, **of: np.log(x.sum(**of)), "ReduceLogSumExp": lambda x, **of: np.log(np.exp(x).sum(**of)),
    "ReduceSumSquare": lambda x, **of: np.square(x).sum(**of),
}
# What these are of whole numbers is whole: exact, or cut off.
WHOLE = {"ReduceL1": lambda x, **of: np.abs(x).sum(**of), "ReduceSumSquare": lambda x, **of: np.square(x).sum(**of)}


def reductions(cases):
    axes = ("TL_INT64", np.array([1, -1]))
    for optype, formula in REDUCTIONS.items():
        x = numbers(2, 3, 4, low=0.25, high=2)
        signs = 1 if optype == "ReduceLogSum" else np.where(numbers(2, 3, 4) < 0, -1, 1)
        x = x * signs
        cases.of_floats(optype, [x], lambda x: formula(x, keepdims=True))
        cases.of_floats(optype, [x], lambda x: np.asarray(formula(x)), {"keepdims": 0}, "keepdims")
        cases.of_floats(optype, [x], lambda x: formula(x, axis=(1, 2), keepdims=True), None, "axes", others=[axes])
        cases.of_floats(optype, [x], lambda x: formula(x, axis=(1, 2), keepdims=True), None, "known_axes", others=[axes], constants=(1,))
        cases.of_floats(optype, [x], lambda x: formula(x, axis=(0, 2)), {"axes": [0, 2], "keepdims": 0, "since": 11}, "old_axes")
        cases.of_floats(optype, [x], lambda x: formula(x[None], axis=0), {"noop_with_empty_axes": 1}, "noop")
        cases.of_floats(optype, [x], lambda x: formula(x, axis=(1, 2)), {"keepdims": 0}, "keepdims_axes", others=[axes])
        none = [("TL_INT64", np.zeros(0))]
        cases.of_floats(optype, [x], lambda x: formula(x[None], axis=0), {"noop_with_empty_axes": 1}, "noop_of_run", others=none)
        cases.of_floats(optype, [x], lambda x: formula(x, keepdims=True), None, "all_of_run", others=none)
        cases.of_floats(optype, [x], lambda x: formula(x, axis=(0,), keepdims=True), {"noop_with_empty_axes": 1}, "noop_axes",
                        others=[("TL_INT64", np.array([0]))])
    for dtype in INTEGERS:
        if dtype == "TL_BOOL":
            continue
        x = whole(2, 3, 4, low=0 if "U" in dtype else -3, high=4)
        for optype, formula in WHOLE.items():
            cases.add(optype, [(dtype, x), axes], [(dtype, formula(x, axis=(1, 2), keepdims=True))], None, "axes")
        three = np.where(np.arange(4) < 2, 3, 4)[None] * np.array([[1], [2]])  # of 3, 3, 4, 4
        squares = np.array([[3, 4], [6, 8]])
        cases.add("ReduceL2", [(dtype, squares), ("TL_INT64", np.array([1]))], [(dtype, np.array([[5], [10]]))], None, "axes")
        ones = np.array([[1, 0], [0, 1]])
        cases.add("ReduceLogSum", [(dtype, ones), ("TL_INT64", np.array([1]))], [(dtype, np.array([[0], [0]]))], None, "axes")
        cases.add("ReduceLogSumExp", [(dtype, three[:, :1]), ("TL_INT64", np.array([1]))], [(dtype, three[:, :1])], None, "axes")


def lines(cases):
    x = numbers(2, 3, 4, low=-3, high=3)

    def softmax(x, axis):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def flat(x, axis, f):
        return f(x.reshape(int(np.prod(x.shape[:axis])), -1), 1).reshape(x.shape)

    log_softmax = lambda x, axis: np.log(softmax(x, axis))
    for optype, f in (("Softmax", softmax), ("LogSoftmax", log_softmax)):
        cases.of_floats(optype, [x], lambda x: f(x, -1))
        for axis in (0, 1, -2):
            cases.of_floats(optype, [x], lambda x: f(x, axis), {"axis": axis}, "axis_%d" % (axis % 3))
        cases.of_floats(optype, [x], lambda x: flat(x, 1, f), {"since": 11}, "flat")
        cases.of_floats(optype, [x], lambda x: flat(x, 2, f), {"since": 11, "axis": 2}, "flat_2")
    cumulative(cases, x)
    sorted_lines(cases, x)
    triangles(cases)


def cumulative(cases, x):
    def cumsum(x, axis, exclusive, reverse):
        x = np.flip(x, axis) if reverse else x
        y = np.cumsum(x, axis)
        y = y - x if exclusive else y
        return np.flip(y, axis) if reverse else y

    for exclusive, reverse, axis in itertools.product((0, 1), (0, 1), (1, -1)):
        params = {**({"exclusive": 1} if exclusive else {}), **({"reverse": 1} if reverse else {})}
        cases.of_floats("CumSum", [x], lambda x: cumsum(x, axis, exclusive, reverse), params, "_".join(params),
                        others=[("TL_INT64", axis)])
        for dtype in INTEGERS:
            if dtype != "TL_BOOL":
                of = whole(2, 3, 4, low=0 if "U" in dtype else -3, high=4)
                y = cumsum(of, axis, exclusive, reverse)
                cases.add("CumSum", [(dtype, of), ("TL_INT64", axis)], [(dtype, y)], params, "_".join(params))


def sorted_lines(cases, x):
    def top(x, k, axis, largest):
        order = np.argsort(-x if largest else x, axis=axis, kind="stable")
        at = np.take(order, range(k), axis)
        return np.take_along_axis(x, at, axis), ("TL_INT64", at)

    for params, why in (({}, ""), ({"axis": 1}, "axis"), ({"largest": 0}, "smallest"), ({"sorted": 0}, "sorted"),
                        ({"largest": 0, "axis": -2}, "smallest_axis")):
        of = (params.get("axis", -1), params.get("largest", 1))
        k = [("TL_INT64", np.array([2]))]
        cases.of_floats("TopK", [x], lambda x: top(x, 2, *of), params, why, others=k)
        for dtype in INTEGERS:
            if dtype != "TL_BOOL":
                given = whole(2, 3, 4, low=0 if "U" in dtype else -9)
                values, at = top(given, 2, *of)
                cases.add("TopK", [(dtype, given), *k], [(dtype, values), at], params, why)
    cases.of_floats("TopK", [x], lambda x: top(x, 3, -1, 1), {"k": 3, "since": 1}, "k")
    for dtype in INTEGERS:
        keys = whole(11, low=0 if "U" in dtype else -9) if dtype != "TL_BOOL" else whole(11, low=0, high=2)
        cases.add("sort1d", [(dtype, keys)], [(dtype, np.sort(keys))], {"dir": "TL_SORT_DIR_ASCENDING"}, "up")
        cases.add("sort1d", [(dtype, keys)], [(dtype, np.sort(keys)[::-1])], {"dir": "TL_SORT_DIR_DESCENDING"}, "down")


def triangles(cases):
    for optype, upper, k in itertools.product(("Trilu", "ms_Trilu"), (1, 0), (None, 1, -1)):
        params = {} if upper else {"upper": 0}
        why = ("" if upper else "lower") + ("" if k is None else "_k" if k > 0 else "_minus_k")
        others = [] if k is None else [("TL_INT64", k)]
        f = (lambda x: np.triu(x, k or 0)) if upper else (lambda x: np.tril(x, k or 0))
        cases.of_floats(optype, [numbers(2, 3, 4)], f, params, why, others=others)
        for dtype in [*INTEGERS, *NARROW, *PATTERNS, "TL_COMPLEX64", "TL_COMPLEX128"]:
            low, high = NARROW.get(dtype, (0, 1) if dtype == "TL_BOOL" else (0, 15) if "4E2M1" in dtype else (1, 99))
            x = whole(2, 3, 4, low=low, high=high + 1) * (1 + 1j if "COMPLEX" in dtype else 1)
            y = f(x)
            if dtype == "TL_FLOAT8E8M0":
                continue  # has no zero
            cases.add(optype, [(dtype, x), *others], [(dtype, y)], params, why)


# ---- Normalisation ----

def normalisation(cases):
    x, s, b = numbers(2, 4, 3, 5), numbers(4), numbers(4)

    def instance(x, s, b, epsilon=1e-5):
        mean, var = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
        return (x - mean) / np.sqrt(var + epsilon) * s.reshape(4, 1, 1) + b.reshape(4, 1, 1)

    def group(x, s, b, groups=2, epsilon=1e-5):
        of = x.reshape(2, groups, -1)
        of = (of - of.mean(2, keepdims=True)) / np.sqrt(of.var(2, keepdims=True) + epsilon)
        return of.reshape(x.shape) * s.reshape(4, 1, 1) + b.reshape(4, 1, 1)

    def lrn(x, size=3, alpha=single(1e-4), beta=0.75, bias=1.0):
        before, after = (size - 1) // 2, size // 2
        squares = np.pad(x * x, ((0, 0), (before, after), (0, 0), (0, 0)))
        return x / (bias + alpha / size * sum(squares[:, i:i + x.shape[1]] for i in range(size))) ** beta

    cases.of_floats("InstanceNormalization", [x, s, b], instance)
    cases.of_floats("InstanceNormalization", [x, s, b], lambda *of: instance(*of, 0.125), {"epsilon": 0.125}, "epsilon")
    cases.of_floats("LRN", [x], lrn, {"size": 3})
    for size, params in ((2, {"alpha": 0.5}), (3, {"alpha": 2.0, "beta": 0.5}), (4, {"alpha": 0.5, "bias": 2.5}), (9, {"alpha": 2.0})):
        cases.of_floats("LRN", [x], lambda x: lrn(x, size, **params), {"size": size, **params}, "_".join(("", str(size), *params)))
    cases.of_floats("GroupNormalization", [x, s, b], group, {"num_groups": 2})
    cases.of_floats("GroupNormalization", [x, s, b], lambda *of: group(*of, 2, 0.125), {"num_groups": 2, "epsilon": 0.125}, "epsilon")
    cases.of_floats("GroupNormalization", [x, s, b], group, {"num_groups": 2, "stash_type": 10}, "stash_type")
    cases.of_floats("GroupNormalization", [x, s[:2], b[:2]], lambda x, s, b: group(x, s.repeat(2), b.repeat(2)),
                    {"num_groups": 2, "since": 18}, "of_groups")
    embeddings(cases)


def embeddings(cases):
    ids, segments = whole(2, 3, low=0, high=5), whole(2, 3, low=0, high=2)
    words, positions, parts, gamma, beta = (np.asarray(rounded(F, one)) for one in (
        numbers(5, 4), numbers(6, 4), numbers(2, 4), numbers(4), numbers(4)))
    mask = np.array([[1, 1, 0], [1, 1, 1]])

    def embed(at, epsilon=1e-12, of_segments=True):
        total = words[ids] + positions[at] + (parts[segments] if of_segments else 0)
        y = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + epsilon) * gamma + beta
        return y, total

    tables = [(F, words), (F, positions), (F, parts), (F, gamma), (F, beta)]
    plain = np.arange(3)
    for epsilon in (1e-12, 0.125):
        y, total = embed(plain, epsilon)
        params = {} if epsilon < 1e-9 else {"epsilon": epsilon}
        cases.add("ms_EmbedLayerNormalization", [("TL_INT32", ids), ("TL_INT32", segments), *tables, ("TL_INT32", mask)],
                  [(F, y), ("TL_INT32", mask.sum(1)), (F, total)], params, "mask" + "_".join(params))
    y, total = embed(plain)
    cases.add("ms_EmbedLayerNormalization", [("TL_INT32", ids), ("TL_INT32", segments), *tables], [(F, y), ("TL_INT32", [0, 0])],
              {"mask_index_type": 1}, "segments")
    at = np.array([[3, 1, 5], [0, 2, 4]])
    for epsilon in (1e-12, 0.125):
        y, total = embed(at, epsilon)
        params = {} if epsilon < 1e-9 else {"epsilon": epsilon}
        cases.add("ms_EmbedLayerNormalization", [("TL_INT32", ids), ("TL_INT32", segments), *tables, ("TL_INT32", mask), ("TL_INT32", at)],
                  [(F, y), ("TL_INT32", mask.sum(1))], params, "position_ids" + "_".join(params))


# ---- Products ----

def products(cases):
    a, b = numbers(2, 3, 4), numbers(2, 4, 5)

    def fused(a, b, alpha=1, transA=0, transB=0, transBatchA=0, transBatchB=0):
        if transBatchA:
            a = np.moveaxis(a, 0, -2)
        if transBatchB:
            b = np.moveaxis(b, 0, -2)
        return alpha * np.matmul(a.swapaxes(-1, -2) if transA else a, b.swapaxes(-1, -2) if transB else b)

    turned_a, turned_b = a.swapaxes(-1, -2).copy(), b.swapaxes(-1, -2).copy()
    batch_a, batch_b = np.moveaxis(a, -2, 0).copy(), np.moveaxis(b, -2, 0).copy()
    for optype in ("ms_FusedMatMul", "ms_TransposeMatMul"):
        for params, of in (({}, (a, b)), ({"alpha": 0.75}, (a, b)), ({"transA": 1}, (turned_a, b)), ({"transB": 1}, (a, turned_b)),
                           ({"transBatchA": 1}, (batch_a, b)), ({"transBatchB": 1}, (a, batch_b))):
            if "Batch" in "".join(params) and optype == "ms_TransposeMatMul":
                continue
            cases.of_floats(optype, list(of), lambda a, b: fused(a, b, **params), params, "_".join(params))
    for why, equation, of in (("", "bij,bjk->bik", (a, b)), ("turned", "bij,bkj->kbi", (a, turned_b)), ("one", "bij->jb", (a,)),
                              ("three", "bij,bjk,k", (a, b, numbers(5))), ("ellipsis", "...ij,j...->i...", (a, numbers(4, 2)))):
        cases.of_floats("Einsum", list(of), lambda *of: np.einsum(equation, *of), {"equation": equation}, why)
    for dtype in INTEGERS:
        if dtype != "TL_BOOL":
            x, y = whole(2, 3, low=0, high=5), whole(3, 4, low=0, high=5)
            cases.add("Einsum", [(dtype, x), (dtype, y)], [(dtype, np.einsum("ij,jk->ik", x, y))], {"equation": "ij,jk->ik"}, "whole")
    gemm(cases)


ACTIVATIONS = [
    (None, {}, lambda y: y), ("Relu", {}, lambda y: np.maximum(y, 0)), ("LeakyRelu", {}, leaky(single(0.01))), ("Sigmoid", {}, sigmoid),
    ("LeakyRelu", {"activation_alpha": 0.25}, leaky(0.25)), ("Tanh", {}, np.tanh),
    ("Clip", {"activation_alpha": -0.5, "activation_beta": 0.75}, lambda y: np.clip(y, -0.5, 0.75)),
    ("HardSigmoid", {}, lambda y: np.clip(single(0.2) * y + 0.5, 0, 1)),
    ("HardSigmoid", {"activation_alpha": 0.25}, lambda y: np.clip(0.25 * y + 0.5, 0, 1)),
    ("HardSigmoid", {"activation_beta": 0.375}, lambda y: np.clip(single(0.2) * y + 0.375, 0, 1)),
    ("HardSigmoid", {"activation_alpha": 0.25, "activation_beta": 0.375}, lambda y: np.clip(0.25 * y + 0.375, 0, 1)),
]


def gemm(cases):
    a, b = numbers(3, 4), numbers(4, 5)
    for c in (None, numbers(5), numbers(3, 1), numbers(3, 5)):
        for activation, of_activation, formula in ACTIVATIONS:
            params = {"activation": activation, **of_activation}
            why = "%s_%s_%s" % (activation, len(of_activation), "" if c is None else "x".join(map(str, c.shape)))
            given = [a, b] + ([] if c is None else [c])
            for dtype in FLOATS:  # the activation is an operator of its own, of what the type has for the product
                cases.of_floats("ms_FusedGemm", given, lambda a, b, c=0: formula(rounded(dtype, a @ b + c)), params, why, types=(dtype,))
    c = numbers(5)
    cases.of_floats("ms_FusedGemm", [a, b, c], lambda a, b, c: np.maximum(a @ b + c, 0), {"activation": "Relu", "activation_gamma": 0.5}, "gamma")
    for of_product, (activation, of_activation, formula) in itertools.product(
            ({"alpha": 0.75}, {"beta": 0.5}, {"transA": 1}, {"transB": 1}, {"alpha": 0.75, "beta": 0.0}), ACTIVATIONS):
        turn_a, turn_b = (lambda m: m.T if "transA" in of_product else m), (lambda m: m.T if "transB" in of_product else m)

        def product(a, b, c):
            return of_product.get("alpha", 1) * (turn_a(a) @ turn_b(b)) + of_product.get("beta", 1) * c

        for dtype in FLOATS:
            cases.of_floats("ms_FusedGemm", [turn_a(a).copy(), turn_b(b).copy(), c], lambda a, b, c: formula(rounded(dtype, product(a, b, c))),
                            {"activation": activation, **of_activation, **of_product}, "_".join(of_product), types=(dtype,))


ALL = [elements, without_effect, several, convolutions, transposed_convolutions, pools, list_operators, reductions, lines, normalisation, products]
