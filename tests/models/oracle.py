# SPDX-License-Identifier: Apache-2.0
"""What a model computes, said a second time: each operator in numpy, straight from its definition.

    model = read_model("model.json")                    JSON IR, as `lightnet convert` writes it
    weights = read_safetensors("model.safetensors")
    tensors = evaluate(model, weights, {"input": array})

Nothing of the library is in here, and nothing is fused, planned or fast: `tensors` holds every
tensor of the model by name. Floating point is computed in double precision (the sums of a
convolution by the BLAS behind numpy) and rounded to the tensor's type once per operator, which is
what an operator promises at best.

A new operator is one more function: `@operator("type")` above a function of the inputs (arrays by
argument name) and the parameters (values by name), which returns its outputs by argument name.
"""
import json
import math
import pathlib
import struct

import numpy as np

DTYPES = {"TL_DOUBLE": np.float64, "TL_FLOAT": np.float32, "TL_INT64": np.int64,
          "TL_INT32": np.int32, "TL_INT16": np.int16, "TL_INT8": np.int8, "TL_UINT64": np.uint64,
          "TL_UINT32": np.uint32, "TL_UINT16": np.uint16, "TL_UINT8": np.uint8}
FILE_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
               "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1"}

BUFFER_BYTES = 64 << 20

OPERATORS = {}


def operator(optype):
    def add(function):
        OPERATORS[optype] = function
        return function
    return add


# ---- Files ----

def read_model(path):
    return json.loads(pathlib.Path(path).read_text())["ops"]


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    header_size, = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8:8 + header_size]).items():
        if name != "__metadata__":
            start, end = (8 + header_size + offset for offset in entry["data_offsets"])
            array = np.frombuffer(data[start:end], FILE_DTYPES[entry["dtype"]])
            tensors[name] = array.reshape(entry["shape"])
    return tensors


# ---- The walk ----

def args_of(op, key):
    return {arg["arg_name"]: arg["name"] for arg in op[key]}


def params_of(op):
    return {param["arg_name"]: param["value"] for param in op["params"]}


def compute(op, inputs):
    """The outputs of one operator, by argument name, rounded to their types."""
    if op["optype"] not in OPERATORS:
        raise NotImplementedError(f"the oracle does not know operator '{op['optype']}'")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return OPERATORS[op["optype"]](inputs, params_of(op))


def evaluate(ops, weights, inputs):
    """Every tensor of the model by name."""
    tensors = {}
    for op in ops:
        params, outs = params_of(op), args_of(op, "tensors_out")
        if op["optype"] == "input" or params.get("from_file"):
            source = inputs if op["optype"] == "input" else weights
            array = source[outs["dst"]]
            if list(array.shape) != params["dims"] or array.dtype != DTYPES[params["dtype"]]:
                raise ValueError(f"'{outs['dst']}': {array.shape} {array.dtype} is not what the "
                                 f"model takes, {params['dims']} {params['dtype']}")
            tensors[outs["dst"]] = array
            continue
        ins = {arg: tensors[name] for arg, name in args_of(op, "tensors_in").items()}
        for arg, array in compute(op, ins).items():
            tensors[outs[arg]] = array
    return tensors


def rounded(value, like):
    """A result in double precision, as the type of `like`."""
    return np.asarray(value).astype(like.dtype)


def numbered(inputs, name):
    """src1, src2, ... in order."""
    return [inputs[f"{name}{i}"] for i in range(1, len(inputs) + 1)]


# ---- Constants ----

@operator("create")
def create(_, p):
    dtype = DTYPES[p["dtype"]]
    low, high = np.asarray(p.get("ran", [0, 0]), np.float64).astype(dtype)
    if p.get("ran", [0, 0]) != [0, 0]:
        if low != high:
            raise ValueError("random numbers of a `create` are the library's own")
        return {"dst": np.full(p["dims"], low, dtype)}
    flat = np.zeros(int(np.prod(p["dims"])), dtype)
    data = p.get("data", [0])
    flat[:len(data)] = data
    return {"dst": flat.reshape(p["dims"])}


@operator("zeros")
def zeros(_, p):
    return {"dst": np.zeros(p["dims"], DTYPES[p["dtype"]])}


# ---- Windows ----

def padding_of(p, size, dilation, in_size):
    """Elements before and behind on each of the two axes."""
    auto = p.get("autopad", "NOTSET")
    if auto == "NOTSET":
        top, left, bottom, right = p.get("padding", [0, 0, 0, 0])
        return [(top, bottom), (left, right)]
    pads = []
    for axis in range(2):
        extent, step = (size[axis] - 1) * dilation[axis] + 1, p["stride"][axis]
        total = 0
        if auto != "VALID":
            out = -(-in_size[axis] // step)
            total = max((out - 1) * step + extent - in_size[axis], 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if auto != "SAME_LOWER" else (large, small))
    return pads


def windows(src, p, dilation, fill):
    """What the window meets at each of its places: a view [N, C, H', W', kh, kw]."""
    size, stride = p["size"], p.get("stride", [1, 1])
    pads = padding_of({**p, "stride": stride}, size, dilation, src.shape[2:])
    x = np.pad(src.astype(np.float64), [(0, 0), (0, 0), *pads], constant_values=fill)
    extent = [(size[a] - 1) * dilation[a] + 1 for a in range(2)]
    met = np.lib.stride_tricks.sliding_window_view(x, extent, axis=(2, 3))
    return met[:, :, ::stride[0], ::stride[1], ::dilation[0], ::dilation[1]]


def activated(result, p):
    act = p.get("act", "none")
    if act not in ("none", "relu"):
        raise NotImplementedError(f"the oracle does not know activation '{act}'")
    return np.maximum(result, 0) if act == "relu" else result


@operator("conv2d")
def conv2d(t, p):
    """A matrix product for each group, over as many rows of the picture as a buffer takes."""
    src, weight, groups = t["src"], t["weight"], p.get("group", 1)
    met = windows(src, p, p.get("dilation", [1, 1]), 0.0)
    batch, channels, high, wide, *size = met.shape
    terms = channels // groups * math.prod(size)  # of each sum
    filters = weight.astype(np.float64).reshape(groups, -1, terms)
    result = np.empty((batch, groups, filters.shape[1], high, wide))
    step = max(1, BUFFER_BYTES // (8 * batch * groups * terms * wide))
    for row in range(0, high, step):
        rows = met[:, :, row:row + step]
        columns = rows.transpose(0, 1, 4, 5, 2, 3).reshape(batch, groups, terms, -1)
        result[..., row:row + step, :] = np.matmul(filters, columns).reshape(
            batch, groups, -1, rows.shape[2], wide)
    result = result.reshape(batch, -1, high, wide) + t["bias"].astype(np.float64)[:, None, None]
    return {"dst": rounded(activated(result, p), src)}


@operator("maxpool2d")
def maxpool2d(t, p):
    return {"dst": rounded(windows(t["src"], p, [1, 1], -np.inf).max(axis=(4, 5)), t["src"])}


@operator("avgpool2d")
def avgpool2d(t, p):
    """Padding does not count: the divisor is how many elements of the image a window meets."""
    total = windows(t["src"], p, [1, 1], 0.0).sum(axis=(4, 5))
    count = windows(np.ones_like(t["src"]), p, [1, 1], 0.0).sum(axis=(4, 5))
    return {"dst": rounded(total / count, t["src"])}


# ---- Element by element ----

@operator("batchnorm")
def batchnorm(t, p):
    scale, offset, mean, var = (t[arg].astype(np.float64)[:, None, None]
                                for arg in ("scale", "offset", "mean", "var"))
    root = np.sqrt(var + np.float64(np.float32(p["epsilon"])))
    return {"dst": rounded((t["src"].astype(np.float64) - mean) / root * scale + offset, t["src"])}


@operator("relu")
def relu(t, _):
    return {"dst": np.maximum(t["src"], t["src"].dtype.type(0))}


@operator("lrelu")
def lrelu(t, p):
    src = t["src"].astype(np.float64)
    slope = np.float64(np.float32(p["negslope"]))
    return {"dst": rounded(np.where(src >= 0, src, src * slope), t["src"])}


@operator("sigmoid")
def sigmoid(t, _):
    return {"dst": rounded(1 / (1 + np.exp(-t["src"].astype(np.float64))), t["src"])}


@operator("softmax")
def softmax(t, p):
    src = t["src"].astype(np.float64)
    powers = np.exp(src - src.max(axis=p["axis"], keepdims=True))
    return {"dst": rounded(powers / powers.sum(axis=p["axis"], keepdims=True), t["src"])}


ELEMENTWISE = {"TL_MUL": np.multiply, "TL_DIV": np.divide, "TL_SUM": np.add, "TL_SUB": np.subtract,
               "TL_MAX": np.maximum, "TL_MIN": np.minimum, "TL_POW": np.power}


@operator("elew")
def elew(t, p):
    """In double for floats: one such operation, rounded, is the operation in float."""
    if t["src1"].dtype.kind != "f":
        raise NotImplementedError("the oracle's elew knows floating point only")
    wide = [t[arg].astype(np.float64) for arg in ("src1", "src2")]
    return {"dst": rounded(ELEMENTWISE[p["elew_op"]](*wide), t["src1"])}


# ---- Moving elements ----

@operator("reshape")
def reshape(t, p):
    return {"dst": t["src"].reshape(p["dims"])}


@operator("forward")
def forward(t, _):
    return {"dst": t["src"]}


@operator("slice")
def slice_(t, p):
    return {"dst": np.take(t["src"], range(p["start"], p["start"] + p["len"]), axis=p["axis"])}


@operator("concat")
def concat(t, p):
    return {"dst": np.concatenate(numbered(t, "src"), axis=p["axis"])}


@operator("transpose")
def transpose(t, p):
    return {"dst": np.ascontiguousarray(np.transpose(t["src"], p["axes"]))}
