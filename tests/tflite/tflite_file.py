# SPDX-License-Identifier: Apache-2.0
"""Writes and reads TensorFlow Lite models for tests: FlatBuffers, byte by byte, from lists of tensors and operators.

A table is a dict of field number -> value: an int or float with its format ("i", 4), bytes of a vector that is there
already, a str, a dict (a table), or a list of these. Nothing here knows what an operator means.
"""
import struct

import numpy as np

TYPES = ["float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64",
         "complex128", "uint64", "resource", "variant", "uint32", "uint16", "int4"]

# Numbers of the schema, and the fields of each operator's options with the formats of their numbers.
CODES = {
    "ADD": 0, "AVERAGE_POOL_2D": 1, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "DEPTH_TO_SPACE": 5,
    "DEQUANTIZE": 6, "EMBEDDING_LOOKUP": 7, "FLOOR": 8, "FULLY_CONNECTED": 9, "L2_NORMALIZATION": 11, "LOCAL_RESPONSE_NORMALIZATION": 13,
    "LOGISTIC": 14, "MAX_POOL_2D": 17, "MUL": 18, "RELU": 19, "RELU_N1_TO_1": 20, "RELU6": 21, "RESHAPE": 22,
    "RESIZE_BILINEAR": 23, "SOFTMAX": 25, "SPACE_TO_DEPTH": 26, "TANH": 28, "CUSTOM": 32, "PAD": 34, "GATHER": 36,
    "BATCH_TO_SPACE_ND": 37, "SPACE_TO_BATCH_ND": 38, "TRANSPOSE": 39, "MEAN": 40, "SUB": 41, "DIV": 42, "SQUEEZE": 43,
    "STRIDED_SLICE": 45, "EXP": 47, "TOPK_V2": 48, "SPLIT": 49, "LOG_SOFTMAX": 50, "CAST": 53, "PRELU": 54,
    "MAXIMUM": 55, "ARG_MAX": 56, "MINIMUM": 57, "LESS": 58, "NEG": 59, "PADV2": 60, "GREATER": 61,
    "GREATER_EQUAL": 62, "LESS_EQUAL": 63, "SELECT": 64, "SLICE": 65, "SIN": 66, "TRANSPOSE_CONV": 67, "TILE": 69,
    "EXPAND_DIMS": 70, "EQUAL": 71, "NOT_EQUAL": 72, "LOG": 73, "SUM": 74, "SQRT": 75, "RSQRT": 76, "SHAPE": 77,
    "POW": 78, "ARG_MIN": 79, "REDUCE_PROD": 81, "REDUCE_MAX": 82, "PACK": 83, "LOGICAL_OR": 84, "ONE_HOT": 85,
    "LOGICAL_AND": 86, "LOGICAL_NOT": 87, "UNPACK": 88, "REDUCE_MIN": 89, "FLOOR_DIV": 90, "SQUARE": 92,
    "FLOOR_MOD": 95, "RESIZE_NEAREST_NEIGHBOR": 97, "LEAKY_RELU": 98, "SQUARED_DIFFERENCE": 99, "MIRROR_PAD": 100,
    "ABS": 101, "SPLIT_V": 102, "CEIL": 104, "REVERSE_V2": 105, "ADD_N": 106, "GATHER_ND": 107, "COS": 108,
    "ELU": 111, "QUANTIZE": 114, "DENSIFY": 124, "ROUND": 116, "HARD_SWISH": 117, "SELECT_V2": 123, "BATCH_MATMUL": 126,
    "BROADCAST_TO": 130, "GELU": 150, "RELU_0_TO_1": 152, "SIGN": 158, "L2_POOL_2D": 12, "SPARSE_TO_DENSE": 68,
    "FAKE_QUANT": 80, "REDUCE_ANY": 91, "ZEROS_LIKE": 93, "FILL": 94, "RANGE": 96, "UNIQUE": 103, "WHERE": 109, "RANK": 110,
    "REVERSE_SEQUENCE": 112, "MATRIX_DIAG": 113, "MATRIX_SET_DIAG": 115, "NON_MAX_SUPPRESSION_V4": 120,
    "NON_MAX_SUPPRESSION_V5": 121, "SCATTER_ND": 122, "SEGMENT_SUM": 125, "CUMSUM": 128, "CONV_3D": 132, "REDUCE_ALL": 140,
    "BROADCAST_ARGS": 145, "BUCKETIZE": 147, "DYNAMIC_UPDATE_SLICE": 151, "UNSORTED_SEGMENT_PROD": 153,
    "UNSORTED_SEGMENT_MAX": 154, "UNSORTED_SEGMENT_SUM": 155, "ATAN2": 156, "UNSORTED_SEGMENT_MIN": 157, "BITCAST": 159,
    "BITWISE_XOR": 160, "RIGHT_SHIFT": 161, "UNIDIRECTIONAL_SEQUENCE_RNN": 35, "UNIDIRECTIONAL_SEQUENCE_LSTM": 44,
    "SVDF": 27, "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143, "ASSIGN_VARIABLE": 144, "IF": 118, "WHILE": 119, "STABLEHLO_COMPOSITE": 206,
}
POOL = {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"), "filter_w": (3, "i"), "filter_h": (4, "i"),
        "act": (5, "b")}
ACT = {"act": (0, "b")}
OPTIONS = {
    "CONV_2D": {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"), "act": (3, "b"), "dilation_w": (4, "i"),
                "dilation_h": (5, "i")},
    "DEPTHWISE_CONV_2D": {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"), "multiplier": (3, "i"),
                          "act": (4, "b"), "dilation_w": (5, "i"), "dilation_h": (6, "i")},
    "TRANSPOSE_CONV": {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"), "act": (3, "b")},
    "FULLY_CONNECTED": {"act": (0, "b"), "format": (1, "b"), "keep_num_dims": (2, "b"),
                        "asymmetric": (3, "b")},
    "AVERAGE_POOL_2D": POOL, "MAX_POOL_2D": POOL, "ADD": ACT, "SUB": ACT, "MUL": ACT, "DIV": ACT,
    "L2_NORMALIZATION": ACT, "SOFTMAX": {"beta": (0, "f")}, "CONCATENATION": {"axis": (0, "i"), "act": (1, "b")},
    "RESHAPE": {"new_shape": (0, "i")}, "SQUEEZE": {"dims": (0, "i")},
    "RESIZE_BILINEAR": {"align_corners": (2, "b"), "half_pixel": (3, "b")},
    "RESIZE_NEAREST_NEIGHBOR": {"align_corners": (0, "b"), "half_pixel": (1, "b")},
    "SPACE_TO_DEPTH": {"block": (0, "i")}, "DEPTH_TO_SPACE": {"block": (0, "i")},
    "BATCH_MATMUL": {"adj_x": (0, "b"), "adj_y": (1, "b")},
    "STRIDED_SLICE": {"begin_mask": (0, "i"), "end_mask": (1, "i"), "ellipsis_mask": (2, "i"), "new_axis_mask": (3, "i"),
                      "shrink_axis_mask": (4, "i"), "offset": (5, "b")},
    "GATHER": {"axis": (0, "i"), "batch_dims": (1, "i")}, "PACK": {"count": (0, "i"), "axis": (1, "i")},
    "UNPACK": {"num": (0, "i"), "axis": (1, "i")}, "SPLIT": {"num": (0, "i")}, "SPLIT_V": {"num": (0, "i")},
    "LEAKY_RELU": {"alpha": (0, "f")}, "MIRROR_PAD": {"mode": (0, "b")}, "ARG_MAX": {"type": (0, "b")},
    "ARG_MIN": {"type": (0, "b")}, "CAST": {"from": (0, "b"), "to": (1, "b")}, "SHAPE": {"type": (0, "b")},
    "GELU": {"approximate": (0, "b")}, "ONE_HOT": {"axis": (0, "i")},
    "LOCAL_RESPONSE_NORMALIZATION": {"radius": (0, "i"), "bias": (1, "f"), "alpha": (2, "f"), "beta": (3, "f")},
    "UNIDIRECTIONAL_SEQUENCE_LSTM": {"act": (0, "b"), "cell_clip": (1, "f"), "time_major": (3, "b")},
    "UNIDIRECTIONAL_SEQUENCE_RNN": {"time_major": (0, "b"), "act": (1, "b")},
    "SVDF": {"rank": (0, "i"), "act": (1, "b")}, "CALL_ONCE": {"subgraph": (0, "i")},
    "STABLEHLO_COMPOSITE": {"name": (0, "s"), "subgraph": (1, "i")}, "IF": {"then": (0, "i"), "else": (1, "i")}, "WHILE": {"cond": (0, "i"), "body": (1, "i")},
    "VAR_HANDLE": {"container": (0, "s"), "name": (1, "s")},
    "L2_POOL_2D": POOL, "CUMSUM": {"exclusive": (0, "b"), "reverse": (1, "b")}, "BUCKETIZE": {"boundaries": (0, "f")},
    "REVERSE_SEQUENCE": {"seq_dim": (0, "i"), "batch_dim": (1, "i")}, "UNIQUE": {"type": (0, "b")},
    "FAKE_QUANT": {"min": (0, "f"), "max": (1, "f"), "bits": (2, "i"), "narrow": (3, "b")},
    "CONV_3D": {"padding": (0, "b"), "stride_d": (1, "i"), "stride_w": (2, "i"), "stride_h": (3, "i"), "act": (4, "b"),
                "dilation_d": (5, "i"), "dilation_w": (6, "i"), "dilation_h": (7, "i")},
    **{name: {"keep_dims": (0, "b")} for name in ("REDUCE_ANY", "REDUCE_ALL", "MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")},
}


# ---- FlatBuffers ----

class Number:
    """A number in a table."""

    def __init__(self, fmt, value):
        self.bytes = struct.pack("<" + fmt, value)


class Vector:
    """A vector of numbers, given as their bytes."""

    def __init__(self, data, size, align=None):
        self.bytes, self.count, self.align = data, len(data) // size, align or size


def ints(values, fmt="i"):
    values = list(values)
    return Vector(struct.pack(f"<{len(values)}{fmt}", *values), struct.calcsize(fmt))


class Writer:
    """Grows from the front: whatever a table refers to is after it, so that offsets are positive."""

    def __init__(self):
        self.out = bytearray()

    def pad(self, align):
        self.out += bytes(-len(self.out) % align)

    def put(self, at, fmt, value):
        struct.pack_into("<" + fmt, self.out, at, value)

    def table(self, fields):
        """Its place; what it refers to follows."""
        fields = {k: v for k, v in fields.items() if v is not None}
        sizes = {k: len(v.bytes) if isinstance(v, Number) else 4 for k, v in fields.items()}
        count = max(fields, default=-1) + 1
        offsets, at = {}, 4
        for k in sorted(fields, key=lambda k: -sizes[k]):
            at += -at % sizes[k]
            offsets[k], at = at, at + sizes[k]
        vtable_len = 4 + 2 * count
        self.pad(8)
        vtable = len(self.out)
        self.out += struct.pack("<HH", vtable_len, at) + b"".join(
            struct.pack("<H", offsets.get(k, 0)) for k in range(count))
        self.pad(8)
        start = len(self.out)
        self.out += bytes(at)
        self.put(start, "i", start - vtable)
        for k, value in fields.items():
            if isinstance(value, Number):
                self.out[start + offsets[k]:start + offsets[k] + sizes[k]] = value.bytes
        for k, value in fields.items():
            if not isinstance(value, Number):
                self.put(start + offsets[k], "I", self.value(value) - start - offsets[k])
        return start

    def value(self, value):
        if isinstance(value, dict):
            return self.table(value)
        if isinstance(value, str):
            self.pad(4)
            start = len(self.out)
            self.out += struct.pack("<I", len(value.encode())) + value.encode() + b"\0"
            return start
        if isinstance(value, Vector):
            self.out += bytes(-(len(self.out) + 4) % max(value.align, 4))
            start = len(self.out)
            self.out += struct.pack("<I", value.count) + value.bytes
            return start
        self.pad(4)
        start = len(self.out)
        self.out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for i, item in enumerate(value):
            self.put(start + 4 + 4 * i, "I", self.value(item) - start - 4 - 4 * i)
        return start


def file_of(model):
    w = Writer()
    w.out += bytes(4) + b"TFL3"
    w.put(0, "I", w.table(model))
    return bytes(w.out)


def flex_map(options):
    """The options of a custom operator as a FlexBuffer: a map of names to numbers, 4 bytes each."""
    out, at = bytearray(), {}
    for key in sorted(options):
        at[key] = len(out)
        out += key.encode() + b"\0"
    out += bytes(-len(out) % 4) + struct.pack("<I", len(at))
    keys = len(out)
    for key in sorted(options):
        out += struct.pack("<I", len(out) - at[key])
    out += struct.pack("<III", len(out) - keys, 4, len(options))
    start, types = len(out), b""
    for key in sorted(options):
        value = options[key]
        is_float = isinstance(value, float)
        out += struct.pack("<f" if is_float else "<i", value)
        types += bytes([(26 if isinstance(value, bool) else 3 if is_float else 1) << 2 | 2])
    out += types
    out += bytes(-len(out) % 4)
    return bytes(out + struct.pack("<I", len(out) - start) + bytes([9 << 2 | 2, 4]))


# ---- Models ----

def tensor(name, dtype, shape=(), data=None, scale=None, zero=None, axis=0, signature=None, variable=False, blocks=None, sparsity=None):
    """`data`: an array, or bytes as they are. `blocks`: the tensor of their scales, or its index, of zero points, and their size.
    `sparsity`: the table that `sparse` makes with the data."""
    return {"name": name, "dtype": dtype, "shape": list(shape), "data": data, "scale": scale, "zero": zero,
            "axis": axis, "signature": signature, "variable": variable, "blocks": blocks, "sparsity": sparsity}


def constant(name, array, **more):
    array = np.asarray(array)
    return tensor(name, array.dtype.name, array.shape, array, **more)


def sparse(array, order, formats, blocks=(), kinds=(1, 1)):
    """The elements of `array` that are stored, and the table of the others. `order`: axes, then blocks, as levels;
    `formats`: 1 for a sparse level; `blocks`: (axis, size); `kinds`: of the lists of segments and of indices."""
    sizes = dict(blocks)
    shape = [n for axis, size in enumerate(array.shape) for n in ([size // sizes[axis], sizes[axis]] if axis in sizes else [size])]
    where, at = {}, 0  # of the axes and blocks in that shape
    for axis in range(array.ndim):
        where[axis] = at
        if axis in sizes:
            where[array.ndim + [b[0] for b in blocks].index(axis)] = at + 1
        at += 2 if axis in sizes else 1
    tree = array.reshape(shape).transpose([where[i] for i in order])
    nodes, levels = [()], []
    for depth, is_sparse in enumerate(formats):
        below = [(node, [i for i in range(tree.shape[depth]) if not is_sparse or np.any(tree[node + (i,)])]) for node in nodes]
        nodes = [node + (i,) for node, some in below for i in some]
        if not is_sparse:
            levels.append({0: Number("b", 0), 1: Number("i", tree.shape[depth])})
            continue
        segments = np.cumsum([0] + [len(some) for _, some in below])
        formats_of = {1: "i", 2: "H", 3: "B"}
        levels.append({0: Number("b", 1), 2: Number("B", kinds[0]), 3: {0: ints(segments, formats_of[kinds[0]])},
                       4: Number("B", kinds[1]), 5: {0: ints((i for _, some in below for i in some), formats_of[kinds[1]])}})
    values = np.array([tree[node] for node in nodes], array.dtype)
    return values, {0: ints(order), 1: ints(axis for axis, _ in blocks), 2: levels}


def options_of(op, options):
    table = {}
    for key, value in options.items():
        field, fmt = OPTIONS[op][key]
        table[field] = (value if isinstance(value, str) else ints(value, fmt) if isinstance(value, (list, tuple)) else
                        Number(fmt, value))
    return table


def model(tensors, ops, inputs, outputs, others=(), **more):
    """`ops`: (type, inputs, outputs, options), options in bytes for a custom operator; tensors by index, or by name.
    `others`: further subgraphs, (tensors, ops, inputs, outputs). `more`: fields of the model."""
    buffers, codes, code_tables = [{}], {}, []
    graphs = [graph(*parts, buffers, codes, code_tables) for parts in [(tensors, ops, inputs, outputs), *others]]
    return file_of({0: Number("I", 3), 1: code_tables, 2: graphs, 3: "made by a test", 4: buffers,
                    **{int(k): v for k, v in more.items()}})


def graph(tensors, ops, inputs, outputs, buffers, codes, code_tables):
    index = {t["name"]: i for i, t in reversed(list(enumerate(tensors)))}

    def number(t):
        return t if isinstance(t, int) else -1 if t is None else index[t]

    tables, op_tables = [], []
    for t in tensors:
        buffer = 0
        if t["data"] is not None:
            data = t["data"] if isinstance(t["data"], bytes) else np.ascontiguousarray(t["data"]).tobytes()
            buffer = len(buffers)
            buffers.append({0: Vector(data, 1, 16)})
        quant = None
        if t["scale"] is not None:
            scales = np.atleast_1d(np.float32(t["scale"]))
            zeros = np.broadcast_to(np.int64(t["zero"] if t["zero"] is not None else 0), scales.shape)
            quant = {2: Vector(scales.tobytes(), 4), 3: Vector(zeros.tobytes(), 8), 6: Number("i", t["axis"])}
        if t["blocks"] is not None:
            scales, zeros, size = t["blocks"]
            quant = {4: Number("B", 2), 5: {0: Number("i", number(scales)), 1: Number("i", number(zeros)), 2: Number("i", size)}}
        tables.append({0: ints(t["shape"]), 1: Number("b", TYPES.index(t["dtype"])), 2: Number("I", buffer),
                       3: t["name"], 4: quant, 5: Number("B", 1) if t["variable"] else None, 6: t["sparsity"],
                       7: ints(t["signature"]) if t["signature"] is not None else None})
    for name, ins, outs, options in ops:
        if name not in codes:
            codes[name] = len(codes)
            is_custom = str(name).startswith("CUSTOM ")
            code = 32 if is_custom else name if isinstance(name, int) else CODES[name]
            code_tables.append({0: Number("b", min(code, 127)), 1: name[7:] if is_custom else None,
                                2: Number("i", 1), 3: Number("i", code)})
        op_tables.append({0: Number("I", codes[name]), 1: ints(map(number, ins)), 2: ints(map(number, outs)),
                          12 if name == "STABLEHLO_COMPOSITE" else 4: options_of(name, options) if isinstance(options, dict) and options else None,
                          5: Vector(options, 1) if isinstance(options, bytes) else None})
    return {0: tables, 1: ints(map(number, inputs)), 2: ints(map(number, outputs)), 3: op_tables, 4: "main"}


# ---- Reading again, for operators that others wrote ----

class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]

    def field(self, i):
        if 4 + 2 * i >= struct.unpack_from("<H", self.data, self.vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * i)[0]
        return self.at + offset if offset else 0

    def number(self, i, fmt, absent=0):
        at = self.field(i)
        return struct.unpack_from("<" + fmt, self.data, at)[0] if at else absent

    def child(self, i):
        at = self.field(i)
        return Table(self.data, at + struct.unpack_from("<I", self.data, at)[0]) if at else None

    def numbers(self, i, fmt="i"):
        at = self.field(i)
        if not at:
            return []
        at += struct.unpack_from("<I", self.data, at)[0]
        return list(struct.unpack_from(f"<{struct.unpack_from('<I', self.data, at)[0]}{fmt}", self.data, at + 4))

    def children(self, i):
        at = self.field(i)
        if not at:
            return []
        at += struct.unpack_from("<I", self.data, at)[0] + 4
        return [Table(self.data, at + 4 * k + struct.unpack_from("<I", self.data, at + 4 * k)[0])
                for k in range(struct.unpack_from("<I", self.data, at - 4)[0])]

    def text(self, i):
        return bytes(self.numbers(i, "B")).decode()


def read(data):
    """(tensors, ops, inputs, outputs) of the first subgraph, as `model` takes them, tensors by index."""
    top = Table(data, struct.unpack_from("<I", data, 0)[0])
    names = {code: name for name, code in CODES.items()}
    codes = [max(c.number(0, "b"), c.number(3, "i")) for c in top.children(1)]
    buffers, graph = top.children(4), top.children(2)[0]
    tensors, ops = [], []
    for t in graph.children(0):
        dtype, shape, quant = TYPES[t.number(1, "b")], t.numbers(0), t.child(4)
        raw = bytes(buffers[t.number(2, "I")].numbers(0, "B")) if t.number(2, "I") else b""
        data = np.frombuffer(raw, dtype).reshape(shape) if raw else None
        tensors.append(tensor(t.text(3), dtype, shape, data, quant.numbers(2, "f") if quant else None,
                              quant.numbers(3, "q") if quant else None, quant.number(6, "i") if quant else 0))
    for o in graph.children(3):
        name, table, options = names[codes[o.number(0, "I")]], o.child(4), {}
        for key, (field, fmt) in OPTIONS.get(name, {}).items() if table else ():
            options[key] = (table.numbers(field) if key in ("new_shape", "dims") else
                            table.number(field, fmt, int(key.startswith("dilation"))))
        ops.append((name, o.numbers(1), o.numbers(2), options))
    return tensors, ops, graph.numbers(1), graph.numbers(2)
