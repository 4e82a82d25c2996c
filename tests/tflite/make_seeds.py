#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target tflite: small models that together have each part of the format.

Usage: make_seeds.py [FOLDER]     default: tests/fuzz/tflite
"""
import io
import pathlib
import sys
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tflite_file as tf


def ramp(dtype, *shape):
    return (np.arange(np.prod(shape)) % 5 - 2).astype(dtype).reshape(shape)


def conv():
    t = [tf.tensor("x", "float32", (1, 4, 4, 2)), tf.constant("w", ramp("f4", 2, 3, 3, 2)),
         tf.constant("b", ramp("f4", 2)), tf.tensor("c", "float32", (1, 4, 4, 2)),
         tf.tensor("p", "float32", (1, 2, 2, 2)), tf.constant("shape", np.int32([1, 8])),
         tf.tensor("r", "float32", (1, 8)), tf.tensor("y", "float32", (1, 8))]
    ops = [("CONV_2D", ["x", "w", "b"], ["c"], {"padding": 0, "stride_h": 1, "stride_w": 1, "act": 3}),
           ("MAX_POOL_2D", ["c"], ["p"], {"padding": 1, "stride_h": 2, "stride_w": 2, "filter_h": 2, "filter_w": 2}),
           ("RESHAPE", ["p", "shape"], ["r"], {}), ("SOFTMAX", ["r"], ["y"], {"beta": 1.0})]
    return tf.model(t, ops, ["x"], ["y"])


def quantized():
    t = [tf.tensor("x", "int8", (1, 3, 3, 2), scale=0.5, zero=1),
         tf.constant("w", ramp("i1", 1, 2, 2, 2), scale=[0.5, 0.25], zero=[0, 0], axis=3),
         tf.constant("b", ramp("i4", 2), scale=[0.25, 0.125], zero=[0, 0]),
         tf.tensor("y", "int8", (1, 2, 2, 2), scale=0.5, zero=-1)]
    return tf.model(t, [("DEPTHWISE_CONV_2D", ["x", "w", "b"], ["y"],
                         {"padding": 1, "stride_h": 1, "stride_w": 1, "multiplier": 1})], ["x"], ["y"])


def int16():
    """A convolution of int16, what rectifies, adds and multiplies it, a matrix, and its transpose."""
    def image(name, channels=2, scale=0.013):
        return tf.tensor(name, "int16", (1, 3, 3, channels), scale=scale, zero=0)

    t = [image("x"), tf.constant("w", ramp("i1", 2, 2, 2, 2), scale=[0.5, 0.25], zero=[0, 0]),
         tf.constant("b", ramp("i8", 2) * 1000, scale=[0.0065, 0.00325], zero=[0, 0]), image("c"), image("l"), image("s"), image("m"),
         tf.constant("v", ramp("i1", 3, 18), scale=0.1, zero=0), tf.constant("n", ramp("i4", 3), scale=0.0013, zero=0),
         tf.tensor("f", "int16", (1, 3), scale=0.05, zero=0), tf.tensor("y", "int8", (1, 3), scale=0.7, zero=3),
         tf.constant("size", np.int32([1, 6, 6, 2])), tf.tensor("z", "int16", (1, 6, 6, 2), scale=0.02, zero=0)]
    ops = [("CONV_2D", ["x", "w", "b"], ["c"], {"padding": 0, "stride_h": 1, "stride_w": 1, "act": 0}),
           ("LEAKY_RELU", ["c"], ["l"], {"alpha": 0.3}), ("ADD", ["l", "x"], ["s"], {"act": 3}), ("MUL", ["s", "x"], ["m"], {"act": 0}),
           ("FULLY_CONNECTED", ["m", "v", "n"], ["f"], {"act": 0}), ("QUANTIZE", ["f"], ["y"], None),
           ("TRANSPOSE_CONV", ["size", "w", "s"], ["z"], {"padding": 0, "stride_h": 2, "stride_w": 2})]
    return tf.model(t, ops, ["x"], ["y", "z"])


def reference():
    """Operators of int8 that are read in the rounding of the reference kernels, from floats."""
    def row(name, scale, zero):
        return tf.tensor(name, "int8", (1, 3), scale=scale, zero=zero)

    t = [tf.tensor("x", "float32", (1, 3)), row("q", 0.013, -3), tf.constant("w", ramp("i1", 3, 3), scale=[0.5, 0.25, 0.3], zero=[0] * 3),
         row("f", 0.11, 9), row("y", 0.17, 5)]
    return tf.model(t, [("QUANTIZE", ["x"], ["q"], None), ("FULLY_CONNECTED", ["q", "w", None], ["f"], {"act": 1}), ("HARD_SWISH", ["f"], ["y"], None)],
                    ["x"], ["y"])


def int16_tables():
    """Functions of int16 that become tables."""
    def row(name, scale):
        return tf.tensor(name, "int16", (1, 3), scale=scale, zero=0)

    t = [row("x", 0.0003), row("s", 2.0 ** -15), row("y", 0.001)]
    return tf.model(t, [("SOFTMAX", ["x"], ["s"], {"beta": 1}), ("EXP", ["s"], ["y"], None)], ["x"], ["y"])


def int16_steps():
    """Operators on int16 of several steps."""
    def image(name, size, scale=0.013):
        return tf.tensor(name, "int16", (1, size, size, 2), scale=scale, zero=0)

    t = [image("x", 2), tf.constant("w", ramp("i1", 1, 1, 2), scale=0.1, zero=3), image("p", 2), image("q", 2, 0.3), tf.constant("size", np.int32([3, 3])),
         image("r", 3, 0.3), tf.constant("axes", np.int32([1, 2])), tf.tensor("y", "int16", (1, 2), scale=0.1, zero=0)]
    return tf.model(t, [("PRELU", ["x", "w"], ["p"], None), ("DIV", ["x", "p"], ["q"], {"act": 3}), ("RESIZE_BILINEAR", ["q", "size"], ["r"], {"half_pixel": 1}),
                        ("REDUCE_PROD", ["r", "axes"], ["y"], {"keep_dims": 0})], ["x"], ["y"])


def half():
    t = [tf.tensor("x", "float32", (1, 3), signature=(-1, 3)), tf.constant("w16", ramp("f2", 2, 3)),
         tf.tensor("w", "float32", (2, 3)), tf.tensor("y", "float32", (1, 2), signature=(-1, 2))]
    return tf.model(t, [("DEQUANTIZE", ["w16"], ["w"], None), ("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 1})],
                    ["x"], ["y"])


def moves():
    t = [tf.tensor("x", "float32", (2, 3)), tf.constant("from", np.int32([0, 2])), tf.constant("to", np.int32([2, 0])),
         tf.constant("by", np.int32([1, -1])), tf.tensor("s", "float32", (2, 2)), tf.constant("axis", np.int32(0)),
         tf.tensor("a", "float32", (1, 2)), tf.tensor("b", "float32", (1, 2)), tf.tensor("p", "float32", (2, 1, 2)),
         tf.tensor("n", "int32", (3,))]
    ops = [("STRIDED_SLICE", ["x", "from", "to", "by"], ["s"], {"begin_mask": 1, "end_mask": 1}),
           ("SPLIT", ["axis", "s"], ["a", "b"], {"num": 2}), ("PACK", ["a", "b"], ["p"], {"count": 2, "axis": 0}),
           ("SHAPE", ["p"], ["n"], {"type": 2})]
    return tf.model(t, ops, ["x"], ["p", "n"])


def metadata(inputs=(), outputs=()):
    """`inputs`: (means, deviations) of each; `outputs`: [(file of labels, its language)] of each."""
    def normalized(mean, std):
        return {4: [{0: tf.Number("B", 1), 1: {0: tf.ints(mean, "f"), 1: tf.ints(std, "f")}}]}

    def named(*files):
        return {6: [{0: name, 2: tf.Number("b", 2), 3: language} for name, language in files]}

    told = tf.Writer()
    told.out += bytes(4) + b"M001"
    told.put(0, "I", told.table({0: "namer", 1: "what it does", 2: "v1", 4: "a test",
                                 3: [{2: [normalized(*given) for given in inputs], 3: [named(*given) for given in outputs]}]}))
    return {"4": [{}, {0: tf.Vector(bytes(told.out), 1, 16)}], "6": [{0: "TFLITE_METADATA", 1: tf.Number("I", 1)}]}


def packed(**files):
    """A zip archive of texts, whose offsets count from its own start."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in files.items():
            z.writestr(zipfile.ZipInfo(name + ".txt"), text, zipfile.ZIP_DEFLATED if len(text) > 50 else zipfile.ZIP_STORED)
    return archive.getvalue()


def described():
    """Metadata, a signature, and a list of labels past the end."""
    t = [tf.tensor("x", "float32", (2,)), tf.tensor("y", "float32", (2,))]
    signature = {0: [{0: "in", 1: tf.Number("I", 0)}], 1: [{0: "out", 1: tf.Number("I", 1)}], 2: "serve"}
    data = tf.model(t, [("RELU", ["x"], ["y"], None)], ["x"], ["y"], **{
        **metadata([([127.5], [127.5])], [[("labels.txt", None)]]), "7": [signature]})
    return data + packed(labels="cat\ndog\n")


def detector():
    """A custom operator, whose options are a FlexBuffer."""
    options = {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.25,
               "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
               "use_regular_nms": False}
    t = [tf.tensor("codes", "uint8", (1, 4, 4), scale=0.25, zero=128), tf.tensor("scores", "float32", (1, 4, 3)),
         tf.constant("anchors", np.float32([[0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5], [0.5, 0.5, 1, 1], [0, 0, 1, 1]])),
         tf.tensor("boxes", "float32", (1, 3, 4)), tf.tensor("classes", "float32", (1, 3)),
         tf.tensor("best", "float32", (1, 3)), tf.tensor("count", "float32", (1,))]
    return tf.model(t, [("CUSTOM TFLite_Detection_PostProcess", ["codes", "scores", "anchors"],
                         ["boxes", "classes", "best", "count"], tf.flex_map(options))],
                    ["codes", "scores"], ["boxes", "classes", "best", "count"])


def places():
    t = [tf.tensor("x", "float32", (4, 3)), tf.constant("ids", np.int32([1, -1, 0, 1])), tf.constant("two", np.int32(2)),
         tf.tensor("sums", "float32", (2, 3)), tf.tensor("at", "int32", (2,)), tf.tensor("y", "float32", (4, 3)),
         tf.constant("depth", np.int32(5)), tf.constant("on", np.float32(1)), tf.constant("off", np.float32(0)),
         tf.tensor("hot", "float32", (2, 5))]
    ops = [("UNSORTED_SEGMENT_SUM", ["x", "ids", "two"], ["sums"], None),
           ("DYNAMIC_UPDATE_SLICE", ["x", "sums", "at"], ["y"], None),
           ("ONE_HOT", ["at", "depth", "on", "off"], ["hot"], {"axis": -1})]
    return tf.model(t, ops, ["x", "at"], ["y", "hot"])


def variables():
    """A sum over runs: a resource, to which a subgraph that is run once gives its first value."""
    t = [tf.tensor("x", "float32", (2,)), tf.tensor("h", "resource"), tf.tensor("old", "float32", (2,)),
         tf.tensor("y", "float32", (2,))]
    handle = ("VAR_HANDLE", [], ["h"], {"name": "total"})
    ops = [("CALL_ONCE", [], [], {"subgraph": 1}), handle, ("READ_VARIABLE", ["h"], ["old"], None),
           ("ADD", ["old", "x"], ["y"], {"act": 0}), ("ASSIGN_VARIABLE", ["h", "y"], [], None)]
    once = [tf.tensor("h", "resource"), tf.constant("first", np.float32([1, 2]))]
    return tf.model(t, ops, ["x"], ["y"], [(once, [handle, ("ASSIGN_VARIABLE", ["h", "first"], [], None)], [], [])])


def carried():
    """A loop that is given the handle of a variable and counts to 3 in it; each branch adds to it, one in a composite."""
    h, handle = tf.tensor("h", "resource"), ("VAR_HANDLE", [], ["h"], {"name": "count"})
    n, m, c = tf.tensor("n", "int32"), tf.tensor("m", "int32"), tf.tensor("c", "bool")
    small = ([h, n, c, tf.constant("limit", np.int32(3))], [("READ_VARIABLE", ["h"], ["n"], None), ("LESS", ["n", "limit"], ["c"], None)], ["h"], ["c"])
    body = ([h, n, m, c, tf.constant("one", np.int32(1))],
            [("READ_VARIABLE", ["h"], ["n"], None), ("LESS", ["one", "n"], ["c"], None), ("IF", ["c", "h"], ["m"], {"then": 4, "else": 5})], ["h"], ["h"])
    steps = [("READ_VARIABLE", ["h"], ["n"], None), ("ADD", ["n", "one"], ["m"], {"act": 0}), ("ASSIGN_VARIABLE", ["h", "m"], [], None)]
    add = ([h, n, m, tf.constant("one", np.int32(1))], steps, ["h"], ["m"])
    own = ([tf.tensor("unused", "resource"), *add[0]], [handle, *steps], ["unused"], ["m"])
    then = ([h, m], [("STABLEHLO_COMPOSITE", ["h"], ["m"], {"subgraph": 6})], ["h"], ["m"])
    first = ([h, tf.constant("k", np.int32(0))], [handle, ("ASSIGN_VARIABLE", ["h", "k"], [], None)], [], [])
    return tf.model([h, tf.tensor("g", "resource"), tf.tensor("y", "int32")],
                    [("CALL_ONCE", [], [], {"subgraph": 1}), handle, ("WHILE", ["h"], ["g"], {"cond": 2, "body": 3}), ("READ_VARIABLE", ["g"], ["y"], None)],
                    [], ["y"], [first, small, body, then, own, add])


def lstm(**options):
    t = [tf.tensor("x", "float32", (1, 2, 3)), tf.tensor("y", "float32", (1, 2, 4)),
         tf.tensor("h", "float32", (1, 4), variable=True), tf.tensor("c", "float32", (1, 4), variable=True)]
    t += [tf.constant(f"w{i}", ramp("f4", 4, 3) * (i + 1) / 8) for i in range(4)]
    t += [tf.constant(f"r{i}", ramp("f4", 4, 4) / (i + 4)) for i in range(4)]
    t += [tf.constant(f"b{i}", ramp("f4", 4) / 4) for i in range(4)]
    ins = ["x", *(f"w{i}" for i in range(4)), *(f"r{i}" for i in range(4)), None, None, None, *(f"b{i}" for i in range(4)),
           None, None, "h", "c"]
    return tf.model(t, [("UNIDIRECTIONAL_SEQUENCE_LSTM", ins, ["y"], {"act": 4, "time_major": 0, **options})], ["x"], ["y"])


def recurrent():
    """SVDF of int8 after an LSTM of int8, whose gates have the same weights."""
    t = [tf.tensor("x", "int8", (1, 1, 2), scale=0.0123, zero=-7), tf.tensor("y", "int8", (1, 1, 2), scale=0.0071, zero=3), tf.tensor("h", "int8", (1, 2), scale=0.0071, zero=3, variable=True),
         tf.tensor("c", "int16", (1, 2), scale=2**-12, variable=True), tf.constant("shape", np.int32([1, 2])), tf.tensor("rows", "int8", (1, 2), scale=0.0071, zero=3),
         tf.constant("w", ramp("i1", 2, 2), scale=0.01), tf.constant("time", ramp("i2", 2, 2), scale=0.001), tf.constant("b", ramp("i4", 2), scale=1e-5),
         tf.tensor("state", "int16", (1, 4), scale=0.01, variable=True), tf.tensor("z", "int8", (1, 2), scale=0.01, zero=-128)]
    ops = [("UNIDIRECTIONAL_SEQUENCE_LSTM", ["x", *["w"] * 8, None, None, None, *["b"] * 4, None, None, "h", "c"], ["y"], {"act": 4, "cell_clip": 10.0}),
           ("RESHAPE", ["y", "shape"], ["rows"], None), ("SVDF", ["rows", "w", "time", "b", "state"], ["z"], {"rank": 1, "act": 1})]
    return tf.model(t, ops, ["x"], ["z"])


def loop():
    """A loop of branches: x is doubled while it is small, by one of two subgraphs."""
    def number(*names):
        return [tf.tensor(n, "float32", (1,)) for n in names]

    small = ([*number("x"), tf.constant("limit", np.float32([8])), tf.tensor("c", "bool", (1,))], [("LESS", ["x", "limit"], ["c"], None)], ["x"], ["c"])
    body = ([*number("x", "y"), tf.constant("one", np.float32([1])), tf.tensor("c", "bool", (1,))],
            [("LESS", ["x", "one"], ["c"], None), ("IF", ["c", "x"], ["y"], {"then": 3, "else": 4})], ["x"], ["y"])
    first = ([*number("x"), tf.constant("k", np.float32([1]))], [], ["x"], ["k"])
    double = (number("x", "y"), [("ADD", ["x", "x"], ["y"], {"act": 0})], ["x"], ["y"])
    return tf.model(number("x", "y"), [("WHILE", ["x"], ["y"], {"cond": 1, "body": 2})], ["x"], ["y"], [small, body, first, double])


def sparse():
    """Weights of which some blocks are there, in halves."""
    w = np.float16([[1, 2, 0, 0], [0, 0, 0, 0], [0, 0, 3, 4], [0, 5, 0, 6]])
    values, table = tf.sparse(w, (0, 1, 2), (0, 1, 0), ((1, 2),), (2, 3))
    t = [tf.tensor("x", "float32", (2, 4)), tf.tensor("s", "float16", (4, 4), values, sparsity=table), tf.tensor("h", "float16", (4, 4)),
         tf.tensor("w", "float32", (4, 4)), tf.tensor("y", "float32", (2, 4))]
    return tf.model(t, [("DENSIFY", ["s"], ["h"], None), ("DEQUANTIZE", ["h"], ["w"], None), ("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 1})],
                    ["x"], ["y"])


def entries():
    """Two signatures, of a subgraph each, of which the second has a branch; -1 is an open batch."""
    def rows(*names):
        return [tf.tensor(n, "float32", (1, 2), signature=(-1, 2)) for n in names]

    def of(key, graph, **ends):
        return {0: [{0: "in", 1: tf.Number("I", ends["x"])}], 1: [{0: "out", 1: tf.Number("I", ends["y"])}], 2: key,
                4: tf.Number("I", graph) if graph else None}

    decode = ([*rows("code"), tf.constant("by", np.float32([[2, 4]])), tf.constant("yes", np.array(True)), *rows("half", "whole")],
              [("DIV", ["code", "by"], ["half"], {"act": 0}), ("IF", ["yes", "half"], ["whole"], {"then": 2, "else": 2})], ["code"], ["whole"])
    negative = (rows("a", "b"), [("NEG", ["a"], ["b"], None)], ["a"], ["b"])
    t = [*rows("x"), tf.constant("by", np.float32([[2, 4]])), *rows("y")]
    return tf.model(t, [("MUL", ["x", "by"], ["y"], {"act": 0})], ["x"], ["y"], [decode, negative], **{
        "7": [of("encode", 0, x=0, y=2), of("decode", 1, x=0, y=4)]})


SEEDS = {"sparse": sparse, "entries": entries, "loop": loop, "variables": variables, "carried": carried, "lstm": lstm, "recurrent": recurrent, "detector": detector, "places": places, "conv": conv, "quantized": quantized, "reference": reference, "int16": int16, "int16_tables": int16_tables, "int16_steps": int16_steps, "half": half, "moves": moves, "described": described}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "fuzz/tflite"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SEEDS.items():
        (folder / name).write_bytes(make())
