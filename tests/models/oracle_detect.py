# SPDX-License-Identifier: Apache-2.0
"""The oracle's operators of detectors: boxes, orders, choices, larger maps, pictures of bytes."""
import numpy as np

from oracle import DTYPES, operator, rounded


def sigmoid_of(x):
    return 1 / (1 + np.exp(-x))


# ---- Ranges and maps ----

@operator("arange")
def arange(_, p):
    count = int(np.ceil((p["stop"] - p["start"]) / p["step"]))
    numbers = p["start"] + p["step"] * np.arange(count, dtype=np.float64)
    return {"dst": numbers.astype(DTYPES[p["dtype"]])}


def nearest(src, dims):
    """On each axis the element at (i + 0.5) * in / out - 0.5, rounded half away from zero."""
    for axis, (old, new) in enumerate(zip(src.shape, dims)):
        at = (np.arange(new, dtype=np.float64) + 0.5) * old / new - 0.5
        src = np.take(src, np.floor(np.maximum(at, 0) + 0.5).astype(np.int64), axis=axis)
    return src


@operator("resize")
def resize(t, p):
    if p["mode"] != "TL_NEAREST":
        raise NotImplementedError("the oracle's resize knows the nearest element only")
    return {"dst": nearest(t["src"], p["dims"])}


@operator("upsample")
def upsample(t, p):
    dims = [int(np.floor(scale * dim)) for scale, dim in zip(p["scales"], t["src"].shape)]
    return resize(t, {"mode": p["mode"], "dims": dims})


@operator("submean")
def submean(t, p):
    picture = t["src"].astype(np.float64) - np.asarray(p["mean"], np.float64)
    return {"dst": np.moveaxis(picture, 2, 0).astype(DTYPES[p["dtype"]])}


# ---- Transposed convolution ----

def cut_of(p, in_size, size, stride, dilation, extra):
    """What is cut off before and behind on each of the two axes."""
    auto = p.get("autopad", "NOTSET")
    if auto == "NOTSET":
        top, left, bottom, right = p.get("padding", [0, 0, 0, 0])
        return [(top, bottom), (left, right)]
    cuts = []
    for axis in range(2):
        total = 0
        if auto != "VALID":
            given = p.get("output_dims", [0, 0, 0, 0])[2 + axis]
            wanted = given or stride[axis] * in_size[axis]
            full = stride[axis] * (in_size[axis] - 1) + extra[axis] + (size[axis] - 1) * dilation[axis] + 1
            total = max(full - wanted, 0)
        small, large = total // 2, total - total // 2
        cuts.append((small, large) if auto != "SAME_LOWER" else (large, small))
    return cuts


@operator("deconv2d")
def deconv2d(t, p):
    """Each element of the source adds its multiple of the filter to a window of the result."""
    src, weight = t["src"].astype(np.float64), t["weight"].astype(np.float64)
    groups, size = p.get("group", 1), p["size"]
    stride, dilation = p.get("stride", [1, 1]), p.get("dilation", [1, 1])
    extra = p.get("output_padding", [0, 0])
    batch, channels, *in_size = src.shape
    full = [stride[a] * (in_size[a] - 1) + extra[a] + (size[a] - 1) * dilation[a] + 1
            for a in range(2)]
    result = np.zeros((batch, groups, weight.shape[1], *full))
    grouped = src.reshape(batch, groups, channels // groups, -1)
    filters = weight.reshape(groups, channels // groups, *weight.shape[1:])
    for i in range(size[0]):
        for j in range(size[1]):
            spread = np.matmul(filters[None, :, :, :, i, j].swapaxes(2, 3), grouped)
            top, left = i * dilation[0], j * dilation[1]
            result[:, :, :, top:top + (in_size[0] - 1) * stride[0] + 1:stride[0],
                   left:left + (in_size[1] - 1) * stride[1] + 1:stride[1]] += \
                spread.reshape(batch, groups, -1, *in_size)
    (top, bottom), (left, right) = cut_of(p, in_size, size, stride, dilation, extra)
    result = result.reshape(batch, -1, *full)[:, :, top:full[0] - bottom, left:full[1] - right]
    result = result + t["bias"].astype(np.float64)[:, None, None]
    act = p.get("act", "none")
    if act not in ("none", "relu"):
        raise NotImplementedError(f"the oracle does not know activation '{act}'")
    return {"dst": rounded(np.maximum(result, 0) if act == "relu" else result, t["src"])}


# ---- Choices and orders ----

@operator("maxreduce")
def maxreduce(t, p):
    return {"dst": t["src"].max(axis=p["axis"], keepdims=True)}


@operator("maxreduce_arg")
def maxreduce_arg(t, p):
    best = np.expand_dims(np.argmax(t["src"], axis=p["axis"]), p["axis"])  # the first of equals
    return {"dst": t["src"].max(axis=p["axis"], keepdims=True), "arg": best.astype(np.int32)}


def order_of(keys, p):
    """Positions in order; equal keys keep theirs."""
    if p["dir"] == "TL_SORT_DIR_ASCENDING":
        return np.argsort(keys, kind="stable")
    return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]


@operator("sort1d")
def sort1d(t, p):
    return {"dst_key": t["src_key"][order_of(t["src_key"], p)]}


@operator("sort1d_by_key")
def sort1d_by_key(t, p):
    order = order_of(t["src_key"], p)
    return {"dst_key": t["src_key"][order], "dst_val": t["src_val"][order]}


@operator("pick1d")
def pick1d(t, p):
    groups = t["src"][:len(t["src"]) // p["stride"] * p["stride"]].reshape(-1, p["stride"])
    return {"dst": groups[t["src_index"][:p["len"]]].reshape(-1)}


# ---- Boxes ----

@operator("transform_bboxSQD")
def transform_bbox(t, p):
    delta, anchor = (np.moveaxis(t[arg].astype(np.float64), -1, 0)
                     for arg in ("src_delta", "src_anchor"))
    ends = []
    for axis, (side, image, shift) in enumerate((("width", "img_width", "x_shift"),
                                                 ("height", "img_height", "y_shift"))):
        scale = p[image] / p[side]
        center = (anchor[axis] + delta[axis] * anchor[2 + axis]) * scale + p[shift]
        log_size = delta[2 + axis]
        growth = np.where(log_size < 1, np.exp(np.minimum(log_size, 1)), log_size * np.e)
        half = anchor[2 + axis] * growth * scale / 2
        ends.append([np.clip(end, 0, p[image] - 1) for end in (center - half, center + half)])
    (left, right), (top, bottom) = ends
    return {"dst": rounded(np.stack([left, top, right, bottom], axis=-1), t["src_delta"])}


@operator("detect_yolov3")
def detect_yolov3(t, p):
    feature, anchors = t["feature"], t["anchors"].astype(np.float64)
    high, wide = feature.shape[2:]
    maps = feature.astype(np.float64).reshape(1, len(anchors), -1, high, wide)
    place = np.stack(np.broadcast_arrays(np.arange(wide)[None, :], np.arange(high)[:, None]))
    scale = np.array([p["img_width"] / wide, p["img_height"] / high])[:, None, None]
    centers = (sigmoid_of(maps[:, :, 0:2]) + place) * scale
    sizes = anchors[:, :, None, None] * np.clip(np.exp(maps[:, :, 2:4]), 1e-9, 50)
    outs = {"box_centers": centers, "box_sizes": sizes,
            "boxes": np.concatenate([centers - sizes / 2, centers + sizes / 2], axis=2),
            "confs": sigmoid_of(maps[:, :, 4:5]), "probs": sigmoid_of(maps[:, :, 5:])}
    return {arg: rounded(value, feature) for arg, value in outs.items()}
