# SPDX-License-Identifier: Apache-2.0
"""What operators of TensorFlow Lite mean, in numpy, on real numbers with channels last: the other side of the tests.

FORMULAS[type](inputs, options) -> output, or a list of outputs. Written from the published meaning of the operators,
with loops over taps; sums are in float64.
"""
import math

import numpy as np

ACTS = [lambda x: x, lambda x: np.maximum(x, 0), lambda x: np.clip(x, -1, 1), lambda x: np.clip(x, 0, 6), np.tanh]


def dynamic(x, is_symmetric):
    """Real numbers as TensorFlow Lite rounds them for weights of int8: 255 steps of the range of each batch."""
    axes = tuple(range(1, x.ndim))
    if is_symmetric:
        scale = np.abs(x).max(axis=axes, keepdims=True) / np.float64(127)
        return np.clip(np.rint(x / scale), -127, 127) * scale
    low = np.minimum(x.min(axis=axes, keepdims=True), 0).astype("f8")
    scale = (np.maximum(x.max(axis=axes, keepdims=True), 0) - low) / 255
    zero = np.rint(-128 - low / scale)
    return (np.clip(np.rint(x / scale + zero), -128, 127) - zero) * scale


def act(x, o):
    return ACTS[o.get("act", 0)](x)


def pads(size, window, stride, dilation, padding):
    """Outputs, and zeros before the first input: SAME has a window at each multiple of the stride."""
    reach = (window - 1) * dilation + 1
    if padding == 1:
        return (size - reach) // stride + 1, 0
    count = -(-size // stride)
    return count, max((count - 1) * stride + reach - size, 0) // 2


def windows(x, h, w, o, size, fill):
    """[N, out rows, out columns, taps, C] of an image, `fill` where a tap is outside."""
    sh, sw, dh, dw = o["stride_h"], o["stride_w"], o.get("dilation_h", 1), o.get("dilation_w", 1)
    rows, top = pads(x.shape[1], size[0], sh, dh, o.get("padding", 0))
    columns, left = pads(x.shape[2], size[1], sw, dw, o.get("padding", 0))
    out = np.full((x.shape[0], rows, columns, size[0] * size[1], x.shape[3]), fill)
    for r in range(rows):
        for c in range(columns):
            for i in range(size[0]):
                for j in range(size[1]):
                    y, z = r * sh - top + i * dh, c * sw - left + j * dw
                    if 0 <= y < h and 0 <= z < w:
                        out[:, r, c, i * size[1] + j] = x[:, y, z]
    return out


def conv(ins, o):
    x, w = ins[0].astype("f8"), ins[1].astype("f8")
    taps = windows(x, x.shape[1], x.shape[2], o, w.shape[1:3], 0.0)
    groups = x.shape[3] // w.shape[3]
    taps = taps.reshape(taps.shape[:4] + (groups, -1))
    w = w.reshape(groups, w.shape[0] // groups, -1, w.shape[3])
    y = np.einsum("nrctgi,goti->nrcgo", taps, w)
    y = y.reshape(y.shape[:3] + (-1,))
    return act(y + (ins[2] if len(ins) > 2 and ins[2] is not None else 0), o)


def depthwise(ins, o):
    x, w = ins[0].astype("f8"), ins[1].astype("f8")
    taps = windows(x, x.shape[1], x.shape[2], o, w.shape[1:3], 0.0)
    w = w.reshape(-1, x.shape[3], w.shape[3] // x.shape[3])
    y = np.einsum("nrctg,tgm->nrcgm", taps, w)
    y = y.reshape(y.shape[:3] + (-1,))
    return act(y + (ins[2] if len(ins) > 2 and ins[2] is not None else 0), o)


def transpose_conv(ins, o):
    shape, w, x = ins[0], ins[1].astype("f8"), ins[2].astype("f8")
    y = np.zeros(shape, "f8")
    _, top = pads(shape[1], w.shape[1], o["stride_h"], 1, o.get("padding", 0))
    _, left = pads(shape[2], w.shape[2], o["stride_w"], 1, o.get("padding", 0))
    for r, c, i, j in np.ndindex(x.shape[1], x.shape[2], w.shape[1], w.shape[2]):
        to = r * o["stride_h"] - top + i, c * o["stride_w"] - left + j
        if 0 <= to[0] < shape[1] and 0 <= to[1] < shape[2]:
            y[:, to[0], to[1]] += x[:, r, c] @ w[:, i, j].T
    return act(y + (ins[3] if len(ins) > 3 else 0), o)


def pool(ins, o, kind):
    x = ins[0].astype("f8")
    taps = windows(x, x.shape[1], x.shape[2], o, (o["filter_h"], o["filter_w"]), np.nan)
    return act(kind(taps, axis=3), o)


def fully_connected(ins, o):
    x, w = ins[0].astype("f8"), ins[1].astype("f8")
    y = x.reshape(-1, w.shape[1]) @ w.T + (ins[2] if len(ins) > 2 and ins[2] is not None else 0)
    if o.get("keep_num_dims"):
        y = y.reshape(x.shape[:-1] + (w.shape[0],))
    return act(y, o)


def softmax(ins, o):
    e = np.exp((ins[0] - ins[0].max(axis=-1, keepdims=True)).astype("f8") * o.get("beta", 0))
    return e / e.sum(axis=-1, keepdims=True)


def places(size, count, o):
    """Where each output is in the input."""
    i = np.arange(count)
    if o.get("align_corners") and count > 1:
        return i * (size - 1) / (count - 1)
    if o.get("half_pixel"):
        return (i + 0.5) * size / count - 0.5
    return i * size / count


def bilinear(ins, o):
    x = ins[0].astype("f8")
    for axis in (1, 2):
        at = places(x.shape[axis], int(ins[1][axis - 1]), o)
        low = np.clip(np.floor(at), 0, x.shape[axis] - 1).astype(int)
        high = np.clip(np.ceil(at), 0, x.shape[axis] - 1).astype(int)
        share = (at - np.floor(at)).reshape([-1 if a == axis else 1 for a in range(4)])
        x = x.take(low, axis) * (1 - share) + x.take(high, axis) * share
    return x


def nearest(ins, o):
    x = ins[0]
    for axis in (1, 2):
        at = places(x.shape[axis], int(ins[1][axis - 1]), o)
        if o.get("align_corners"):
            at = np.floor(at + 0.5)
        elif o.get("half_pixel"):
            at = np.floor(at + 0.5)  # the pixel that holds the place, half a pixel on
        x = x.take(np.clip(np.floor(at), 0, x.shape[axis] - 1).astype(int), axis)
    return x


def blocks_to_depth(ins, o):
    n, h, w, c = ins[0].shape
    b = o["block"]
    x = ins[0].reshape(n, h // b, b, w // b, b, c)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)


def depth_to_blocks(ins, o):
    n, h, w, c = ins[0].shape
    b = o["block"]
    x = ins[0].reshape(n, h, w, b, b, c // b // b)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // b // b)


def strided_slice(ins, o):
    """By numpy's own indexing."""
    index = []
    for i, (start, end, step) in enumerate(zip(*(v.tolist() for v in ins[1:4]))):
        def bit(name):
            return o.get(name, 0) >> i & 1
        if bit("ellipsis_mask"):
            index.append(Ellipsis)
        elif bit("new_axis_mask"):
            index.append(None)
        elif bit("shrink_axis_mask"):
            index.append(start)
        else:
            if o.get("offset"):
                end += start
            index.append(slice(None if bit("begin_mask") else start, None if bit("end_mask") else end, step))
    return ins[0][tuple(index)]


def reshape(ins, o):
    shape = ins[1].tolist() if len(ins) > 1 else o["new_shape"]
    return ins[0].reshape(shape)


def gather(ins, o):
    axis, batch = o.get("axis", 0), o.get("batch_dims", 0)
    if batch == 0:
        return ins[0].take(ins[1], axis)
    return np.stack([gather([x, i], {"axis": axis - 1, "batch_dims": batch - 1}) for x, i in zip(*ins[:2])])


def slice_(ins, _):
    ends = [None if size < 0 else start + size for start, size in zip(ins[1].tolist(), ins[2].tolist())]
    return ins[0][tuple(slice(start, end) for start, end in zip(ins[1].tolist(), ends))]


def split_v(ins, _):
    lengths = ins[1].tolist()
    if -1 in lengths:
        lengths[lengths.index(-1)] = ins[0].shape[int(ins[2])] - sum(n for n in lengths if n > 0)
    return np.split(ins[0], np.cumsum(lengths)[:-1], int(ins[2]))


def reduce(kind):
    return lambda ins, o: kind(ins[0].astype("f8"), axis=tuple(np.atleast_1d(ins[1]).tolist()),
                               keepdims=bool(o.get("keep_dims", 0)))


def local_response(ins, o):
    x, y = ins[0].astype("f8"), np.empty_like(ins[0], "f8")
    for c in range(x.shape[3]):
        near = x[..., max(c - o["radius"], 0):c + o["radius"] + 1]
        y[..., c] = x[..., c] / (o["bias"] + o["alpha"] * (near ** 2).sum(axis=3)) ** o["beta"]
    return y


def batch_matmul(ins, o):
    x, y = ins[0].astype("f8"), ins[1].astype("f8")
    return np.matmul(x.swapaxes(-1, -2) if o.get("adj_x") else x, y.swapaxes(-1, -2) if o.get("adj_y") else y)


def select(ins, _):
    condition = ins[0]
    if condition.ndim == 1 and ins[1].ndim > 1:
        condition = condition.reshape([-1] + [1] * (ins[1].ndim - 1))
    return np.where(condition, ins[1], ins[2])


def space_to_batch(ins, _):
    """Blocks, from the last to the first, to the front of the batch."""
    x, size, edges = ins[0], ins[1].tolist(), ins[2].tolist()
    x = np.pad(x, [[0, 0]] + edges + [[0, 0]] * (x.ndim - 1 - len(size)))
    return np.concatenate([x[(slice(None),) + tuple(slice(at, None, step) for at, step in zip(index, size))]
                           for index in np.ndindex(*size)])


def batch_to_space(ins, _):
    x, size, edges = ins[0], ins[1].tolist(), ins[2].tolist()
    n = x.shape[0] // math.prod(size)
    y = np.empty((n,) + tuple(d * s for d, s in zip(x.shape[1:], size)) + x.shape[1 + len(size):], x.dtype)
    for k, index in enumerate(np.ndindex(*size)):
        y[(slice(None),) + tuple(slice(at, None, step) for at, step in zip(index, size))] = x[k * n:(k + 1) * n]
    return y[(slice(None),) + tuple(slice(a, d - b) for (a, b), d in zip(edges, y.shape[1:]))]


def top_k(ins, _):
    order = np.argsort(-ins[0], axis=-1, kind="stable")[..., :int(ins[1])]
    return [np.take_along_axis(ins[0], order, -1), order.astype("i4")]


def steps_of(x, o):
    return x.astype("f8") if o.get("time_major") else x.astype("f8").swapaxes(0, 1)


def sequence(states, o):
    y = np.stack(states)
    return y if o.get("time_major") else y.swapaxes(0, 1)


def sequence_rnn(ins, o):
    h, states = ins[4].astype("f8"), []
    for x in steps_of(ins[0], o):
        h = act(x @ ins[1].T + h @ ins[2].T + ins[3], o)
        states.append(h)
    return sequence(states, o)


def svdf(ins, o):
    """Features of the newest step at the end of those before it; sums over time, and over `rank` features."""
    x, w, t, bias, kept = ins
    kept = kept.astype("f8").reshape(len(x), *t.shape)
    kept = np.concatenate([kept[..., 1:], (x.astype("f8") @ w.T)[..., None]], -1)
    y = (kept * t).sum(-1).reshape(len(x), -1, o["rank"]).sum(-1)
    return act(y + (0 if bias is None else bias), o)


def sequence_lstm(ins, o):
    """Gates i, f, c and o; without weights of i, the input gate is what the forget gate leaves."""
    w, r, p, bias = ins[1:5], ins[5:9], ins[9:12], ins[12:16]
    h, c, states = ins[18].astype("f8"), ins[19].astype("f8"), []
    for x in steps_of(ins[0], o):
        def gate(k, cell=None):
            z = x @ w[k].T + h @ r[k].T + bias[k]
            return z if cell is None or p[min(k, 2)] is None else z + p[min(k, 2)] * cell
        forget = sigmoid(gate(1, c))
        enter = 1 - forget if w[0] is None else sigmoid(gate(0, c))
        c = forget * c + enter * act(gate(2), o)
        if o.get("cell_clip", 0) > 0:
            c = np.clip(c, -o["cell_clip"], o["cell_clip"])
        h = sigmoid(gate(3, c)) * act(c, o)
        states.append(h)
    return sequence(states, o)


def reverse_sequence(ins, o):
    x = np.moveaxis(ins[0], (o["batch_dim"], o["seq_dim"]), (0, 1)).copy()
    for row, length in zip(x, ins[1]):
        row[:length] = row[:length][::-1].copy()
    return np.moveaxis(x, (0, 1), (o["batch_dim"], o["seq_dim"]))


def conv_3d(ins, o):
    """Sums over taps; weights are [depth, rows, columns, in, out]."""
    x, w = ins[0].astype("f8"), ins[1].astype("f8")
    s = [o["stride_d"], o["stride_h"], o["stride_w"]]
    d = [o.get("dilation_d", 1), o.get("dilation_h", 1), o.get("dilation_w", 1)]
    sizes, before = zip(*(pads(x.shape[i + 1], w.shape[i], s[i], d[i], o["padding"]) for i in range(3)))
    y = np.zeros((x.shape[0],) + sizes + (w.shape[4],))
    for at in np.ndindex(*sizes):
        for tap in np.ndindex(*w.shape[:3]):
            place = [at[i] * s[i] - before[i] + tap[i] * d[i] for i in range(3)]
            if all(0 <= p < n for p, n in zip(place, x.shape[1:4])):
                y[(slice(None),) + at] += x[(slice(None),) + tuple(place)] @ w[tap]
    return act(y + (ins[2] if ins[2] is not None else 0), o)


def scatter_nd(ins, _):
    y = np.zeros(ins[2].tolist(), ins[1].dtype)
    for index in np.ndindex(*ins[0].shape[:-1]):
        y[tuple(ins[0][index])] += ins[1][index]
    return y


def sparse_to_dense(ins, _):
    y = np.full(ins[1].tolist(), ins[3])
    places = ins[0].reshape(-1, len(y.shape)) if ins[0].ndim < 2 else ins[0]
    for i, place in enumerate(places.tolist()):
        y[tuple(place)] = ins[2] if ins[2].ndim == 0 else ins[2][i]
    return y


def segment(start, put):
    def formula(ins, _):
        x, ids = ins[0], ins[1]
        count = int(ins[2]) if len(ins) > 2 else int(ids[-1]) + 1
        y = np.full((count,) + x.shape[ids.ndim:], start(x.dtype), x.dtype)
        for index in np.ndindex(*ids.shape):
            if ids[index] >= 0:
                y[ids[index]] = put(y[ids[index]], x[index])
        return y
    return formula


def least(dtype):
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def most(dtype):
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


def dynamic_update_slice(ins, _):
    y, part = ins[0].copy(), ins[1]
    start = [min(max(at, 0), n - m) for at, n, m in zip(ins[2].tolist(), y.shape, part.shape)]
    y[tuple(slice(at, at + m) for at, m in zip(start, part.shape))] = part
    return y


def unique(ins, _):
    seen = []
    which = []
    for value in ins[0].tolist():
        if value not in seen:
            seen.append(value)
        which.append(seen.index(value))
    return [np.array(seen, ins[0].dtype), np.array(which, "i4")]


def one_hot(ins, o):
    hot = np.where(ins[0][..., None] == np.arange(int(ins[1])), ins[2], ins[3])
    return np.moveaxis(hot, -1, o["axis"]).astype(ins[2].dtype)


def cumsum(ins, o):
    axis, x = int(ins[1]), ins[0]
    x = np.flip(x, axis) if o.get("reverse") else x
    y = x.cumsum(axis).astype(x.dtype)
    y = y - x if o.get("exclusive") else y
    return np.flip(y, axis) if o.get("reverse") else y


def fake_quant(ins, o):
    first, last = float(o["narrow"]), 2.0 ** o["bits"] - 1
    scale = (o["max"] - o["min"]) / (last - first)
    zero = np.clip(np.round(first - o["min"] / scale), first, last)
    low, high = (first - zero) * scale, (last - zero) * scale
    return np.floor((np.clip(ins[0].astype("f8"), low, high) - low) / scale + 0.5) * scale + low


def set_diag(ins, _):
    y = ins[0].copy()
    n = min(y.shape[-2:])
    y[..., np.arange(n), np.arange(n)] = ins[1]
    return y


def overlap(p, q):
    """The share of their union that two boxes y, x, y, x have in common."""
    p, q = (np.concatenate([np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])]) for b in (p, q))
    common = np.prod(np.maximum(np.minimum(p[2:], q[2:]) - np.maximum(p[:2], q[:2]), 0))
    areas = [np.prod(b[2:] - b[:2]) for b in (p, q)]
    return common / (sum(areas) - common) if min(areas) > 0 else 0.0


def keep_best(boxes, scores, count, is_over):
    """Boxes by score, without those that overlap a better one too far."""
    kept = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if len(kept) < count and not any(is_over(overlap(boxes[i], boxes[k])) for k in kept):
            kept.append(i)
    return kept


def non_max_suppression(ins, _):
    boxes, scores, count, share, floor = ins[:5]
    above = [i for i in range(len(scores)) if scores[i] > floor]
    kept = [above[i] for i in keep_best(boxes[above], scores[above], int(count), lambda s: s >= share)]
    pad = int(count) - len(kept)
    found = np.int32(kept + [0] * pad)
    number = np.int32(len(kept))
    return [found, number] if len(ins) < 6 else [found, np.float32(scores[kept].tolist() + [0.0] * pad), number]


def detections(ins, o):
    """TFLite_Detection_PostProcess: boxes from their codes, best classes, boxes that overlap."""
    codes, scores, anchors = (np.float64(x) for x in ins)
    scores = scores[0][:, scores.shape[2] - o["num_classes"]:]
    scale = [o["y_scale"], o["x_scale"]], [o["h_scale"], o["w_scale"]]
    middle = codes[0][:, :2] / scale[0] * anchors[:, 2:] + anchors[:, :2]
    half = np.exp(codes[0][:, 2:4] / scale[1]) * anchors[:, 2:] / 2
    boxes = np.hstack([middle - half, middle + half])
    each, most_ = min(o["max_classes_per_detection"], scores.shape[1]), o["max_detections"]
    def left(values, count):
        above = [i for i in range(len(values)) if values[i] >= np.float32(o["nms_score_threshold"])]
        return [above[i] for i in keep_best(boxes[above], values[above], count, lambda s: s > o["nms_iou_threshold"])]

    rows = []
    if o.get("use_regular_nms"):
        for c in range(scores.shape[1]):
            rows += [(i, c) for i in left(scores[:, c], o["detections_per_class"])]
        rows = sorted(rows, key=lambda row: -scores[row])[:most_]
        count = len(rows)
    else:
        kept = left(scores.max(axis=1), most_)
        count = len(kept)
        for i in kept:
            rows += [(i, c) for c in np.argsort(-scores[i], kind="stable")[:each]]
    y = np.zeros((1, most_ * each, 6), "f4")
    for k, (i, c) in enumerate(rows):
        y[0, k] = np.append(boxes[i], [c, scores[i, c]])
    return [y[..., :4], y[..., 4], y[..., 5], np.float32([count])]


def unary(f):
    return lambda ins, o: f(ins[0])


def binary(f):
    return lambda ins, o: act(f(ins[0], ins[1]), o)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype("f8")))


FORMULAS = {
    "ADD": binary(np.add), "SUB": binary(np.subtract), "MUL": binary(np.multiply),
    "DIV": binary(np.divide), "POW": binary(np.power), "MAXIMUM": binary(np.maximum),
    "MINIMUM": binary(np.minimum), "SQUARED_DIFFERENCE": binary(lambda x, y: (x - y) ** 2),
    "FLOOR_DIV": binary(np.floor_divide), "FLOOR_MOD": binary(np.mod), "LESS": binary(np.less),
    "GREATER": binary(np.greater), "GREATER_EQUAL": binary(np.greater_equal), "LESS_EQUAL": binary(np.less_equal),
    "EQUAL": binary(np.equal), "NOT_EQUAL": binary(np.not_equal), "LOGICAL_AND": binary(np.logical_and),
    "LOGICAL_OR": binary(np.logical_or), "LOGICAL_NOT": unary(np.logical_not), "LOGISTIC": unary(sigmoid),
    "TANH": unary(np.tanh), "RELU": unary(lambda x: np.maximum(x, 0)), "RELU6": unary(lambda x: np.clip(x, 0, 6)),
    "RELU_N1_TO_1": unary(lambda x: np.clip(x, -1, 1)), "RELU_0_TO_1": unary(lambda x: np.clip(x, 0, 1)),
    "EXP": unary(np.exp), "LOG": unary(np.log), "SQRT": unary(np.sqrt), "RSQRT": unary(lambda x: 1 / np.sqrt(x)),
    "NEG": unary(np.negative), "ABS": unary(np.abs), "SQUARE": unary(np.square), "SIN": unary(np.sin),
    "COS": unary(np.cos), "FLOOR": unary(np.floor), "CEIL": unary(np.ceil), "ROUND": unary(np.round),
    "SIGN": unary(np.sign), "ELU": unary(lambda x: np.where(x > 0, x, np.expm1(x))),
    "HARD_SWISH": unary(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "LEAKY_RELU": lambda ins, o: np.where(ins[0] > 0, ins[0], ins[0] * o["alpha"]),
    "GELU": lambda ins, o: np.vectorize(
        lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
        if o.get("approximate") else x / 2 * (1 + math.erf(x / math.sqrt(2))))(ins[0]),
    "PRELU": lambda ins, o: np.where(ins[0] > 0, ins[0], ins[0] * ins[1]),
    "CAST": unary(lambda x: x), "QUANTIZE": unary(lambda x: x), "DEQUANTIZE": unary(lambda x: x),
    "ADD_N": lambda ins, o: sum(ins[1:], ins[0]), "SELECT": select, "SELECT_V2": lambda ins, o: np.where(*ins),
    "CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "TRANSPOSE_CONV": transpose_conv,
    "FULLY_CONNECTED": fully_connected, "BATCH_MATMUL": batch_matmul,
    "AVERAGE_POOL_2D": lambda ins, o: pool(ins, o, np.nanmean), "MAX_POOL_2D": lambda ins, o: pool(ins, o, np.nanmax),
    "MEAN": reduce(np.mean), "SUM": reduce(np.sum), "REDUCE_MAX": reduce(np.max), "REDUCE_MIN": reduce(np.min),
    "REDUCE_PROD": reduce(np.prod), "SOFTMAX": softmax,
    "LOG_SOFTMAX": lambda ins, o: np.log(softmax(ins, {"beta": 1})),
    "L2_NORMALIZATION": lambda ins, o: act(
        ins[0] / np.maximum(np.sqrt((ins[0].astype("f8") ** 2).sum(-1, keepdims=True)), 1e-6), o),
    "LOCAL_RESPONSE_NORMALIZATION": local_response,
    "ARG_MAX": lambda ins, o: ins[0].argmax(int(ins[1])), "ARG_MIN": lambda ins, o: ins[0].argmin(int(ins[1])),
    "RESHAPE": reshape, "SQUEEZE": lambda ins, o: ins[0].squeeze(tuple(o["dims"]) if o.get("dims") else None),
    "EXPAND_DIMS": lambda ins, o: np.expand_dims(ins[0], int(ins[1])),
    "TRANSPOSE": lambda ins, o: ins[0].transpose(ins[1].tolist()),
    "PAD": lambda ins, o: np.pad(ins[0], ins[1].tolist()),
    "PADV2": lambda ins, o: np.pad(ins[0], ins[1].tolist(), constant_values=ins[2]),
    "MIRROR_PAD": lambda ins, o: np.pad(ins[0], ins[1].tolist(), "symmetric" if o.get("mode") else "reflect"),
    "CONCATENATION": lambda ins, o: act(np.concatenate(ins, o.get("axis", 0)), o),
    "SPLIT": lambda ins, o: np.split(ins[1], o["num"], int(ins[0])), "SPLIT_V": split_v, "SLICE": slice_,
    "STRIDED_SLICE": strided_slice, "PACK": lambda ins, o: np.stack(ins, o.get("axis", 0)),
    "UNPACK": lambda ins, o: list(np.moveaxis(ins[0], o.get("axis", 0), 0)), "GATHER": gather,
    "GATHER_ND": lambda ins, o: ins[0][tuple(np.moveaxis(ins[1], -1, 0))],
    "TILE": lambda ins, o: np.tile(ins[0], ins[1].tolist()), "SHAPE": lambda ins, o: np.array(ins[0].shape, "i4"),
    "BROADCAST_TO": lambda ins, o: np.broadcast_to(ins[0], ins[1].tolist()),
    "RESIZE_BILINEAR": bilinear, "RESIZE_NEAREST_NEIGHBOR": nearest, "SPACE_TO_DEPTH": blocks_to_depth,
    "DEPTH_TO_SPACE": depth_to_blocks, "SPACE_TO_BATCH_ND": space_to_batch, "BATCH_TO_SPACE_ND": batch_to_space,
    "UNIDIRECTIONAL_SEQUENCE_RNN": sequence_rnn, "UNIDIRECTIONAL_SEQUENCE_LSTM": sequence_lstm,
    "SVDF": svdf,
    "L2_POOL_2D": lambda ins, o: np.sqrt(pool([ins[0] ** 2], {**o, "act": 0}, np.nanmean)), "CONV_3D": conv_3d,
    "FILL": lambda ins, o: np.full(ins[0].tolist(), ins[1]), "ZEROS_LIKE": unary(np.zeros_like),
    "RANGE": lambda ins, o: np.arange(*ins), "RANK": lambda ins, o: np.int32(ins[0].ndim),
    "REDUCE_ANY": lambda ins, o: np.any(ins[0], tuple(np.atleast_1d(ins[1]).tolist()), keepdims=bool(o.get("keep_dims"))),
    "REDUCE_ALL": lambda ins, o: np.all(ins[0], tuple(np.atleast_1d(ins[1]).tolist()), keepdims=bool(o.get("keep_dims"))),
    "REVERSE_SEQUENCE": reverse_sequence, "SCATTER_ND": scatter_nd, "SPARSE_TO_DENSE": sparse_to_dense,
    "SEGMENT_SUM": segment(lambda _: 0, np.add), "UNSORTED_SEGMENT_SUM": segment(lambda _: 0, np.add),
    "UNSORTED_SEGMENT_PROD": segment(lambda _: 1, np.multiply), "UNSORTED_SEGMENT_MAX": segment(least, np.maximum),
    "UNSORTED_SEGMENT_MIN": segment(most, np.minimum), "DYNAMIC_UPDATE_SLICE": dynamic_update_slice,
    "EMBEDDING_LOOKUP": lambda ins, o: ins[1][ins[0]], "WHERE": lambda ins, o: np.argwhere(ins[0]), "UNIQUE": unique,
    "ONE_HOT": one_hot, "CUMSUM": cumsum, "FAKE_QUANT": fake_quant, "MATRIX_SET_DIAG": set_diag,
    "MATRIX_DIAG": lambda ins, o: ins[0][..., None] * np.eye(ins[0].shape[-1], dtype=ins[0].dtype),
    "BROADCAST_ARGS": lambda ins, o: np.int32(np.broadcast_shapes(tuple(ins[0]), tuple(ins[1]))),
    "BUCKETIZE": lambda ins, o: np.searchsorted(np.float32(o["boundaries"]), ins[0], "right").astype("i4"),
    "ATAN2": binary(np.arctan2), "BITWISE_XOR": binary(np.bitwise_xor), "RIGHT_SHIFT": binary(np.right_shift),
    "NON_MAX_SUPPRESSION_V4": non_max_suppression, "NON_MAX_SUPPRESSION_V5": non_max_suppression,
    "CUSTOM TFLite_Detection_PostProcess": detections,
    "TOPK_V2": top_k, "REVERSE_V2": lambda ins, o: np.flip(ins[0], ins[1].tolist()),
}
