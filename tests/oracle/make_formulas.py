#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the oracle's second half: what ONNX Runtime has not, or decides otherwise, from formulas.

    make_formulas.py [FOLDER]

Each case is a model in IL, with inputs and the results that the formulas below give, in Python's
doubles and integers. They are written from the definitions alone, element by element, and
share nothing with the library. See README.md for the files and for adding a case.
"""

import itertools
import json
import math
import os
import random
import struct
import sys

INF, NAN = math.inf, math.nan

# name: (in a safetensors file, struct code, least, most); floating types have no range here.
DTYPES = {
    'TL_DOUBLE': ('F64', 'd', None, None), 'TL_FLOAT': ('F32', 'f', None, None),
    'TL_INT64': ('I64', 'q', -2**63, 2**63 - 1), 'TL_INT32': ('I32', 'i', -2**31, 2**31 - 1),
    'TL_INT16': ('I16', 'h', -2**15, 2**15 - 1), 'TL_INT8': ('I8', 'b', -128, 127),
    'TL_UINT64': ('U64', 'Q', 0, 2**64 - 1), 'TL_UINT32': ('U32', 'I', 0, 2**32 - 1),
    'TL_UINT16': ('U16', 'H', 0, 2**16 - 1), 'TL_UINT8': ('U8', 'B', 0, 255),
    'TL_BOOL': ('BOOL', '?', 0, 1),
}
FLOAT_MAX = 3.4028234663852886e38


def is_floating(dtype):
    return DTYPES[dtype][2] is None


# ---- Numbers ----

def round_float(x):
    """As IEEE 754 rounds a double to a float: what is too large becomes infinite."""
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def rounded(x, dtype):
    """The end of a sum: rounded to a float, or at the ends of an integer's range."""
    if dtype == 'TL_DOUBLE':
        return x
    if dtype == 'TL_FLOAT':
        return round_float(x)
    if dtype == 'TL_BOOL':
        return int(x != 0)
    low, high = DTYPES[dtype][2:]
    return max(low, min(high, x))


def converted(x, dtype):
    """A double as an element: saturating, toward zero, NaN to 0; infinity stays a float's."""
    if dtype == 'TL_DOUBLE':
        return x
    if dtype == 'TL_FLOAT':
        return x if math.isinf(x) or math.isnan(x) else round_float(
            max(-FLOAT_MAX, min(FLOAT_MAX, x)))
    if dtype == 'TL_BOOL':
        return int(x != 0)
    if math.isnan(x):
        return 0
    low, high = DTYPES[dtype][2:]
    return low if x <= low else high if x >= high else int(x)


def wrapped(x, dtype):
    """An integer in the arithmetic of an integer type."""
    if dtype == 'TL_BOOL':
        return int(x != 0)
    low, high = DTYPES[dtype][2:]
    return (x - low) % (high - low + 1) + low


def toward_zero(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def logistic(x):
    return x if x != x else 1 / (1 + math.exp(-x)) if x > -700 else 0.0


# ---- Tensors: (dtype, dims, elements in row-major order) ----

def length(dims):
    return math.prod(dims)


def tensor(dtype, dims, elements):
    elements = [round_float(x) for x in elements] if dtype == 'TL_FLOAT' else list(elements)
    assert len(elements) == length(dims), (dims, len(elements))
    return dtype, list(dims), elements


def index(dims, coords):
    at = 0
    for dim, c in zip(dims, coords):
        at = at * dim + c
    return at


def places(dims):
    return itertools.product(*(range(d) for d in dims))


def made(dtype, dims, at):
    """The tensor whose element at each place is at(*coords)."""
    return tensor(dtype, dims, [at(*c) for c in places(dims)])


# ---- A case ----

CASES = {}


class Case:
    def __init__(self, name):
        assert name not in CASES
        self.lines, self.data, self.expected = [], {}, {}
        self.random = random.Random(name)
        CASES[name] = self

    def give(self, name, t, is_static=False):
        """An input, or a constant from the data file."""
        shape = f'dtype={t[0]}, dims={t[1]}'
        self.lines.append(f'create(| dst={name} | {shape}, ran=[0, 0], data=[0], from_file=true);'
                          if is_static else f'input(| dst={name} | {shape});')
        self.data[name] = t
        return t

    def some(self, name, dims, dtype='TL_FLOAT', low=-1.0, high=1.0, is_static=False):
        if is_floating(dtype):
            elements = [self.random.uniform(low, high) for _ in range(length(dims))]
        else:
            elements = [self.random.randint(int(low), int(high)) for _ in range(length(dims))]
        return self.give(name, tensor(dtype, dims, elements), is_static)

    def op(self, optype, ins, outs, **params):
        def text(value):
            if isinstance(value, (list, tuple)):
                return '[' + ', '.join(text(v) for v in value) + ']'
            return ('true' if value else 'false') if isinstance(value, bool) else str(value)

        def pairs(d):
            return ', '.join(f'{k}={text(v)}' for k, v in d.items())

        self.lines.append(f'{optype}({pairs(ins)} | {pairs(outs)} | {pairs(params)});')

    def expect(self, **tensors):
        self.expected.update(tensors)


# ---- Convolution ----

def spans(size, dilation):
    return [(k - 1) * d + 1 for k, d in zip(size, dilation)]


def auto_padding(totals, autopad):
    """Top, left, bottom, right for what is missing on both axes."""
    small = [max(t, 0) // 2 for t in totals]
    large = [max(t, 0) - s for t, s in zip(totals, small)]
    return small + large if autopad == 'SAME_UPPER' else large + small


def conv_padding(in_hw, size, stride, padding, dilation, autopad):
    if autopad == 'NOTSET':
        return padding
    if autopad == 'VALID':
        return [0, 0, 0, 0]
    reach = spans(size, dilation)
    return auto_padding([(-(-i // s) - 1) * s + r - i for i, s, r in zip(in_hw, stride, reach)],
                        autopad)


def act_of(x, act):
    return 0 if act == 'relu' and x < 0 else x


def conv2d(case, src, weight, bias, group=1, stride=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1),
           autopad='NOTSET', act='none'):
    dtype, (n_count, c_count, h, w), x = src
    o_count, i_count, kh, kw = weight[1]
    case.op('conv2d', {'src': 'src', 'weight': 'weight', 'bias': 'bias'}, {'dst': 'dst'},
            group=group, size=[kh, kw], stride=stride, padding=padding, dilation=dilation,
            autopad=autopad, act=act)
    top, left, bottom, right = conv_padding((h, w), (kh, kw), stride, padding, dilation, autopad)
    reach = spans((kh, kw), dilation)
    dims = [n_count, o_count, (h + top + bottom - reach[0]) // stride[0] + 1,
            (w + left + right - reach[1]) // stride[1] + 1]

    def at(n, o, oy, ox):
        total = bias[2][o]
        first = o // (o_count // group) * i_count
        for i, v, u in places((i_count, kh, kw)):
            y = oy * stride[0] - top + v * dilation[0]
            z = ox * stride[1] - left + u * dilation[1]
            if 0 <= y < h and 0 <= z < w:
                total += x[index(src[1], (n, first + i, y, z))] * \
                    weight[2][index(weight[1], (o, i, v, u))]
        return rounded(act_of(total, act), dtype)

    case.expect(dst=made(dtype, dims, at))


def conv_cases():
    def run(name, src, weight, dtype='TL_FLOAT', low=-1.0, high=1.0, **params):
        case = Case(f'conv2d_{name}')
        conv2d(case, case.some('src', src, dtype, low, high),
               case.some('weight', weight, dtype, low, high),
               case.some('bias', weight[:1], dtype, low, high), **params)

    for autopad in ('SAME_UPPER', 'SAME_LOWER'):
        run(f'{autopad.lower()}_dilation', [1, 2, 9, 8], [3, 2, 3, 3], dilation=[2, 3],
            autopad=autopad)
        run(f'{autopad.lower()}_dilation_stride', [2, 2, 10, 7], [3, 2, 3, 2], dilation=[2, 2],
            stride=[2, 3], autopad=autopad)
        run(f'{autopad.lower()}_stride_over_size', [1, 2, 8, 9], [2, 2, 2, 1], stride=[5, 4],
            autopad=autopad)
    run('relu', [2, 3, 6, 5], [4, 3, 3, 3], padding=[1, 1, 1, 1], act='relu')
    run('group_dilation', [1, 6, 9, 9], [4, 3, 2, 3], group=2, dilation=[3, 2],
        padding=[2, 0, 1, 3], stride=[1, 2])
    run('depthwise_dilation_stride', [1, 3, 11, 10], [6, 1, 3, 3], group=3, dilation=[2, 1],
        padding=[2, 1, 0, 3], stride=[3, 2])
    run('double', [1, 3, 6, 6], [2, 3, 3, 3], 'TL_DOUBLE', padding=[1, 1, 1, 1])
    for dtype, low, high in (('TL_INT8', -128, 127), ('TL_UINT8', 0, 9), ('TL_INT16', -300, 300),
                             ('TL_INT32', -99, 99), ('TL_INT64', -99, 99), ('TL_BOOL', 0, 1)):
        run(dtype[3:].lower(), [1, 2, 5, 5], [2, 2, 3, 3], dtype, low, high,
            padding=[1, 1, 1, 1], act='relu' if dtype == 'TL_INT16' else 'none')

    for name, group, dims in (('general', 1, [2, 2, 3, 3]), ('depthwise', 2, [2, 1, 3, 3])):
        case = Case(f'conv2d_infinite_weights_{name}')
        weight = case.some('weight', dims)
        for at, strange in ((0, INF), (5, -INF), (9, NAN)):
            weight[2][at] = strange
        conv2d(case, case.some('src', [1, 2, 4, 5]), weight, case.some('bias', [2]), group=group,
               padding=[1, 1, 1, 1])


ACTS = {'none': lambda x, a, b: x, 'relu': lambda x, a, b: 0 if x < 0 else x,
        'lrelu': lambda x, a, b: x if x >= 0 else a * x, 'sigmoid': lambda x, a, b: logistic(x),
        'clip': lambda x, a, b: min(max(x, a), b)}


def given(**params):
    return {name: value for name, value in params.items() if value}


def core_conv(name, src, weight, dtype='TL_FLOAT', low=-1.0, high=1.0, group=1, stride=None, padding=None, dilation=None,
              has_bias=True, has_addend=False, act='none', alpha=0, beta=0):
    """Over any number of axes; padding is all begins, then all ends."""
    case = Case(f'conv_{name}')
    ins = {'src': case.some('src', src, dtype, low, high), 'weight': case.some('weight', weight, dtype, low, high)}
    axes, size = len(src) - 2, weight[2:]
    steps, gaps, pads = stride or [1] * axes, dilation or [1] * axes, padding or [0] * 2 * axes
    dims = [src[0], weight[0]] + [(src[2 + i] + pads[i] + pads[axes + i] - (size[i] - 1) * gaps[i] - 1) // steps[i] + 1
                                  for i in range(axes)]
    if has_bias:
        ins['bias'] = case.some('bias', weight[:1], dtype, low, high)
    if has_addend:
        ins['addend'] = case.some('addend', dims, dtype, low, high)
    case.op('conv', {name: name for name in ins}, {'dst': 'dst'}, **given(
        group=group, stride=stride, padding=padding, dilation=dilation, act=act, alpha=alpha, beta=beta))

    def at(n, o, *place):
        total = ins['bias'][2][o] if has_bias else 0
        first = o // (weight[0] // group) * weight[1]
        for i, *tap in places(weight[1:]):
            seen = [p * s - b + t * g for p, s, b, t, g in zip(place, steps, pads, tap, gaps)]
            if all(0 <= x < dim for x, dim in zip(seen, src[2:])):
                total += ins['src'][2][index(src, [n, first + i, *seen])] * ins['weight'][2][index(weight, [o, i, *tap])]
        if has_addend:
            total += ins['addend'][2][index(dims, [n, o, *place])]
        return rounded(ACTS[act](total, alpha, beta), dtype)

    case.expect(dst=made(dtype, dims, at))


def core_conv_cases():
    core_conv('row', [2, 3, 9], [4, 3, 3], stride=[2], padding=[1, 2])
    core_conv('row_dilation_group', [1, 4, 12], [6, 2, 3], group=2, dilation=[3], has_bias=False, act='lrelu', alpha=0.25)
    core_conv('image_addend', [2, 3, 5, 6], [4, 3, 3, 3], padding=[1, 1, 1, 1], has_addend=True, act='relu')
    core_conv('image_addend_no_bias', [1, 2, 4, 4], [3, 2, 1, 1], has_bias=False, has_addend=True, act='clip',
              alpha=-0.25, beta=0.5)
    core_conv('volume', [1, 2, 4, 5, 3], [3, 2, 2, 3, 2], stride=[1, 2, 1], padding=[1, 0, 1, 0, 1, 0], act='sigmoid')
    core_conv('volume_depthwise', [1, 3, 3, 4, 5], [3, 1, 2, 2, 2], group=3, dilation=[1, 2, 1], has_addend=True)
    core_conv('four_axes', [1, 2, 3, 2, 3, 2], [2, 2, 2, 1, 2, 2])
    core_conv('row_int16', [1, 2, 7], [3, 2, 3], 'TL_INT16', -300, 300, padding=[1, 1], has_addend=True, act='relu')
    core_conv('volume_int64', [1, 2, 3, 3, 2], [2, 2, 2, 2, 2], 'TL_INT64', -99, 99)


def deconv2d(case, src, weight, bias, group=1, stride=(1, 1), padding=(0, 0, 0, 0),
             output_dims=(0, 0, 0, 0), output_padding=(0, 0), dilation=(1, 1), autopad='NOTSET',
             act='none'):
    dtype, (n_count, c_count, h, w), x = src
    _, j_count, kh, kw = weight[1]
    case.op('deconv2d', {'src': 'src', 'weight': 'weight', 'bias': 'bias'}, {'dst': 'dst'},
            group=group, size=[kh, kw], stride=stride, output_dims=output_dims, padding=padding,
            output_padding=output_padding, dilation=dilation, autopad=autopad, act=act)
    reach = spans((kh, kw), dilation)
    whole = [s * (i - 1) + o + r for s, i, o, r in zip(stride, (h, w), output_padding, reach)]
    if autopad.startswith('SAME'):
        wanted = [o or i * s for o, i, s in zip(output_dims[2:], (h, w), stride)]
        padding = auto_padding([a - b for a, b in zip(whole, wanted)], autopad)
    elif autopad == 'VALID':
        padding = [0, 0, 0, 0]
    top, left, bottom, right = padding
    dims = [n_count, j_count * group, whole[0] - top - bottom, whole[1] - left - right]

    # Each element of src spreads over a window, as the definition says.
    totals = [bias[2][o] for _, o, _, _ in places(dims)]
    for n, c, y, z in places(src[1]):
        for j, v, u in places((j_count, kh, kw)):
            oy, oz = y * stride[0] - top + v * dilation[0], z * stride[1] - left + u * dilation[1]
            if 0 <= oy < dims[2] and 0 <= oz < dims[3]:
                o = c // (c_count // group) * j_count + j
                totals[index(dims, (n, o, oy, oz))] += \
                    x[index(src[1], (n, c, y, z))] * weight[2][index(weight[1], (c, j, v, u))]
    case.expect(dst=tensor(dtype, dims, [rounded(act_of(t, act), dtype) for t in totals]))


def deconv_cases():
    def run(name, src, weight, dtype='TL_FLOAT', low=-1.0, high=1.0, **params):
        case = Case(f'deconv2d_{name}')
        deconv2d(case, case.some('src', src, dtype, low, high),
                 case.some('weight', weight, dtype, low, high),
                 case.some('bias', [weight[1] * params.get('group', 1)], dtype, low, high),
                 **params)

    for autopad in ('SAME_UPPER', 'SAME_LOWER'):
        run(f'{autopad.lower()}_odd', [1, 2, 4, 5], [2, 3, 3, 3], stride=[2, 2], autopad=autopad)
        run(f'{autopad.lower()}_output_dims', [1, 2, 4, 5], [2, 3, 5, 4], stride=[2, 2],
            output_dims=[0, 0, 9, 10], autopad=autopad)
        run(f'{autopad.lower()}_gaps', [1, 2, 4, 5], [2, 3, 2, 3], stride=[3, 2], autopad=autopad)
    run('relu', [1, 3, 4, 4], [3, 2, 4, 4], stride=[2, 2], padding=[1, 1, 1, 1], act='relu')
    run('stride3', [1, 2, 3, 4], [2, 2, 5, 3], stride=[3, 3], padding=[2, 0, 1, 2])
    run('dilation_stride_group', [2, 4, 3, 4], [4, 3, 2, 3], group=2, dilation=[2, 3],
        stride=[2, 3], padding=[1, 2, 0, 1], output_padding=[1, 2])
    run('dilation_shares_stride', [1, 2, 4, 4], [2, 2, 3, 3], dilation=[2, 2], stride=[2, 2])
    run('depthwise_stride1', [1, 3, 5, 6], [3, 1, 3, 3], group=3, padding=[1, 1, 1, 1])
    run('1x1', [1, 5, 3, 4], [5, 7, 1, 1])
    run('1x1_stride2', [1, 3, 3, 4], [3, 2, 1, 1], stride=[2, 2], output_padding=[1, 1])
    run('wide', [1, 2, 2, 40], [2, 3, 3, 3], stride=[2, 2], padding=[1, 1, 0, 0])
    run('double', [1, 2, 3, 3], [2, 2, 3, 3], 'TL_DOUBLE', stride=[2, 2])
    for dtype, low, high in (('TL_INT8', -128, 127), ('TL_UINT16', 0, 200),
                             ('TL_INT32', -99, 99)):
        run(dtype[3:].lower(), [1, 2, 3, 3], [2, 2, 2, 2], dtype, low, high, stride=[1, 2])
    case = Case('deconv2d_infinite_weights')
    weight = case.some('weight', [2, 2, 3, 3])
    for at, strange in ((0, INF), (13, -INF), (26, NAN)):
        weight[2][at] = strange
    deconv2d(case, case.some('src', [1, 2, 3, 4]), weight, case.some('bias', [2]), stride=[2, 2],
             padding=[1, 1, 1, 1])


def core_deconv(name, src, weight, dtype='TL_FLOAT', low=-1.0, high=1.0, group=1, stride=None, padding=None, dilation=None,
                output_padding=None, has_bias=True, act='none', alpha=0, beta=0):
    """Over any number of axes; padding is all begins, then all ends."""
    case = Case(f'deconv_{name}')
    ins = {'src': case.some('src', src, dtype, low, high), 'weight': case.some('weight', weight, dtype, low, high)}
    axes, channels = len(src) - 2, weight[1] * group
    steps, gaps, pads = stride or [1] * axes, dilation or [1] * axes, padding or [0] * 2 * axes
    more = output_padding or [0] * axes
    dims = [src[0], channels] + [(src[2 + i] - 1) * steps[i] + more[i] + (weight[2 + i] - 1) * gaps[i] + 1
                                 - pads[i] - pads[axes + i] for i in range(axes)]
    if has_bias:
        ins['bias'] = case.some('bias', [channels], dtype, low, high)
    case.op('deconv', {name: name for name in ins}, {'dst': 'dst'}, **given(
        group=group, stride=stride, padding=padding, dilation=dilation, output_padding=output_padding, act=act,
        alpha=alpha, beta=beta))
    totals = [ins['bias'][2][o] if has_bias else 0 for _, o, *_ in places(dims)]
    for n, c, *place in places(src):
        for j, *tap in places(weight[1:]):
            to = [p * s + t * g - b for p, s, t, g, b in zip(place, steps, tap, gaps, pads)]
            if all(0 <= x < dim for x, dim in zip(to, dims[2:])):
                o = c // (src[1] // group) * weight[1] + j
                totals[index(dims, [n, o, *to])] += \
                    ins['src'][2][index(src, [n, c, *place])] * ins['weight'][2][index(weight, [c, j, *tap])]
    case.expect(dst=tensor(dtype, dims, [rounded(ACTS[act](t, alpha, beta), dtype) for t in totals]))


def core_deconv_cases():
    core_deconv('row', [2, 3, 6], [3, 4, 3], stride=[2], padding=[1, 2], output_padding=[1])
    core_deconv('row_dilation_group', [1, 4, 7], [4, 3, 3], group=2, dilation=[3], has_bias=False, act='lrelu', alpha=0.25)
    core_deconv('row_gaps_int16', [1, 2, 5], [2, 3, 2], 'TL_INT16', -300, 300, stride=[3], act='relu')
    core_deconv('image_clip', [1, 3, 4, 5], [3, 2, 3, 3], stride=[2, 1], has_bias=False, act='clip', alpha=-0.25, beta=0.5)
    core_deconv('volume', [1, 2, 3, 4, 3], [2, 3, 2, 3, 2], stride=[1, 2, 1], padding=[1, 0, 1, 0, 1, 0], act='sigmoid')
    core_deconv('volume_int64', [1, 2, 3, 2, 2], [2, 2, 2, 2, 2], 'TL_INT64', -99, 99, dilation=[1, 2, 1])
    core_deconv('four_axes', [1, 2, 3, 2, 3, 2], [2, 2, 2, 1, 2, 2])


# ---- Normalization ----

def batchnorm_cases():
    def run(name, dims, dtype, epsilon, change=None):
        case = Case(f'batchnorm_{name}')
        src = case.some('src', dims, dtype, -3, 3)
        parts = {p: case.some(p, [dims[1]], dtype, low, 2)
                 for p, low in (('scale', -2), ('offset', -2), ('mean', -1), ('var', 0.1))}
        if change:
            change(src, parts)
        case.op('batchnorm', {'src': 'src', **{p: p for p in parts}}, {'dst': 'dst'},
                epsilon=epsilon)
        scale, offset, mean, var = (parts[p][2] for p in ('scale', 'offset', 'mean', 'var'))

        def at(n, c, y, z):
            spread = var[c] + round_float(epsilon)
            deviation = math.sqrt(spread) if not spread < 0 else NAN
            x = src[2][index(dims, (n, c, y, z))]
            return rounded((x - mean[c]) / deviation * scale[c] + offset[c], dtype)

        case.expect(dst=made(dtype, dims, at))

    def strange(src, parts):
        src[2][0], src[2][1], src[2][2] = NAN, INF, -INF
        parts['mean'][2][1], parts['var'][2][2], parts['scale'][2][3] = NAN, -1.0, INF

    run('double', [2, 3, 2, 2], 'TL_DOUBLE', 1e-5)
    run('negative_scale', [1, 5, 3, 3], 'TL_FLOAT', 1e-3)
    run('strange', [1, 4, 2, 3], 'TL_FLOAT', 1e-5, strange)


def fold_cases():
    for dtype in ('TL_FLOAT', 'TL_DOUBLE'):
        end = dtype[3:].lower()
        case = Case(f'bn_fold_weight_{end}')
        weight = case.some('w', [3, 2, 2, 3], dtype, is_static=True)
        scale = case.some('s', [3], dtype, -2, 2, is_static=True)
        var = case.some('v', [3], dtype, 0.1, 2, is_static=True)
        case.op('bn_fold_weight', {'weight': 'w', 'scale': 's', 'var': 'v'}, {'dst': 'y'},
                epsilon=1e-3)
        case.expect(y=made(dtype, weight[1], lambda o, i, v, u: rounded(
            weight[2][index(weight[1], (o, i, v, u))] * scale[2][o] /
            math.sqrt(var[2][o] + round_float(1e-3)), dtype)))

        case = Case(f'bn_fold_weight_transposed_{end}')
        weight = case.some('w', [2, 3, 4], dtype, is_static=True)
        scale = case.some('s', [3], dtype, -2, 2, is_static=True)
        var = case.some('v', [3], dtype, 0.1, 2, is_static=True)
        case.op('bn_fold_weight', {'weight': 'w', 'scale': 's', 'var': 'v'}, {'dst': 'y'}, epsilon=1e-3, axis=1)
        case.expect(y=made(dtype, weight[1], lambda i, o, u: rounded(
            weight[2][index(weight[1], (i, o, u))] * scale[2][o] / math.sqrt(var[2][o] + round_float(1e-3)), dtype)))

        case = Case(f'bn_fold_weight_grouped_{end}')
        weight = case.some('w', [4, 3, 2], dtype, is_static=True)
        scale = case.some('s', [6], dtype, -2, 2, is_static=True)
        var = case.some('v', [6], dtype, 0.1, 2, is_static=True)
        case.op('bn_fold_weight', {'weight': 'w', 'scale': 's', 'var': 'v'}, {'dst': 'y'}, epsilon=1e-3, axis=1, group=2)
        case.expect(y=made(dtype, weight[1], lambda i, o, u: rounded(
            weight[2][index(weight[1], (i, o, u))] * scale[2][i // 2 * 3 + o] /
            math.sqrt(var[2][i // 2 * 3 + o] + round_float(1e-3)), dtype)))

        case = Case(f'bn_fold_bias_{end}')
        b, s, o, m, v = (case.some(name, [5], dtype, low, 2, is_static=True)
                         for name, low in zip('bsomv', (-2, -2, -2, -2, 0.1)))
        case.op('bn_fold_bias', {'bias': 'b', 'scale': 's', 'offset': 'o', 'mean': 'm', 'var': 'v'},
                {'dst': 'y'}, epsilon=1e-3)
        case.expect(y=made(dtype, [5], lambda c: rounded(
            (b[2][c] - m[2][c]) * s[2][c] / math.sqrt(v[2][c] + round_float(1e-3)) + o[2][c],
            dtype)))

        case = Case(f'bn2scale_wts_{end}')
        m, v, s, o = (case.some(name, [5], dtype, low, 2, is_static=True)
                      for name, low in zip('mvso', (-2, 0.1, -2, -2)))
        case.op('bn2scale_wts', {'src_mean': 'm', 'src_var': 'v', 'src_scale': 's',
                                 'src_offset': 'o'},
                {'dst_scale': 'y', 'dst_shift': 'z', 'dst_power': 'p'}, epsilon=1e-3)
        factor = [s[2][c] / math.sqrt(v[2][c] + round_float(1e-3)) for c in range(5)]
        case.expect(y=made(dtype, [5], lambda c: rounded(factor[c], dtype)),
                    z=made(dtype, [5], lambda c: rounded(o[2][c] - m[2][c] * factor[c], dtype)),
                    p=made(dtype, [5], lambda c: 1))


# ---- Pooling ----

def pool_cases():
    def run(kind, name, src_of, size, stride, padding=(0, 0, 0, 0), autopad='NOTSET'):
        case = Case(f'{kind}pool2d_{name}')
        dtype, dims, x = src = src_of(case)
        case.op(f'{kind}pool2d', {'src': 'src'}, {'dst': 'dst'}, size=size, stride=stride,
                padding=padding, autopad=autopad)
        h, w = dims[2:]
        top, left, bottom, right = conv_padding((h, w), size, stride, padding, (1, 1), autopad)
        out = dims[:2] + [(h + top + bottom - size[0]) // stride[0] + 1,
                          (w + left + right - size[1]) // stride[1] + 1]

        def at(n, c, oy, oz):
            met = [x[index(dims, (n, c, y, z))]
                   for y in range(oy * stride[0] - top, oy * stride[0] - top + size[0])
                   for z in range(oz * stride[1] - left, oz * stride[1] - left + size[1])
                   if 0 <= y < h and 0 <= z < w]
            if kind == 'max':
                return NAN if any(e != e for e in met) else max(met)
            total = sum(met)
            return rounded(total / len(met), dtype) if is_floating(dtype) else \
                rounded(toward_zero(total, len(met)), dtype)

        case.expect(dst=made(dtype, out, at))

    def strange(case):
        return case.give('src', tensor('TL_FLOAT', [1, 1, 4, 5], [
            NAN, 1, 2, 3, INF, 1, -INF, -INF, 2, 1, -INF, -INF, -INF, INF, -INF, -INF, -INF, -INF,
            1, NAN]))

    for kind in ('max', 'avg'):
        run(kind, 'strange', strange, [2, 2], [1, 1])
        run(kind, 'strange_padded', strange, [3, 3], [2, 2], [1, 1, 1, 1])
        run(kind, 'stride_over_size', lambda c: c.some('src', [1, 2, 9, 8], low=-3, high=-1),
            [2, 2], [3, 4])
        for autopad in ('SAME_UPPER', 'SAME_LOWER'):
            run(kind, f'{autopad.lower()}_5x4',
                lambda c: c.some('src', [2, 3, 8, 7], low=-3, high=-1), [5, 4], [2, 3],
                autopad=autopad)
        run(kind, 'wide', lambda c: c.some('src', [1, 2, 4, 70]), [3, 2], [1, 1], [1, 1, 1, 0])
        for dtype in ('TL_DOUBLE', 'TL_INT8', 'TL_UINT8', 'TL_INT32', 'TL_BOOL'):
            low, high = {'TL_DOUBLE': (-1, 1), 'TL_INT8': (-128, 127), 'TL_UINT8': (0, 255),
                         'TL_BOOL': (0, 1)}.get(dtype, (-2**31, 2**31 - 1))
            run(kind, dtype[3:].lower(), lambda c: c.some('src', [1, 2, 5, 6], dtype, low, high),
                [3, 2], [2, 1], [1, 1, 1, 0])


# ---- Element by element ----

def edge_numbers(dtype):
    if is_floating(dtype):
        return [0.0, -0.0, 1.0, -1.5, NAN, INF, -INF, 1e-30, -2.75]
    low, high = DTYPES[dtype][2:]
    if dtype == 'TL_BOOL':
        return [0, 1]
    return sorted({low, low // 2, 0, 1, 3, high // 2 + 1, high} | ({-1, -7} if low < 0 else set()))


def unary_cases():
    def run(optype, dtype, of, src=None, **params):
        name = ''.join(f'_{v}'.replace('.', '_').replace('-', 'm') for v in params.values())
        case = Case(f'{optype}_{dtype[3:].lower()}{name}')
        numbers = src or edge_numbers(dtype)
        case.give('src', tensor(dtype, [len(numbers)], numbers))
        case.op(optype, {'src': 'src'}, {'dst': 'dst'}, **params)
        case.expect(dst=tensor(dtype, [len(numbers)], [of(x) for x in numbers]))

    for dtype in DTYPES:
        run('relu', dtype, lambda x: 0 if x < 0 else x)
        for slope in (0.1, -2.7, 3.0):
            def lrelu(x):
                if not x < 0:
                    return x
                if is_floating(dtype):
                    return rounded(x * round_float(slope) if dtype == 'TL_FLOAT' else
                                   x * round_float(slope), dtype)
                return wrapped(x * int(slope), dtype)
            run('lrelu', dtype, lrelu, negslope=slope)
        if dtype != 'TL_FLOAT':
            run('sigmoid', dtype, lambda x: NAN if x != x else converted(
                logistic(min(max(x, -750), 750)), dtype))
    run('lrelu', 'TL_FLOAT', lambda x: rounded(x * 0.0, 'TL_FLOAT') if x < 0 else x, negslope=0.0)


def function_cases():
    def of(func, x):
        if x != x:
            return NAN
        if func == 'reciprocal':
            return math.copysign(INF, x) if x == 0 else 1 / x
        if func == 'sign':
            return (x > 0) - (x < 0)
        if func == 'log':
            return NAN if x < 0 else -INF if x == 0 else math.log(x)
        if func in ('floor', 'ceil', 'round'):
            return x if math.isinf(x) or x == 0 else {'floor': math.floor, 'ceil': math.ceil, 'round': round}[func](x)
        if func in ('sinh', 'cosh') and abs(x) > 500:
            return INF if x > 0 or func == 'cosh' else -INF
        if func in ('sin', 'cos', 'tan') and math.isinf(x):
            return NAN
        if func == 'atanh' and abs(x) == 1:
            return math.copysign(INF, x)
        try:
            return getattr(math, func)(x)
        except ValueError:
            return NAN

    for dtype in ('TL_FLOAT', 'TL_DOUBLE'):
        for func in ('log', 'reciprocal', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'asinh', 'acosh', 'atanh',
                     'floor', 'ceil', 'round', 'sign'):
            case = Case(f'func_{dtype[3:].lower()}_{func}')
            numbers = tensor(dtype, [11], edge_numbers(dtype) + [0.3, 1000.5])
            case.give('src', numbers)
            case.op('func', {'src': 'src'}, {'dst': 'dst'}, func=func)
            case.expect(dst=tensor(dtype, [11], [of(func, x) for x in numbers[2]]))


def compare_cases():
    kinds = {'equal': lambda a, b: a == b, 'not_equal': lambda a, b: a != b, 'less': lambda a, b: a < b,
             'less_equal': lambda a, b: a <= b, 'greater': lambda a, b: a > b, 'greater_equal': lambda a, b: a >= b}
    for dtype in DTYPES:
        case = Case(f'compare_{dtype[3:].lower()}')
        a = edge_numbers(dtype)
        n = len(a)
        case.give('a', tensor(dtype, [n, 1], a))
        case.give('b', tensor(dtype, [n], a))
        for kind, holds in kinds.items():
            case.op('compare', {'src1': 'a', 'src2': 'b'}, {'dst': kind}, kind=kind)
            case.expect(**{kind: tensor('TL_BOOL', [n, n], [int(holds(x, y)) for x in a for y in a])})
        case.op('compare', {'src1': 'a'}, {'dst': 'nothing'}, kind='equal')
        case.expect(nothing=tensor('TL_BOOL', [n, 1], [int(x == 0) for x in a]))

        case = Case(f'select_{dtype[3:].lower()}')
        a, b = (case.some(name, dims, dtype, 0, 1)[2] for name, dims in (('a', [3, 4]), ('b', [4])))
        c = case.some('c', [2, 3, 1], 'TL_BOOL', 0, 1)[2]
        case.op('select', {'condition': 'c', 'src1': 'a', 'src2': 'b'}, {'dst': 'dst'})
        case.expect(dst=made(dtype, [2, 3, 4], lambda i, j, k: a[j * 4 + k] if c[i * 3 + j] else b[k]))


def expand_take_and_cast_cases():
    for dtype in DTYPES:
        name = dtype[3:].lower()
        case = Case(f'expand_{name}')
        few = case.some('src', [3, 1], dtype, 0, 1)[2]
        case.give('shape', tensor('TL_INT64', [3], [2, 1, 4]), is_static=True)
        case.op('expand', {'src': 'src', 'shape': 'shape'}, {'dst': 'dst'})
        case.expect(dst=made(dtype, [2, 3, 4], lambda i, j, k: few[j]))

        case = Case(f'take_{name}')
        rows = case.some('src', [2, 4, 3], dtype, 0, 1)[2]
        wish = [3, -1, 0, 0, -4, 2]
        case.give('index', tensor('TL_INT64', [2, 3], wish))
        case.op('take', {'src': 'src', 'index': 'index'}, {'dst': 'dst'}, axis=1)
        case.expect(dst=made(dtype, [2, 2, 3, 3],
                             lambda n, i, j, k: rows[(n * 4 + wish[i * 3 + j] % 4) * 3 + k]))

        # What both types hold; what is left of the point is lost.
        case = Case(f'cast_{name}')
        numbers = [0, 1] if dtype == 'TL_BOOL' else [0, 1, 7, 100, 127]
        numbers += [0.5, 1.75, 99.25] if is_floating(dtype) else []
        case.give('src', tensor(dtype, [len(numbers)], numbers))
        for to in DTYPES:
            word = to[3:].lower()
            case.op('cast', {'src': 'src'}, {'dst': word}, to=to)
            case.expect(**{word: tensor(to, [len(numbers)], [
                int(x != 0) if to == 'TL_BOOL' else float(x) if is_floating(to) else int(x) for x in numbers])})


def elew_of_any_cases():
    """Any number of operands, and rests."""
    folds = {'SUM': sum, 'MEAN': lambda xs: sum(xs) / len(xs), 'MAX': max, 'MIN': min}
    for dtype in ('TL_FLOAT', 'TL_DOUBLE', 'TL_INT32', 'TL_UINT8'):
        for count in (1, 2, 3, 6):
            case = Case(f'elew_any_{dtype[3:].lower()}_{count}')
            low, high = (-9, 9) if dtype != 'TL_UINT8' else (0, 200)
            dims = [[2, 1, 5], [3, 1], [1], [2, 3, 5], [5], [3, 5]][:count]
            out = [[2, 1, 5], [2, 3, 5], [2, 3, 5], None, None, [2, 3, 5]][count - 1]
            srcs = [case.some(f's{i}', d, dtype, low, high) for i, d in enumerate(dims)]

            def read(src, place):
                own = place[len(place) - len(src[1]):]
                return src[2][index(src[1], [0 if d == 1 else c for c, d in zip(own, src[1])])]

            for op, fold in folds.items():
                def at(*place):
                    x = fold([read(src, place) for src in srcs])
                    if is_floating(dtype):
                        return rounded(x, dtype)
                    if op == 'MEAN':
                        total = wrapped(sum(read(src, place) for src in srcs), 'TL_INT64')
                        return wrapped(toward_zero(total, count), dtype)
                    return wrapped(x, dtype)

                case.op('elew', {f'src{i + 1}': f's{i}' for i in range(count)}, {'dst': op.lower()}, elew_op=f'TL_{op}')
                case.expect(**{op.lower(): made(dtype, out, at)})
    for dtype in ('TL_FLOAT', 'TL_INT32', 'TL_INT64', 'TL_UINT8'):
        case = Case(f'elew_rests_{dtype[3:].lower()}')
        a = [0, 5, -5, 6, -6, 7] if dtype != 'TL_UINT8' else [0, 5, 6, 7, 200, 255]
        b = [3, -3, 4, 1] if dtype != 'TL_UINT8' else [3, 4, 1, 100]
        case.give('a', tensor(dtype, [6, 1], a))
        case.give('b', tensor(dtype, [4], b))
        case.op('elew', {'src1': 'a', 'src2': 'b'}, {'dst': 'mod'}, elew_op='TL_MOD')
        case.op('elew', {'src1': 'a', 'src2': 'b'}, {'dst': 'rest'}, elew_op='TL_REST')
        case.expect(mod=tensor(dtype, [6, 4], [x % y for x in a for y in b]),
                    rest=tensor(dtype, [6, 4], [math.fmod(x, y) if dtype == 'TL_FLOAT' else int(math.fmod(x, y))
                                                for x in a for y in b]))
    case = Case('elew_power')
    a, b = [0.5, 2, 3e38, -2, 0], [0, 1, 2.5, -3]
    case.give('a', tensor('TL_FLOAT', [5, 1], a))
    case.give('b', tensor('TL_FLOAT', [4], b))
    case.op('elew', {'src1': 'a', 'src2': 'b'}, {'dst': 'dst'}, elew_op='TL_POWER')

    def power(x, y):
        if x == 0 and y < 0:
            return INF
        if x < 0 and y != int(y):
            return NAN
        return round_float(math.pow(round_float(x), y))

    case.expect(dst=tensor('TL_FLOAT', [5, 4], [power(x, y) for x in a for y in b]))


def line_cases():
    """Running sums, triangles, and elements in order."""
    for dtype in ('TL_FLOAT', 'TL_DOUBLE', 'TL_INT32', 'TL_UINT8'):
        end = dtype[3:].lower()
        for exclusive, reverse in itertools.product((0, 1), (0, 1)):
            case = Case(f'cumsum_{end}_{exclusive}{reverse}')
            src = case.some('src', [2, 5, 3], dtype, *((0, 9) if dtype == 'TL_UINT8' else (-9, 9)))[2]
            case.give('axis', tensor('TL_INT32', [1], [1]))
            case.op('cumsum', {'src': 'src', 'axis': 'axis'}, {'dst': 'dst'}, exclusive=exclusive, reverse=reverse)

            def at(o, k, i):
                met = range(k + exclusive, 5) if reverse else range(k + 1 - exclusive)
                total = sum(src[(o * 5 + m) * 3 + i] for m in (reversed(met) if reverse else met))
                return rounded(total, dtype) if is_floating(dtype) else wrapped(total, dtype)

            case.expect(dst=made(dtype, [2, 5, 3], at))
        if is_floating(dtype):
            case = Case(f'lrn_{end}')
            src = case.some('src', [2, 5, 3], dtype, -9, 9)[2]
            case.op('lrn', {'src': 'src'}, {'dst': 'dst'}, size=4, alpha=0.5, beta=0.75, bias=2)

            def normalized(o, k, i):
                squares = sum(src[(o * 5 + m) * 3 + i] ** 2 for m in range(5) if k - 1 <= m <= k + 2)
                return rounded(src[(o * 5 + k) * 3 + i] / (2 + 0.125 * squares) ** 0.75, dtype)

            case.expect(dst=made(dtype, [2, 5, 3], normalized))
        for upper in (0, 1):
            case = Case(f'trilu_{end}_{upper}')
            src = case.some('src', [2, 3, 4], dtype, 1, 9)[2]
            case.give('k', tensor('TL_INT64', [1], [1]))
            case.op('trilu', {'src': 'src', 'k': 'k'}, {'dst': 'above'}, upper=upper)
            case.op('trilu', {'src': 'src'}, {'dst': 'dst'}, upper=upper)

            def kept(k):
                return lambda o, r, c: src[(o * 3 + r) * 4 + c] if (c >= r + k if upper else c <= r + k) else 0

            case.expect(above=made(dtype, [2, 3, 4], kept(1)), dst=made(dtype, [2, 3, 4], kept(0)))
    for dtype in DTYPES:
        numbers = (edge_numbers(dtype) + [1.0, NAN, 2.5] if is_floating(dtype) else edge_numbers(dtype) * 2)
        n = len(numbers)
        case = Case(f'topk_{dtype[3:].lower()}')
        case.give('src', tensor(dtype, [n], numbers))
        numbers = case.data['src'][2]
        for name, largest, nan_last, k in (('up', 0, False, n), ('down', 1, False, n), ('last', 1, True, n), ('two', 1, False, 2)):
            def order(i):
                x = numbers[i]
                if x != x:
                    return (1, 0) if nan_last or not largest else (-1, 0)
                return (0, -x if largest else x)

            found = sorted(range(n), key=order)[:k]
            case.op('topk', {'src': 'src'}, {'dst': name, 'index': f'{name}_at'}, largest=largest, nan_last=nan_last,
                    **({'k': k} if k < n else {}))
            case.expect(**{name: tensor(dtype, [k], [numbers[i] for i in found]),
                           f'{name}_at': tensor('TL_INT64', [k], found)})
    for dtype in ('TL_FLOAT', 'TL_DOUBLE', 'TL_INT64', 'TL_UINT8'):
        top_k_of_many(dtype)


def top_k_of_many(dtype):
    """Rows of 40 of few different numbers, in the middle of three axes and as the last one; none to all of them."""
    case = Case(f'topk_many_{dtype[3:].lower()}')
    numbers = [case.random.randint(0, 9) for _ in range(240)]
    if is_floating(dtype):
        numbers = [NAN if x == 9 else INF if x == 8 else -INF if x == 7 else -0.0 if x == 6 else 4.0 - x for x in numbers]
    case.give('middle', tensor(dtype, [2, 40, 3], numbers))
    case.give('last', tensor(dtype, [6, 40], numbers))
    for k, largest, nan_last in itertools.product((0, 1, 3, 10, 11, 40), (0, 1), (False, True)):
        def order(x):
            if x != x:
                return (1, 0) if nan_last or not largest else (-1, 0)
            return (0, -x if largest else x)

        end = f'{k}_{largest}{int(nan_last)}'
        for src, dims, inner in (('middle', [2, k, 3], 3), ('last', [6, k], 1)):
            def first(o, i):
                row = [numbers[(o * 40 + n) * inner + i] for n in range(40)]
                return [(row[n], n) for n in sorted(range(40), key=lambda n: order(row[n]))[:k]]

            rows = {(o, i): first(o, i) for o in range(6 // inner) for i in range(inner)}
            found = [rows[o, i][n] for o in range(6 // inner) for n in range(k) for i in range(inner)]
            case.op('topk', {'src': src}, {'dst': f'{src}_{end}', 'index': f'{src}_at_{end}'}, axis=1, k=k,
                    largest=largest, nan_last=nan_last)
            case.expect(**{f'{src}_{end}': tensor(dtype, dims, [x for x, _ in found]),
                           f'{src}_at_{end}': tensor('TL_INT64', dims, [n for _, n in found])})


def recurrent_cases():
    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    def products(matrix, row, columns, vector):
        return sum(matrix[row * columns + j] * vector[j] for j in range(columns))

    def run(name, kind, direction='forward', has_bias=True, has_state=True, **params):
        gates, steps, batch, inputs, hidden = {'lstm': 4, 'gru': 3, 'rnn': 1}[kind], 5, 2, 3, 4
        dirs = 2 if direction == 'bidirectional' else 1
        case = Case(f'rnn_{kind}_{name}')
        rows = gates * hidden
        ins = {'src': case.some('x', [steps, batch, inputs]), 'weight': case.some('w', [dirs, rows, inputs]),
               'recurrence': case.some('r', [dirs, rows, hidden])}
        names = {'src': 'x', 'weight': 'w', 'recurrence': 'r'}
        if has_bias:
            ins['bias'], names['bias'] = case.some('b', [dirs, 2 * rows]), 'b'
        if has_state:
            ins['hidden'], names['hidden'] = case.some('h', [dirs, batch, hidden]), 'h'
        x, w, r = (ins[key][2] for key in ('src', 'weight', 'recurrence'))
        y = [0.0] * (steps * dirs * batch * hidden)
        last = [0.0] * (dirs * batch * hidden)
        cells = list(last)
        for d, b in itertools.product(range(dirs), range(batch)):
            at = (d * batch + b) * hidden
            h = list(ins['hidden'][2][at:at + hidden]) if has_state else [0.0] * hidden
            c = [0.0] * hidden
            w_d, r_d = w[d * rows * inputs:], r[d * rows * hidden:]
            b_w = ins['bias'][2][2 * d * rows:] if has_bias else [0.0] * rows
            b_r = ins['bias'][2][(2 * d + 1) * rows:] if has_bias else [0.0] * rows
            for i in range(steps):
                t = steps - 1 - i if d == 1 or direction == 'reverse' else i
                from_x = [products(w_d, g, inputs, x[(t * batch + b) * inputs:]) + b_w[g] for g in range(rows)]
                from_h = [products(r_d, g, hidden, h) + b_r[g] for g in range(rows)]
                gate = [[from_x[g * hidden + j] + from_h[g * hidden + j] for j in range(hidden)] for g in range(gates)]
                if kind == 'rnn':
                    h = [math.tanh(v) for v in gate[0]]
                elif kind == 'lstm':
                    forget = [1 - sigmoid(v) for v in gate[0]] if params.get('input_forget') else [sigmoid(v) for v in gate[2]]
                    c = [f * old + sigmoid(a) * math.tanh(v) for f, old, a, v in zip(forget, c, gate[0], gate[3])]
                    h = [sigmoid(o) * math.tanh(v) for o, v in zip(gate[1], c)]
                else:
                    reset = [sigmoid(v) for v in gate[1]]
                    if params.get('linear_before_reset'):
                        third = [reset[j] * from_h[2 * hidden + j] for j in range(hidden)]
                    else:
                        mixed = [a * b for a, b in zip(reset, h)]
                        third = [products(r_d, 2 * hidden + j, hidden, mixed) + b_r[2 * hidden + j] for j in range(hidden)]
                    new = [math.tanh(from_x[2 * hidden + j] + third[j]) for j in range(hidden)]
                    h = [(1 - sigmoid(z)) * n + sigmoid(z) * old for z, n, old in zip(gate[0], new, h)]
                to = ((t * dirs + d) * batch + b) * hidden
                y[to:to + hidden] = h
            last[at:at + hidden], cells[at:at + hidden] = h, c
        outs = {'dst': 'y', 'last_hidden': 'z', **({'last_cell': 'c'} if kind == 'lstm' else {})}
        case.op('rnn', names, outs, kind=kind, direction=direction, **params)
        case.expect(y=tensor('TL_FLOAT', [steps, dirs, batch, hidden], y), z=tensor('TL_FLOAT', [dirs, batch, hidden], last))
        if kind == 'lstm':
            case.expect(c=tensor('TL_FLOAT', [dirs, batch, hidden], cells))

    for kind in ('lstm', 'gru', 'rnn'):
        run('forward', kind)
        run('plain', kind, has_bias=False, has_state=False)
        run('reverse', kind, direction='reverse')
        run('both', kind, direction='bidirectional')
    run('input_forget', 'lstm', input_forget=1)
    run('linear_before_reset', 'gru', linear_before_reset=1)


def elew_of(op, a, b, dtype):
    if op == 'POW':
        try:
            power = math.pow(a, b)
        except OverflowError:
            power = INF if a > 0 or b % 2 == 0 else -INF
        except ValueError:
            power = INF if a == 0 else NAN
        return converted(power, dtype)
    if op in ('MAX', 'MIN'):
        if a != a or b != b:
            return NAN
        return max(a, b) if op == 'MAX' else min(a, b)
    if not is_floating(dtype):
        return wrapped({'SUM': a + b, 'SUB': a - b, 'MUL': a * b}[op] if op != 'DIV' else
                       toward_zero(a, b), dtype)
    if op == 'DIV' and b == 0:
        return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1, b)
    return rounded({'SUM': lambda: a + b, 'SUB': lambda: a - b, 'MUL': lambda: a * b,
                    'DIV': lambda: a / b}[op](), dtype)


def elew_cases():
    for op in ('SUM', 'SUB', 'MUL', 'DIV', 'MAX', 'MIN', 'POW'):
        for dtype in DTYPES:
            case = Case(f'elew_{op.lower()}_{dtype[3:].lower()}')
            pairs = list(itertools.product(edge_numbers(dtype), repeat=2))
            if op == 'DIV' and not is_floating(dtype):
                pairs = [(a, b) for a, b in pairs if b != 0]
            if op == 'POW' and is_floating(dtype):
                pairs = [(2.0, 0.5), (-2.0, 3.0), (-2.0, 0.5), (0.0, 0.0), (1e30, 2.0), (0.0, -1.0),
                         (-1e30, 3.0), (INF, 2.0), (0.5, 200.0), (1.0, NAN), (NAN, 0.0)]
            if op == 'POW' and not is_floating(dtype):
                pairs = [(a, b) for a, b in pairs if 0 <= b <= 7 and abs(a) < 2**40]
            case.give('a', tensor(dtype, [len(pairs)], [a for a, _ in pairs]))
            case.give('b', tensor(dtype, [len(pairs)], [b for _, b in pairs]))
            case.op('elew', {'src1': 'a', 'src2': 'b'}, {'dst': 'y'}, elew_op=f'TL_{op}')
            case.expect(y=tensor(dtype, [len(pairs)],
                                 [elew_of(op, round_float(a) if dtype == 'TL_FLOAT' else a,
                                          round_float(b) if dtype == 'TL_FLOAT' else b, dtype)
                                  for a, b in pairs]))


def broadcast_cases():
    shapes = [('channels', [2, 3, 4, 5], [1, 3, 1, 1]), ('channels_short', [2, 3, 4, 5], [3, 1, 1]),
              ('row', [2, 3, 7], [7]), ('column', [3, 7], [3, 1]), ('both', [4, 1, 3], [2, 1]),
              ('one', [2, 3], [1]), ('left', [1], [5, 4]), ('outer', [6, 1], [1, 9]),
              ('middle', [2, 1, 4, 1], [1, 3, 1, 5]), ('rank5', [2, 1, 3, 1, 2], [4, 1, 5, 1])]
    for op in ('SUM', 'SUB', 'MUL', 'DIV', 'MAX', 'POW'):
        for name, a_dims, b_dims in shapes:
            for dtype in ('TL_FLOAT', 'TL_INT16') if op in ('SUB', 'DIV') else ('TL_FLOAT',):
                case = Case(f'elew_{op.lower()}_broadcast_{name}_{dtype[3:].lower()}')
                a = case.some('a', a_dims, dtype, 1, 9)
                b = case.some('b', b_dims, dtype, 1, 9)
                case.op('elew', {'src1': 'a', 'src2': 'b'}, {'dst': 'y'}, elew_op=f'TL_{op}')
                rank = max(len(a_dims), len(b_dims))
                whole = [[1] * (rank - len(t[1])) + t[1] for t in (a, b)]
                dims = [max(d) for d in zip(*whole)]

                def at(*coords):
                    left, right = (t[2][index(w, [c if d > 1 else 0 for c, d in zip(coords, w)])]
                                   for t, w in zip((a, b), whole))
                    return elew_of(op, left, right, dtype)

                case.expect(y=made(dtype, dims, at))


# ---- Along an axis ----

def reduce_cases():
    def run(name, src_of, axis):
        case = Case(f'maxreduce_arg_{name}')
        dtype, dims, x = src_of(case)
        out = [1 if d == axis else n for d, n in enumerate(dims)]

        def column(coords):
            return [x[index(dims, [k if d == axis else c for d, c in enumerate(coords)])]
                    for k in range(dims[axis])]

        def first(coords):
            values = column(coords)
            for k, v in enumerate(values):
                if v != v:
                    return k
            return values.index(max(values))

        case.op('maxreduce_arg', {'src': 'src'}, {'dst': 'dst', 'arg': 'arg'}, axis=axis)
        case.op('maxreduce', {'src': 'src'}, {'dst': 'alone'}, axis=axis)
        best = made(dtype, out, lambda *c: column(c)[first(c)])
        case.expect(dst=best, alone=best, arg=made('TL_INT32', out, lambda *c: first(c)))

    run('strange', lambda c: c.give('src', tensor('TL_FLOAT', [4, 5], [
        1, NAN, 3, NAN, INF, -INF, -INF, -INF, -INF, -INF, NAN, INF, INF, -1, 2, 0.0, -0.0, 0.0, -1,
        -2])), 1)
    run('strange_rows', lambda c: c.give('src', tensor('TL_FLOAT', [3, 4], [
        1, NAN, 3, -INF, 2, NAN, INF, -INF, NAN, 1, INF, -INF])), 0)
    for dtype in DTYPES:
        low, high = (-3, 3) if is_floating(dtype) else DTYPES[dtype][2:]
        run(dtype[3:].lower(), lambda c: c.some('src', [3, 5, 2], dtype, low, high), 1)
    for axis in range(3):
        run(f'long_axis{axis}', lambda c: c.some('src', [7, 33, 9], low=-9, high=9), axis)


def dot_cases():
    for dtype in DTYPES:
        case = Case(f'dot_product_{dtype[3:].lower()}')
        low, high = (-1, 1) if is_floating(dtype) else DTYPES[dtype][2:]
        a = case.some('a', [3, 7], dtype, low, high)
        b = case.some('b', [3, 7], dtype, low, high)
        case.op('dot_product', {'src1': 'a', 'src2': 'b'}, {'dst': 'y'})
        total = sum(x * y for x, y in zip(a[2], b[2]))
        case.expect(y=tensor(dtype, [1], [
            rounded(total, dtype) if is_floating(dtype) else wrapped(total, dtype)]))


def matmul(name, a_dims, b_dims, dims, dtype='TL_FLOAT', transA=0, transB=0, alpha=1):
    """dims are those of the result, whose batch has as many axes as that of the operands."""
    case = Case(f'matmul_{name}')
    low, high = (-1, 1) if is_floating(dtype) else DTYPES[dtype][2:]
    a, b = case.some('a', a_dims, dtype, low, high), case.some('b', b_dims, dtype, low, high)
    case.op('matmul', {'src1': 'a', 'src2': 'b'}, {'dst': 'y'}, **given(transA=transA, transB=transB, alpha=alpha))

    def element(t, at, i, j, transposed):
        first = [0 if dim == 1 else c for dim, c in zip(t[1][:-2], at)]
        return t[2][index(t[1], [*first, *((j, i) if transposed else (i, j))])]

    def at(*c):
        total = sum(element(a, c, c[-2], k, transA) * element(b, c, k, c[-1], transB)
                    for k in range(a_dims[-2 if transA else -1]))
        return rounded(total * alpha, dtype) if is_floating(dtype) else wrapped(total * alpha, dtype)

    case.expect(y=made(dtype, dims, at))


def matmul_cases():
    for dtype in [t for t in DTYPES if t != 'TL_BOOL']:
        matmul(dtype[3:].lower(), [3, 5], [5, 4], [3, 4], dtype)
    matmul('batches', [2, 1, 7, 9], [1, 3, 9, 5], [2, 3, 7, 5])
    matmul('transposed', [2, 9, 7], [1, 5, 9], [2, 7, 5], transA=1, transB=1, alpha=0.5)
    matmul('turned_right', [9, 20], [18, 20], [9, 18], transB=1)
    matmul('int32_times', [4, 3], [4, 2], [3, 2], 'TL_INT32', transA=1, alpha=3)


def einsum(name, equation, dims, written, dtype='TL_FLOAT'):
    """`written` are terms and the output with a letter for each dimension, as the equation means them."""
    case = Case(f'einsum_{name}')
    *terms, out = written
    letters = sorted(set(''.join(terms)))
    size = {c: max(d[t.index(c)] for t, d in zip(terms, dims) if c in t) for c in letters}
    inputs = [case.some(f'x{i + 1}', d, dtype, *((0, 9) if dtype == 'TL_UINT8' else (-1, 1)))[2] for i, d in enumerate(dims)]
    totals = {}
    for places in itertools.product(*(range(size[c]) for c in letters)):
        at = dict(zip(letters, places))
        product = 1
        for term, d, x in zip(terms, dims, inputs):
            product *= x[index(d, [at[c] if n > 1 else 0 for c, n in zip(term, d)])]
        to = tuple(at[c] for c in out)
        totals[to] = totals.get(to, 0) + product
    case.op('einsum', {f'src{i + 1}': f'x{i + 1}' for i in range(len(dims))}, {'dst': 'y'}, equation=f'"{equation}"')
    case.expect(y=made(dtype, [size[c] for c in out],
                       lambda *to: rounded(totals[to], dtype) if is_floating(dtype) else wrapped(totals[to], dtype)))


def einsum_cases():
    for dtype in ('TL_FLOAT', 'TL_DOUBLE', 'TL_INT32', 'TL_UINT8'):
        end = dtype[3:].lower()
        einsum(f'{end}_heads', 'bhid,bjhd->bhij', [[2, 3, 4, 5], [2, 6, 3, 5]], ['bhid', 'bjhd', 'bhij'], dtype)
        einsum(f'{end}_diagonal', 'iik->ki', [[4, 4, 3]], ['iik', 'ki'], dtype)
        einsum(f'{end}_three', 'ij, jk, kj', [[2, 3], [3, 4], [4, 3]], ['ij', 'jk', 'kj', 'i'], dtype)
        einsum(f'{end}_ellipsis', '...ik,k...j->i...', [[2, 1, 3, 4], [4, 5, 6]], ['pqik', 'kqj', 'ipq'], dtype)
    einsum('columns_around', 'abk,kn->nab', [[3, 4, 7], [7, 5]], ['abk', 'kn', 'nab'])
    einsum('two_summed', 'abcd,ecd->abe', [[2, 3, 4, 5], [6, 4, 5]], ['abcd', 'ecd', 'abe'])
    einsum('capitals_first', 'bA,bA', [[3, 4], [1, 4]], ['bA', 'bA', ''])
    einsum('implied_order', 'Zb,bA', [[3, 4], [4, 5]], ['Zb', 'bA', 'AZ'])


def softmax_cases():
    for dtype in ('TL_DOUBLE', 'TL_INT32', 'TL_UINT8'):
        case = Case(f'softmax_{dtype[3:].lower()}')
        dims, axis = [2, 4, 3], 1
        src = case.some('src', dims, dtype, 0 if dtype == 'TL_UINT8' else -40, 40)
        case.op('softmax', {'src': 'src'}, {'dst': 'dst'}, axis=axis)

        def at(a, k, b):
            row = [src[2][index(dims, (a, i, b))] for i in range(dims[axis])]
            share = [math.exp(v - max(row)) for v in row]
            return converted(share[k] / math.fsum(share), dtype)

        case.expect(dst=made(dtype, dims, at))


# ---- Moving ----

def moving_cases():
    for dtype in DTYPES:
        end = dtype[3:].lower()
        low, high = (-3, 3) if is_floating(dtype) else DTYPES[dtype][2:]

        def some(case, name, dims):
            return case.some(name, dims, dtype, low, high)

        case = Case(f'transpose_{end}')
        src = some(case, 'src', [3, 4, 5])
        case.op('transpose', {'src': 'src'}, {'dst': 'dst'}, axes=[2, 0, 1])
        case.expect(dst=made(dtype, [5, 3, 4], lambda a, b, c: src[2][index(src[1], (b, c, a))]))

        case = Case(f'slice_{end}')
        src = some(case, 'src', [3, 7, 5])
        case.op('slice', {'src': 'src'}, {'dst': 'dst'}, axis=1, start=2, len=4)
        case.op('slice', {'src': 'src'}, {'dst': 'last'}, axis=2, start=4, len=1)
        case.expect(dst=made(dtype, [3, 4, 5], lambda a, b, c: src[2][index(src[1], (a, b + 2, c))]),
                    last=made(dtype, [3, 7, 1], lambda a, b, c: src[2][index(src[1], (a, b, 4))]))

        case = Case(f'concat_{end}')
        parts = [some(case, f'src{i + 1}', [2, n, 3]) for i, n in enumerate((3, 1, 4))]
        case.op('concat', {f'src{i + 1}': f'src{i + 1}' for i in range(3)}, {'dst': 'dst'}, axis=1)
        rows = [(part, k) for part in parts for k in range(part[1][1])]
        case.expect(dst=made(dtype, [2, 8, 3], lambda a, b, c: rows[b][0][2][
            index(rows[b][0][1], (a, rows[b][1], c))]))

        case = Case(f'reshape_{end}')
        src = some(case, 'src', [2, 6])
        case.op('reshape', {'src': 'src'}, {'dst': 'dst'}, dims=[3, 1, 4])
        case.op('forward', {'src': 'dst'}, {'dst': 'same'})
        case.op('copy', {'src': 'same'}, {'dst': 'copied'})
        case.op('transpose', {'src': 'copied'}, {'dst': 'out'}, axes=[0, 1, 2])
        case.expect(out=(dtype, [3, 1, 4], src[2]))

        for optype in ('gather', 'gather_nocopy'):
            case = Case(f'{optype}_{end}')
            parts = [some(case, f'src{i + 1}', [2, 3]) for i in range(4)]
            case.op(optype, {f'src{i + 1}': f'src{i + 1}' for i in range(4)}, {'dst': 'dst'})
            case.expect(dst=(dtype, [4, 2, 3], [x for part in parts for x in part[2]]))
        for optype in ('scatter', 'scatter_nocopy'):
            case = Case(f'{optype}_{end}')
            src = some(case, 'src', [3, 2, 2])
            case.op(optype, {'src': 'src'}, {f'dst{i + 1}': f'dst{i + 1}' for i in range(3)})
            case.expect(**{f'dst{i + 1}': (dtype, [2, 2], src[2][4 * i:4 * i + 4])
                           for i in range(3)})

        case = Case(f'pick1d_{end}')
        src = some(case, 'src', [11])  # the last two belong to no group
        case.give('index', tensor('TL_INT32', [5], [2, 0, 0, 1, 7]))
        case.op('pick1d', {'src': 'src', 'src_index': 'index'}, {'dst': 'dst'}, stride=3, len=4)
        case.expect(dst=tensor(dtype, [12], [src[2][3 * i + k] for i in (2, 0, 0, 1)
                                             for k in range(3)]))

    case = Case('transpose_large')
    src = case.some('src', [5, 37, 41])
    case.op('transpose', {'src': 'src'}, {'dst': 'dst'}, axes=[0, 2, 1])
    case.expect(dst=made('TL_FLOAT', [5, 41, 37], lambda a, b, c: src[2][index(src[1], (a, c, b))]))


# ---- Sorting ----

def order_of(keys, descends):
    """Positions in order: stable, NaN last."""
    numbers = [i for i, k in enumerate(keys) if k == k]
    numbers.sort(key=lambda i: -keys[i] if descends else keys[i])
    return numbers + [i for i, k in enumerate(keys) if k != k]


def sort_cases():
    strange = [3, NAN, -0.0, INF, 0.0, -1, NAN, -INF, 3, 0.0, -0.0, 2]
    for direction in ('ASCENDING', 'DESCENDING'):
        descends = direction == 'DESCENDING'
        end = direction.lower()

        def run(name, keys_of):
            case = Case(f'sort1d_by_key_{end}_{name}')
            keys = keys_of(case)
            n = len(keys[2])
            positions = case.give('position', tensor('TL_INT32', [n], range(n)))
            values = case.some('value', [n], 'TL_DOUBLE')
            case.op('sort1d_by_key', {'src_key': 'key', 'src_val': 'position'},
                    {'dst_key': 'k', 'dst_val': 'p'}, dir=f'TL_SORT_DIR_{direction}')
            case.op('sort1d_by_key', {'src_key': 'key', 'src_val': 'value'},
                    {'dst_key': 'k2', 'dst_val': 'v'}, dir=f'TL_SORT_DIR_{direction}')
            case.op('sort1d', {'src_key': 'key'}, {'dst_key': 'k3'}, dir=f'TL_SORT_DIR_{direction}')
            order = order_of(keys[2], descends)
            sorted_keys = (keys[0], [n], [keys[2][i] for i in order])
            case.expect(k=sorted_keys, k2=sorted_keys, k3=sorted_keys,
                        p=('TL_INT32', [n], order), v=('TL_DOUBLE', [n],
                                                       [values[2][i] for i in order]))

        run('strange', lambda c: c.give('key', tensor('TL_FLOAT', [len(strange)], strange)))
        run('one', lambda c: c.some('key', [1]))
        run('many', lambda c: c.some('key', [300], 'TL_INT16', -9, 9))
        for dtype in DTYPES:
            low, high = (-3, 3) if is_floating(dtype) else DTYPES[dtype][2:]
            run(dtype[3:].lower(), lambda c: c.some('key', [21], dtype, low, high))


# ---- Other sizes ----

def nearest(i, size, new_size):
    """(i + 1/2) * size / new_size - 1/2, rounded half away from zero; never below 0 here."""
    return min((2 * i + 1) * size // (2 * new_size), size - 1)


def linear(i, size, new_size):
    """The two neighbours of a place, and the weight of the second."""
    x = (i + 0.5) * size / new_size - 0.5
    if size == new_size:
        return i, i, 0.0
    x = min(max(x, 0.0), size - 1.0)
    low = math.floor(x)
    return low, min(low + 1, size - 1), x - low


def half_away(x):
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def resized(src, dims, mode):
    dtype, old, x = src
    if mode == 'TL_NEAREST':
        return made(dtype, dims, lambda *c: x[index(old, [
            nearest(i, o, n) for i, o, n in zip(c, old, dims)])])

    def at(*coords):
        total = 0.0
        ends = [linear(i, o, n) for i, o, n in zip(coords, old, dims)]
        for corner in itertools.product((0, 1), repeat=len(dims)):
            weight = math.prod(e[2] if k else 1 - e[2] for e, k in zip(ends, corner))
            if weight:
                total += weight * x[index(old, [e[k] for e, k in zip(ends, corner)])]
        return rounded(total if is_floating(dtype) else half_away(total), dtype)

    return made(dtype, dims, at)


def resize_cases():
    sizes = [('twice', [1, 2, 3, 4], [1, 2, 6, 8]), ('3_to_5', [1, 2, 3, 3], [1, 2, 5, 5]),
             ('7_to_3', [1, 1, 7, 7], [1, 1, 3, 3]), ('up_and_down', [2, 5, 3], [2, 3, 7]),
             ('rank1', [5], [13]), ('to_one', [1, 1, 4, 5], [1, 1, 1, 1]),
             ('from_one', [1, 2, 1, 1], [1, 2, 3, 4]), ('odd', [1, 1, 5, 9], [1, 1, 8, 4])]
    for mode in ('TL_NEAREST', 'TL_LINEAR'):
        end = mode[3:].lower()
        for name, old, new in sizes:
            case = Case(f'resize_{end}_{name}')
            src = case.some('src', old)
            case.op('resize', {'src': 'src'}, {'dst': 'dst'}, mode=mode, dims=new)
            case.expect(dst=resized(src, new, mode))
        for dtype in DTYPES:
            case = Case(f'resize_{end}_{dtype[3:].lower()}')
            low, high = (-3, 3) if is_floating(dtype) else (DTYPES[dtype][2] and -50, min(
                50, DTYPES[dtype][3]))
            src = case.some('src', [1, 2, 3, 4], dtype, low, high)
            case.op('resize', {'src': 'src'}, {'dst': 'dst'}, mode=mode, dims=[1, 2, 5, 6])
            case.expect(dst=resized(src, [1, 2, 5, 6], mode))
        for name, scales in (('floor', [1, 1.5, 1.3]), ('down', [1, 0.7, 0.4]),
                             ('twice', [1, 2, 2])):
            case = Case(f'upsample_{end}_{name}')
            src = case.some('src', [2, 5, 7])
            new = [math.floor(s * d) for s, d in zip(scales, [2, 5, 7])]
            case.op('upsample', {'src': 'src'}, {'dst': 'dst'}, mode=mode, scales=scales)
            case.expect(dst=resized(src, new, mode))
        case = Case(f'resize_{end}_strange')
        src = case.give('src', tensor('TL_FLOAT', [2, 4], [1, NAN, 2, 3, INF, 1, -INF, 0]))
        case.op('resize', {'src': 'src'}, {'dst': 'dst'}, mode=mode, dims=[2, 7])
        case.expect(dst=resized(src, [2, 7], mode))


# How far element `i` of the output is along the input, by ONNX's names.
PLACES = {'half_pixel': lambda i, old, new: (i + 0.5) * old / new - 0.5,
          'asymmetric': lambda i, old, new: i * old / new,
          'align_corners': lambda i, old, new: i * (old - 1) / (new - 1)}


def cubic(x, a=-0.75):
    x = abs(x)
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x <= 1 else ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0


# The weights of the elements of an axis for element `i` of the output.
def filter_of(i, old, new, mode, place, widens):
    at, shrink = PLACES[place](i, old, new), min(1, new / old) if widens else 1
    reach = math.ceil(2 / shrink) + 1
    weights = [0.0] * old
    for k in range(math.floor(at) - reach, math.floor(at) + reach + 1):
        x = (k - at) * shrink
        weights[min(max(k, 0), old - 1)] += cubic(x) if mode == 'cubic' else max(0, 1 - abs(x))
    return [w / sum(weights) for w in weights]


def filtered(src, dims, *how):
    dtype, old, x = src

    def at(*coords):
        axes = [filter_of(i, o, n, *how) for i, o, n in zip(coords, old, dims)]
        return rounded(sum(x[index(old, corner)] * math.prod(w[k] for w, k in zip(axes, corner))
                           for corner in itertools.product(*map(range, old))), dtype)

    return made(dtype, dims, at)


def filter_cases():
    for mode, place, widens, old, new in (
            ('linear', 'half_pixel', 0, [2, 5, 3], [2, 3, 7]), ('linear', 'align_corners', 0, [3, 4], [5, 9]),
            ('linear', 'asymmetric', 0, [4, 5], [9, 7]), ('linear', 'half_pixel', 1, [7, 9], [3, 4]),
            ('cubic', 'half_pixel', 0, [5, 6], [8, 4]), ('cubic', 'align_corners', 0, [4, 5], [7, 6]),
            ('cubic', 'half_pixel', 1, [9, 8], [4, 11])):
        case = Case(f'resize_filter_{mode}_{place}' + ('_wide' if widens else ''))
        src = case.some('src', old)
        case.op('resize', {'src': 'src'}, {'dst': 'dst'}, mode=mode, dims=new, coordinate_transformation_mode=place,
                antialias=widens)
        case.expect(dst=filtered(src, new, mode, place, widens))
    for rounding, way in (('floor', math.floor), ('ceil', math.ceil), ('toward_input', None)):
        case = Case(f'resize_nearest_by_{rounding}')
        dtype, old, x = case.some('src', [5, 6], 'TL_INT16', -50, 50)
        new = [8, 4]
        case.op('resize', {'src': 'src'}, {'dst': 'dst'}, mode='nearest', dims=new, nearest_mode=rounding,
                coordinate_transformation_mode='asymmetric')
        case.expect(dst=made(dtype, new, lambda *c: x[index(old, [
            min((way or (math.ceil if n < o else math.floor))(i * o / n), o - 1) for i, o, n in zip(c, old, new)])]))


def submean_cases():
    for source, target, low, high in (
            ('TL_UINT8', 'TL_FLOAT', 0, 255), ('TL_UINT8', 'TL_INT8', 0, 255),
            ('TL_UINT8', 'TL_UINT8', 0, 255), ('TL_FLOAT', 'TL_DOUBLE', 0, 255),
            ('TL_DOUBLE', 'TL_FLOAT', 0, 255), ('TL_INT16', 'TL_INT32', -9, 999)):
        case = Case(f'submean_{source[3:].lower()}_{target[3:].lower()}')
        mean = [123.68, 116.75, 103.5]
        src = case.some('src', [3, 4, 3], source, low, high)
        case.op('submean', {'src': 'src'}, {'dst': 'dst'}, mean=mean, dtype=target)
        case.expect(dst=made(target, [3, 3, 4], lambda c, y, x: converted(
            float(src[2][index(src[1], (y, x, c))]) - mean[c], target)))
    case = Case('submean_strange')
    src = case.give('src', tensor('TL_FLOAT', [1, 2, 3], [NAN, INF, -INF, 1, 2, 3]))
    case.op('submean', {'src': 'src'}, {'dst': 'dst'}, mean=[1, 1, 1], dtype='TL_INT16')
    case.op('submean', {'src': 'src'}, {'dst': 'same'}, mean=[1, 1, 1], dtype='TL_FLOAT')
    for name, dtype in (('dst', 'TL_INT16'), ('same', 'TL_FLOAT')):
        case.expect(**{name: made(dtype, [3, 1, 2], lambda c, y, x: converted(
            src[2][index(src[1], (y, x, c))] - 1, dtype))})


# ---- Constants ----

def constant_cases():
    def run(name, dtype, dims, elements, ran=(0, 0), data=(0,)):
        case = Case(f'create_{name}')
        case.op('create', {}, {'dst': 'c'}, dtype=dtype, dims=dims, ran=ran, data=data,
                from_file=False)
        case.op('transpose', {'src': 'c'}, {'dst': 'y'}, axes=list(range(len(dims))))
        case.expect(y=tensor(dtype, dims, elements))

    wild = [1.9, -1.9, 300.5, -300.5, 1e19, -1e19, 0.4, 2147483647.5, 1e39]
    for dtype in DTYPES:
        run(f'data_{dtype[3:].lower()}', dtype, [2, 5],
            [converted(x, dtype) for x in wild] + [0], data=wild)
    run('one', 'TL_FLOAT', [1], [2.5], data=[2.5])

    # Random numbers follow from the tensor's name alone.
    mask = 2**64 - 1

    def unit(name, i):
        seed = 0xcbf29ce484222325
        for byte in name.encode():
            seed = (seed ^ byte) * 0x100000001b3 & mask
        z = seed + (i + 1) * 0x9e3779b97f4a7c15 & mask
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        return ((z ^ z >> 31) >> 11) * 2.0**-53

    for dtype in ('TL_FLOAT', 'TL_DOUBLE'):
        run(f'random_{dtype[3:].lower()}', dtype, [3, 7],
            [rounded(-1.5 * (1 - unit('c', i)) + 2.5 * unit('c', i), dtype) for i in range(21)],
            ran=[-1.5, 2.5])
    for dtype in ('TL_INT32', 'TL_INT8'):
        run(f'random_{dtype[3:].lower()}', dtype, [30],
            [min(math.floor(-5 * (1 - unit('c', i)) + 4 * unit('c', i)), 3) for i in range(30)],
            ran=[-5.5, 3.5])

    case = Case('create_from_file')
    given = case.some('c', [2, 3], is_static=True)
    case.op('transpose', {'src': 'c'}, {'dst': 'y'}, axes=[0, 1])
    case.expect(y=given)

    for dtype in DTYPES:
        case = Case(f'zeros_{dtype[3:].lower()}')
        case.op('zeros', {}, {'dst': 'y'}, dtype=dtype, dims=[2, 3])
        case.expect(y=tensor(dtype, [2, 3], [0] * 6))

    ranges = [('whole', 0, 10, 2, 'TL_INT32'), ('down', 5, -4, -3, 'TL_INT8'),
              ('fraction', 0, 1, 0.3, 'TL_FLOAT'), ('third', -1, 1, 1 / 3, 'TL_DOUBLE'),
              ('toward_zero', -2, 2, 0.75, 'TL_INT16'), ('unsigned', 3, 250, 60, 'TL_UINT8')]
    for name, start, stop, step, dtype in ranges:
        n = math.ceil((stop - start) / step)
        numbers = tensor(dtype, [n], [converted(float(start + i * step), dtype) for i in range(n)])
        case = Case(f'arange_{name}')
        case.op('arange', {}, {'dst': 'c'}, dtype=dtype, start=start, stop=stop, step=repr(step))
        case.op('transpose', {'src': 'c'}, {'dst': 'y'}, axes=[0])
        case.expect(y=numbers)
        case = Case(f'rearange_{name}')
        case.some('src', [n], dtype, 1, 1)
        case.op('rearange', {'src': 'src'}, {'dst': 'y'}, start=start, stop=stop, step=repr(step))
        case.expect(y=numbers)


# ---- Detection ----

def box_cases():
    def decode(v):
        return math.exp(v) if v < 1 else v * math.e

    def clamp(x, high):
        return x if x != x else min(max(x, 0), high)

    def run(name, dims, low, high, strange=(), **params):
        case = Case(f'transform_bboxSQD_{name}')
        delta = case.some('delta', dims, low=low, high=high)
        anchor = case.some('anchor', dims, low=5, high=60)
        for i, x in strange:
            delta[2][i] = x
        case.op('transform_bboxSQD', {'src_delta': 'delta', 'src_anchor': 'anchor'}, {'dst': 'y'},
                **params)
        boxes = []
        for i in range(0, length(dims), 4):
            dx, dy, dw, dh = delta[2][i:i + 4]
            ax, ay, aw, ah = anchor[2][i:i + 4]
            sx = params['img_width'] / params['width']
            sy = params['img_height'] / params['height']
            cx = (ax + dx * aw) * sx + params['x_shift']
            cy = (ay + dy * ah) * sy + params['y_shift']
            w, h = aw * decode(dw) * sx, ah * decode(dh) * sy
            for corner, size in ((cx - w / 2, 'img_width'), (cy - h / 2, 'img_height'),
                                 (cx + w / 2, 'img_width'), (cy + h / 2, 'img_height')):
                boxes.append(clamp(corner, params[size] - 1))
        case.expect(y=tensor('TL_FLOAT', dims, boxes))

    run('plain', [1, 3, 2, 4, 4], -1, 1, width=80, height=60, img_width=160, img_height=120,
        x_shift=0, y_shift=0)
    run('wild', [1, 2, 3, 2, 4], -4, 4, width=64, height=64, img_width=200, img_height=150,
        x_shift=7, y_shift=-9)
    run('flat', [5, 4], -1, 2, width=50, height=40, img_width=100, img_height=90, x_shift=-3,
        y_shift=4)
    run('strange', [6, 4], -1, 1, ((0, NAN), (5, INF), (10, INF), (15, -INF), (18, NAN), (20, -INF)),
        width=50, height=40, img_width=100, img_height=90, x_shift=0, y_shift=0)


def yolo_cases():
    def run(name, anchors, classes, h, w, img, low, high, strange=()):
        case = Case(f'detect_yolov3_{name}')
        feature = case.some('feature', [1, anchors * (5 + classes), h, w], low=low, high=high)
        for i, x in strange:
            feature[2][i] = x
        sizes = case.some('anchors', [anchors, 2], low=10, high=90)
        case.op('detect_yolov3', {'feature': 'feature', 'anchors': 'anchors'},
                {'box_centers': 'c', 'box_sizes': 's', 'boxes': 'b', 'confs': 'f', 'probs': 'p'},
                img_width=img[0], img_height=img[1])

        def raw(a, k, y, x):
            return feature[2][index(feature[1], (0, a * (5 + classes) + k, y, x))]

        def centre(a, k, y, x):
            return (logistic(raw(a, k, y, x)) + (x, y)[k]) * img[k] / (w, h)[k]

        def size(a, k, y, x):
            t = raw(a, 2 + k, y, x)
            return sizes[2][2 * a + k] * (t if t != t else min(max(math.exp(t), 1e-9), 50))

        def corner(_, a, k, y, x):
            half = size(a, k % 2, y, x) / 2
            return centre(a, k % 2, y, x) + (half if k > 1 else -half)

        case.expect(
            c=made('TL_FLOAT', [1, anchors, 2, h, w], lambda _, *at: centre(*at)),
            s=made('TL_FLOAT', [1, anchors, 2, h, w], lambda _, *at: size(*at)),
            b=made('TL_FLOAT', [1, anchors, 4, h, w], corner),
            f=made('TL_FLOAT', [1, anchors, 1, h, w],
                   lambda _, a, k, y, x: logistic(raw(a, 4, y, x))),
            p=made('TL_FLOAT', [1, anchors, classes, h, w],
                   lambda _, a, k, y, x: logistic(raw(a, 5 + k, y, x))))

    run('plain', 3, 4, 3, 2, (96, 64), -3, 3)
    run('clipped', 1, 1, 2, 5, (160, 32), -30, 30)
    run('one', 2, 2, 1, 1, (32, 32), -1, 1)
    run('strange', 1, 2, 3, 3, (96, 96), -1, 1,
        [(9 * k + at, x) for k in range(7) for at, x in ((k, NAN), (8, INF), (7, -INF))])


def plain_take_cases():
    case = Case('take_nonnegative')
    case.give('src', tensor('TL_FLOAT', [3, 2], [1, 2, 3, 4, 5, 6]))
    case.give('index', tensor('TL_INT32', [2, 2], [2, 0, 1, 2]))
    case.op('take', {'src': 'src', 'index': 'index'}, {'dst': 'dst'}, nonnegative=True)
    case.expect(dst=tensor('TL_FLOAT', [2, 2, 2], [5, 6, 1, 2, 3, 4, 5, 6]))


def attention_mask_cases():
    """Two sequences of two queries and three keys after a past of two: five keys."""
    keys, nothing = range(5), [[[0] * 5]] * 2
    for name, dims, mask, hidden in (
            ('ends', [2], [4, 1], [[[k >= 4 for k in keys]], [[k >= 1 for k in keys]]]),
            ('ends_and_starts', [4], [4, 5, 2, 0], [[[k >= 4 or k < 2 for k in keys]], nothing[0]]),
            ('keys', [2, 5], [1, 0, 1, 1, 0, 2, -1, 1, 1, 1], [[[0, 1, 0, 0, 1]], [[0, 1, 0, 0, 0]]]),
            ('new_keys', [2, 3], [0, 1, 1, 1, 1, 0], [[[0, 0, 1, 0, 0]], [[0, 0, 0, 0, 1]]]),
            ('queries', [2, 2, 5], [1, 0, 0, 0, 0] * 4, [[[0, 1, 1, 1, 1]] * 2] * 2),
            ('nothing', [2, 1], [0, 0], nothing)):
        case = Case(f'attention_mask_{name}')
        case.give('mask', tensor('TL_INT32', dims, mask))
        case.give('q', tensor('TL_FLOAT', [2, 2, 4], [NAN] * 16))
        case.give('k', tensor('TL_FLOAT', [2, 2, 3, 2], [NAN] * 24))
        case.give('past', tensor('TL_FLOAT', [2, 2, 2, 2], [NAN] * 16))
        case.op('attention_mask', {'mask': 'mask', 'q': 'q', 'k': 'k', 'past': 'past'}, {'dst': 'dst'}, value=-2.5)
        case.expect(dst=tensor('TL_FLOAT', [2, 1, len(hidden[0]), 5],
                               [-2.5 if x else 0 for rows in hidden for row in rows for x in row]))


# ---- Quantized tensors ----

def single(x):
    return round_float(x)


def to_byte(number, zero, dtype, low=None, high=None):
    """A number that is divided by its scale: to the nearest, ties to even; NaN is the least."""
    least, most = DTYPES[dtype][2:]
    low = least - zero if low is None else max(low, least - zero)
    high = most - zero if high is None else min(high, most - zero)
    if not number > low:
        return low + zero
    return round(min(number, high)) + zero


def quantize_cases():
    for name, dtype, scale, zero in (('uint8', 'TL_UINT8', 0.05, 117), ('int8', 'TL_INT8', 0.3, -4), ('ties', 'TL_UINT8', 2.0, 0)):
        case = Case(f'quantize_{name}')
        dtype_x, dims, x = case.some('x', [2, 3, 17], low=-20, high=20)
        if name == 'ties':
            x[:] = [float(i - 9) for i in range(len(x))]
        x[3:6] = [INF, -INF, NAN]
        scale = single(scale)
        case.give('s', tensor('TL_FLOAT', [], [scale]), True)
        case.give('z', tensor(dtype, [], [zero]), True)
        case.op('quantize', {'src': 'x', 'scale': 's', 'zero': 'z'}, {'dst': 'q'})
        case.op('dequantize', {'src': 'q', 'scale': 's', 'zero': 'z'}, {'dst': 'dst'})
        q = [to_byte(single(v / scale), zero, dtype) for v in (single(v) for v in x)]
        case.expect(dst=tensor('TL_FLOAT', dims, [single((v - zero) * scale) for v in q]))
    case = Case('quantize_channels')
    _, dims, x = case.some('x', [2, 3, 5], low=-20, high=20)
    scales, zeros = [single(s) for s in (0.1, 0.25, 0.5)], [0, 128, 255]
    case.give('s', tensor('TL_FLOAT', [3], scales), True)
    case.give('z', tensor('TL_UINT8', [3], zeros), True)
    case.op('quantize', {'src': 'x', 'scale': 's', 'zero': 'z'}, {'dst': 'dst'})
    case.expect(dst=tensor('TL_UINT8', dims, [to_byte(single(single(v) / scales[i // 5 % 3]), zeros[i // 5 % 3], 'TL_UINT8')
                                             for i, v in enumerate(x)]))
    case = Case('quantize_dynamic')
    _, dims, x = case.some('x', [4, 50], low=-1, high=3)
    x = [single(v) for v in x]
    low, high = min(0, min(x)), max(0, max(x))
    scale = single(single(high - low) / 255)
    zero = round(min(max(single(0 - single(low / scale)), 0), 255))
    case.op('quantize_dynamic', {'src': 'x'}, {'dst': 'dst', 'scale': 'scale', 'zero': 'zero'})
    case.expect(dst=tensor('TL_UINT8', dims, [to_byte(single(v / scale), zero, 'TL_UINT8') for v in x]),
                scale=tensor('TL_FLOAT', [], [scale]), zero=tensor('TL_UINT8', [], [zero]))


def quant_result(total, factor, dtype, zero=0, low=None, high=None):
    if dtype == 'TL_INT64':
        return total
    if dtype == 'TL_INT32':
        return (total + 2**31) % 2**32 - 2**31
    number = single(single((total + 2**31) % 2**32 - 2**31) * factor)
    return number if dtype == 'TL_FLOAT' else to_byte(number, zero, dtype, low, high)


def quant_product_cases():
    # name, types of both sides, of the result, zero points, act
    kinds = (('sums', 'TL_UINT8', 'TL_INT8', 'TL_INT32', 7, 0, 'none'), ('floats', 'TL_INT8', 'TL_INT8', 'TL_FLOAT', -128, 0, 'none'),
             ('bytes', 'TL_UINT8', 'TL_INT8', 'TL_UINT8', 255, 0, 'none'), ('relu', 'TL_INT8', 'TL_UINT8', 'TL_INT8', 5, 128, 'relu'),
             ('zeros', 'TL_UINT8', 'TL_UINT8', 'TL_UINT8', 3, 255, 'none'), ('wide', 'TL_INT16', 'TL_INT8', 'TL_INT64', -32768, -128, 'none'))
    for name, a_type, b_type, dtype, a_zero, b_zero, act in kinds:
        for product in ('matmul', 'conv'):
            case = Case(f'quant_{product}_{name}')
            a_dims, b_dims = ([5, 37], [37, 19]) if product == 'matmul' else ([1, 6, 5, 7], [19, 6, 3, 3])
            _, _, a = case.some('a', a_dims, a_type, *DTYPES[a_type][2:])
            _, _, b = case.some('b', b_dims, b_type, *DTYPES[b_type][2:], is_static=True)
            bias_type, most = ('TL_INT64', 2**61) if dtype == 'TL_INT64' else ('TL_INT32', 5000)
            _, _, bias = case.some('bias', [19], bias_type, -most, most, is_static=True)
            case.give('az', tensor(a_type, [], [a_zero]), True)
            case.give('bz', tensor(b_type, [], [b_zero]), True)
            ins = {'src': 'a', 'weight': 'b', 'src_zero': 'az', 'weight_zero': 'bz', 'bias': 'bias'}
            factors, zero = [1] * 19, 10
            if dtype not in ('TL_INT32', 'TL_INT64'):
                a_scale, b_scales = single(0.02), [single(0.001 * (i + 1)) for i in range(19)]
                case.give('as', tensor('TL_FLOAT', [], [a_scale]), True)
                case.give('bs', tensor('TL_FLOAT', [19], b_scales), True)
                ins.update({'src_scale': 'as', 'weight_scale': 'bs'})
                factors = [single(a_scale * s) for s in b_scales]
                if dtype != 'TL_FLOAT':
                    y_scale = single(0.3)
                    case.give('ys', tensor('TL_FLOAT', [], [y_scale]), True)
                    case.give('yz', tensor(dtype, [], [zero]), True)
                    ins.update({'dst_scale': 'ys', 'dst_zero': 'yz'})
                    factors = [single(f / y_scale) for f in factors]
            low = 0 if act == 'relu' else None
            params = {'act': act}
            if product == 'conv':
                params['padding'] = [1, 1, 1, 1]
            case.op(f'quant_{product}', ins, {'dst': 'dst'}, **params)

            def rows(i, j):
                return sum((a[i * 37 + k] - a_zero) * (b[k * 19 + j] - b_zero) for k in range(37))

            def pixel(n, o, y, x):
                total = 0
                for c, v, u in places((6, 3, 3)):
                    if 0 <= y + v - 1 < 5 and 0 <= x + u - 1 < 7:
                        total += (a[index(a_dims, (0, c, y + v - 1, x + u - 1))] - a_zero) * \
                            (b[index(b_dims, (o, c, v, u))] - b_zero)
                return total

            def at(*place):
                j = place[1]
                total = (rows if product == 'matmul' else pixel)(*place) + bias[j]
                return quant_result(total, factors[j], dtype, zero, low)
            case.expect(dst=made(dtype, [5, 19] if product == 'matmul' else [1, 19, 5, 7], at))


def quant_elew_cases():
    for op, f in (('TL_SUM', lambda x, y: x + y), ('TL_SUB', lambda x, y: x - y), ('TL_MUL', lambda x, y: x * y)):
        case = Case(f'quant_elew_{op[3:].lower()}')
        _, dims, a = case.some('a', [3, 40], 'TL_UINT8', 0, 255)
        _, _, b = case.some('b', [40], 'TL_INT8', -128, 127)
        scales, zeros = [single(0.05), single(0.02), single(0.1)], [100, -3, 9]
        for i, name in enumerate('abd'):
            case.give(f's{name}', tensor('TL_FLOAT', [], [scales[i]]), True)
            case.give(f'z{name}', tensor(('TL_UINT8', 'TL_INT8', 'TL_INT8')[i], [], [zeros[i]]), True)
        case.op('quant_elew', {'src1': 'a', 'scale1': 'sa', 'src2': 'b', 'scale2': 'sb', 'dst_scale': 'sd', 'zero1': 'za',
                               'zero2': 'zb', 'dst_zero': 'zd'}, {'dst': 'dst'}, elew_op=op)
        case.expect(dst=tensor('TL_INT8', dims, [
            to_byte(single(single(f(single((a[i] - zeros[0]) * scales[0]), single((b[i % 40] - zeros[1]) * scales[1]))) / scales[2]),
                    zeros[2], 'TL_INT8') for i in range(len(a))]))


def quant_act_cases():
    for act in ('none', 'relu'):
        case = Case(f'quant_act_{act}')
        _, dims, x = case.give('x', tensor('TL_INT8', [2, 128], list(range(-128, 128))))
        case.give('s', tensor('TL_FLOAT', [], [single(0.04)]), True)
        case.give('t', tensor('TL_FLOAT', [], [single(0.03)]), True)
        case.give('z', tensor('TL_INT8', [], [-20]), True)
        case.give('y', tensor('TL_UINT8', [], [130]), True)
        case.op('quant_act', {'src': 'x', 'src_scale': 's', 'dst_scale': 't', 'src_zero': 'z', 'dst_zero': 'y'}, {'dst': 'dst'}, act=act)
        reals = [single((v + 20) * single(0.04)) for v in x]
        case.expect(dst=tensor('TL_UINT8', dims, [to_byte(single((max(r, 0) if act == 'relu' else r) / single(0.03)), 130, 'TL_UINT8')
                                                 for r in reals]))


# ---- Writing ----

def safetensors_bytes(tensors):
    header, parts, offset = {}, [], 0
    for name, (dtype, dims, elements) in tensors.items():
        data = struct.pack(f'<{len(elements)}{DTYPES[dtype][1]}', *elements)
        header[name] = {'dtype': DTYPES[dtype][0], 'shape': dims,
                        'data_offsets': [offset, offset + len(data)]}
        parts.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(',', ':'))
    text += ' ' * (-(8 + len(text)) % 64)
    return struct.pack('<Q', len(text)) + text.encode() + b''.join(parts)


def main():
    import fast_formulas  # which imports this file
    import rescale_formulas
    import stack_formulas
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__),
                                                                'formulas')
    for add in (conv_cases, core_conv_cases, deconv_cases, core_deconv_cases, batchnorm_cases, fold_cases, pool_cases, unary_cases,
                line_cases, recurrent_cases, function_cases, compare_cases, expand_take_and_cast_cases, elew_of_any_cases, elew_cases, broadcast_cases, reduce_cases, dot_cases, matmul_cases, einsum_cases, softmax_cases, moving_cases, sort_cases,
                resize_cases, filter_cases, submean_cases, constant_cases, box_cases, yolo_cases,
                fast_formulas.add_all, stack_formulas.add_all, attention_mask_cases, plain_take_cases,
                quantize_cases, quant_product_cases, quant_elew_cases, quant_act_cases, rescale_formulas.add_all):
        add()
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):  # of cases that are no more
        if name.endswith(('.net', '.safetensors')):
            os.unlink(os.path.join(folder, name))
    for name, case in CASES.items():
        with open(os.path.join(folder, f'{name}.net'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(case.lines) + '\n')
        with open(os.path.join(folder, f'{name}.safetensors'), 'wb') as file:
            file.write(safetensors_bytes({**case.data, **case.expected}))
    print(f'{len(CASES)} cases')


if __name__ == '__main__':
    import make_formulas  # the module that the others know, not __main__
    make_formulas.main()
