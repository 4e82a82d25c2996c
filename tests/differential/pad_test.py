#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random Pads against NumPy, to the bit: on `cpu` with one thread and with several, on `ref`, as read.

    pad_test.py BUILD-FOLDER [SEED [COUNT]]

All modes, elements of 1, 2, 4 and 8 bytes, pads that take elements away, dimensions of 0 and 1, rows that are long and
short, pads that are an input of the model, and images after a convolution, whose pads are of channels-last ones.
"""
import os
import random
import sys
import time

import numpy as np
from onnx import helper, numpy_helper

BUILD = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(BUILD, "python"))
import lightnetrt  # noqa: E402

DTYPES = (np.float32, np.float32, np.float32, np.float64, np.float16, np.uint8, np.int8, np.int32, np.int64, np.bool_)
WAYS = (("cpu", {"threads": 1}), ("cpu of three threads", {"threads": 3}), ("ref", {"target": "ref"}), ("as read", {"as_read": True}))


def expected_of(x, pads, mode, value):
    """None where there is nothing to repeat."""
    rank = x.ndim
    begins, ends = pads[:rank], pads[rank:]
    if any(dim + begin + end < 0 or -begin > dim or -end > dim for dim, begin, end in zip(x.shape, begins, ends)):
        return None
    left = x[tuple(slice(max(-begin, 0), dim - max(-end, 0)) for dim, begin, end in zip(x.shape, begins, ends))]
    widths = [(max(begin, 0), max(end, 0)) for begin, end in zip(begins, ends)]
    if mode == "constant":
        return np.pad(left, widths, mode, constant_values=value)
    if left.size == 0:
        return None
    for axis, (begin, end) in enumerate(widths):  # np.pad wraps and mirrors once only, in some versions
        last = left.shape[axis] - 1
        at = np.arange(-begin, last + 1 + end)
        at = {"edge": np.clip(at, 0, last), "wrap": at % (last + 1),
              "reflect": last - np.abs(at % max(2 * last, 1) - last)}[mode]
        left = np.take(left, at, axis)
    return left


def make(draw):
    rank = draw.choice([1, 2, 3, 3, 4, 4, 4, 5])
    dims = [draw.choice([1, 2, 3, 5, 8, 17] + ([0] if draw.random() < 0.05 else [])) for _ in range(rank)]
    if draw.random() < 0.3:
        dims[draw.randrange(rank)] = draw.choice([70, 300, 1100])
    if np.prod(dims, dtype=float) > 2e5:
        return None
    dtype = draw.choice(DTYPES)
    generator = np.random.default_rng(draw.randrange(1 << 30))
    x = generator.integers(0, 2 if dtype == np.bool_ else 100, dims).astype(dtype)
    padded = draw.sample(range(rank), draw.randint(1, rank))
    pads = [draw.choice([0, 0, 1, 2, 3, -1, 5, 20, -2]) if axis % rank in padded else 0 for axis in range(2 * rank)]
    value = dtype(draw.choice([0, -0.0, 1, 7, 7.25]))
    mode = draw.choice(["constant", "constant", "constant", "reflect", "edge", "wrap"])
    has_value, is_given = draw.random() < 0.8, draw.random() < 0.3
    is_image = rank == 4 and dtype == np.float32 and 0 not in dims and dims[1] < 20 and draw.random() < 0.6
    return x, pads, mode, value, has_value, is_given, is_image


def failure(x, pads, mode, value, has_value, is_given, is_image):
    """What differs first, or None; False where no such tensor can be padded so."""
    expected = expected_of(x, pads, mode, value if has_value else x.dtype.type(0))
    if expected is None or expected.size > 1e6:
        return False
    dtype = numpy_helper.from_array(x).data_type
    pads, feeds = np.array(pads, np.int64), {"x": x}
    values = [helper.make_tensor_value_info("x", dtype, x.shape)]
    constants = []
    if has_value:
        constants.append(numpy_helper.from_array(np.array(value), "value"))
    if is_given:
        values.append(helper.make_tensor_value_info("pads", 7, pads.shape))
        feeds["pads"] = pads
    else:
        constants.append(numpy_helper.from_array(pads, "pads"))
    nodes = [helper.make_node("Pad", ["image" if is_image else "x", "pads"] + ["value"] * has_value, ["y"], mode=mode)]
    if is_image:  # the weights leave it as it is
        constants.append(numpy_helper.from_array(np.eye(x.shape[1], dtype=np.float32)[:, :, None, None], "w"))
        nodes.insert(0, helper.make_node("Conv", ["x", "w"], ["image"]))
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", dtype, [None] * x.ndim)], constants)
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()
    way = "read"
    try:
        for way, options in WAYS:
            with lightnetrt.load(data, **options) as loaded:
                got = np.asarray(loaded.run(feeds)["y"])
                if got.dtype != x.dtype or got.shape != expected.shape:
                    return f"{way} is {got.dtype} {got.shape}, not {x.dtype} {expected.shape}"
                if got.tobytes() != np.ascontiguousarray(expected).tobytes():
                    return f"{way} has other elements"
    except lightnetrt.Error as error:
        return f"{way}: {type(error).__name__}: {error}"
    return None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    tried = failed = 0
    print(f"seed {seed}")
    for number in range(seed, seed + count):
        made = make(random.Random(number))
        found = failure(*made) if made else False
        tried += found is not False
        if found:
            failed += 1
            print(f"pads {number}: {made[0].dtype} {made[0].shape}, {made[1]}, {made[2]}: {found}")
    print(f"{tried} pads, {failed} failures")
    return 1 if failed or tried < count // 2 else 0


sys.exit(main())
