# SPDX-License-Identifier: Apache-2.0
"""Formulas of the other operators on channels-last images and volumes: transposed convolution,
convolution of volumes, norms and slopes of channels, padding.

`make_formulas.py` calls add_all; see README.md.
"""

import math

from fast_formulas import LANES, Writer, acted, public
from make_formulas import Case, index, made, places, tensor


# ---- Transposed convolution ----

def phases(size, stride, dilation):
    """The taps of an axis that reach the same outputs, from the last to the first."""
    step = stride // math.gcd(stride, dilation)
    return [list(range(first, size, step))[::-1] for first in range(min(step, size))]


def deconv_pack_cases():
    for name, dims, group, stride, dilation in (
            ('plain', [3, 19, 3, 2], 1, [2, 1], [1, 1]), ('groups', [6, 2, 4, 3], 3, [2, 3], [1, 2])):
        case = Case(f'deconv2d_pack_{name}')
        weight = case.some('weight', dims)
        case.op('deconv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'dst'}, group=group, stride=stride,
                dilation=dilation)
        of_group, each, packed = dims[1], dims[0] // group, []
        for rows in phases(dims[2], stride[0], dilation[0]):
            for columns in phases(dims[3], stride[1], dilation[1]):
                for g in range(group):
                    for first in range(0, of_group, LANES):
                        packed += [
                            weight[2][index(dims, (g * each + c, first + lane, v, u))]
                            if first + lane < of_group else 0.0
                            for v in rows for u in columns for c in range(each)
                            for lane in range(LANES)]
        case.expect(dst=tensor('TL_FLOAT', [len(packed)], packed))
    case = Case('deconv2d_pack_depthwise')
    dims = [5, 1, 3, 2]
    weight = case.some('weight', dims)
    case.op('deconv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'dst'}, group=5, stride=[2, 2])
    case.expect(dst=tensor('TL_FLOAT', [30], [
        weight[2][index(dims, (o, 0, v, u))] for rows in phases(3, 2, 1)
        for columns in phases(2, 2, 1) for v in rows for u in columns for o in range(5)]))


def deconv_cases():
    def run(name, src_dims, weight_dims, out, has_bias=True, **params):
        case = Case(f'deconv2d_nhwc_{name}')
        group, stride = params.get('group', 1), params.get('stride', [1, 1])
        padding, dilation = params.get('padding', [0, 0]), params.get('dilation', [1, 1])
        in_count, of_group, kh, kw = weight_dims
        channels, each = group * of_group, in_count // group
        src = case.some('src', src_dims)
        weight = case.some('weight', weight_dims, is_static=True)
        bias = case.some('bias', [channels], is_static=True) if has_bias else None
        writer = Writer(case, [src_dims[0], *out, channels], params)
        ins = {'src': 'src', 'packed': 'packed', **({'bias': 'bias'} if bias else {})}
        case.op('deconv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'packed'}, group=group,
                stride=stride, dilation=dilation)
        case.op('deconv2d_nhwc_cpu', {**ins, **writer.ins()}, {'dst': 'dst'}, channels=channels,
                size=[kh, kw], out=out, **public(params))

        def at(b, y, x, o):
            total, first = bias[2][o] if bias else 0.0, o // of_group * each
            for c, v, u in places((each, kh, kw)):
                sy, sx = y + padding[0] - v * dilation[0], x + padding[1] - u * dilation[1]
                if sy % stride[0] or sx % stride[1]:
                    continue
                sy, sx = sy // stride[0], sx // stride[1]
                if 0 <= sy < src_dims[1] and 0 <= sx < src_dims[2]:
                    total += src[2][index(src_dims, (b, sy, sx,
                                                     params.get('src_first', 0) + first + c))] * \
                        weight[2][index(weight_dims, (first + c, o % of_group, v, u))]
            return acted(total, **params)

        case.expect(dst=writer.result(at))

    run('plain', [1, 4, 5, 3], [3, 6, 2, 2], [8, 10], stride=[2, 2])
    run('overlapping', [2, 4, 4, 5], [5, 18, 4, 4], [8, 8], stride=[2, 2], padding=[1, 1], act='relu')
    run('dilation', [1, 4, 5, 3], [3, 4, 3, 2], [11, 12], stride=[2, 3], dilation=[2, 1],
        padding=[1, 0], has_bias=False)
    run('groups', [1, 4, 3, 6], [6, 4, 3, 3], [9, 7], group=2, stride=[2, 2])
    run('depthwise', [1, 5, 4, 9], [9, 1, 4, 4], [10, 8], group=9, stride=[2, 2], padding=[1, 1],
        act='silu')
    run('gaps', [1, 3, 3, 4], [4, 3, 1, 2], [8, 9], stride=[3, 3])
    run('part', [1, 4, 4, 8], [3, 5, 2, 2], [8, 8], stride=[2, 2], src_first=4, src_channels=3,
        dst_first=2, _into=9)


# ---- Volumes ----

def volume_cases():
    case = Case('conv3d_pack')
    dims = [6, 2, 2, 1, 3]
    weight = case.some('weight', dims)
    case.op('conv3d_pack_cpu', {'weight': 'weight'}, {'dst': 'dst'}, group=3)
    packed = [weight[2][index(dims, (2 * g + lane, i, d, v, u))] if lane < 2 else 0.0
              for d, g, v, u, i, lane in places((2, 3, 1, 3, 2, LANES))]
    case.expect(dst=tensor('TL_FLOAT', [len(packed)], packed))

    def run(name, src_dims, weight_dims, algorithm='direct', has_addend=False, **params):
        case = Case(f'conv3d_ndhwc_{name}')
        group, stride = params.get('group', 1), params.get('stride', [1, 1, 1])
        padding, dilation = params.get('padding', [0] * 6), params.get('dilation', [1, 1, 1])
        o_count, i_count, *size = weight_dims
        src = case.some('src', src_dims)
        weight = case.some('weight', weight_dims, is_static=True)
        bias = case.some('bias', [o_count], is_static=True)
        out = [(src_dims[1 + i] + padding[i] + padding[3 + i] - (size[i] - 1) * dilation[i] - 1)
               // stride[i] + 1 for i in range(3)]
        case.op('conv3d_pack_cpu', {'weight': 'weight'}, {'dst': 'packed'}, group=group,
                algorithm=algorithm)
        ins = {'src': 'src', 'packed': 'packed', 'bias': 'bias'}
        dst_dims = [src_dims[0], *out, o_count]
        if has_addend:
            addend = case.some('addend', dst_dims)
            ins['addend'] = 'addend'
        case.op('conv3d_ndhwc_cpu', ins, {'dst': 'dst'}, channels=o_count, size=size, algorithm=algorithm, **params)

        def at(b, *c):
            o, total = c[3], bias[2][c[3]]
            if has_addend:
                total += addend[2][index(dst_dims, (b, *c))]
            for i, *tap in places((i_count, *size)):
                at = [c[k] * stride[k] - padding[k] + tap[k] * dilation[k] for k in range(3)]
                if all(0 <= at[k] < src_dims[1 + k] for k in range(3)):
                    total += src[2][index(src_dims, (b, *at, o // (o_count // group) * i_count + i))] \
                        * weight[2][index(weight_dims, (o, i, *tap))]
            return acted(total, **params)

        case.expect(dst=made('TL_FLOAT', dst_dims, at))

    run('plain', [1, 3, 4, 5, 3], [4, 3, 2, 3, 3], padding=[1, 1, 1, 0, 1, 1], act='relu')
    run('strides', [2, 4, 5, 4, 4], [6, 2, 3, 2, 1], group=2, stride=[2, 1, 2], dilation=[1, 2, 1],
        padding=[1, 0, 0, 1, 0, 0])
    run('padded', [1, 1, 3, 3, 2], [3, 2, 1, 1, 1], padding=[2, 0, 1, 1, 0, 0])
    run('winograd', [1, 3, 7, 8, 5], [7, 5, 3, 3, 3], 'winograd4', padding=[1] * 6, act='lrelu',
        alpha=0.25)
    run('addend', [2, 3, 4, 5, 3], [4, 3, 2, 3, 2], has_addend=True, padding=[2, 0, 1, 1, 1, 0], act='relu')
    run('addend_groups', [1, 4, 5, 3, 6], [6, 2, 3, 1, 2], has_addend=True, group=3, stride=[1, 2, 1],
        dilation=[1, 1, 2], padding=[1, 0, 1, 0, 1, 0], act='clip', alpha=-0.25, beta=0.5)
    run('addend_winograd', [1, 2, 7, 8, 5], [7, 5, 2, 3, 3], 'winograd4', has_addend=True,
        padding=[1, 1, 1, 0, 1, 1], act='silu')


# ---- Channels ----

def channel_cases():
    for name, dims, groups, epsilon, params in (
            ('groups', [2, 5, 6, 12], 4, 1e-5, {}), ('one', [1, 9, 9, 7], 1, 0.125, {'act': 'relu'}),
            ('channels', [2, 13, 7, 19], 19, 1e-3, {'act': 'silu'})):
        case = Case(f'groupnorm_nhwc_{name}')
        src, scale = case.some('src', dims, low=-2, high=3), case.some('scale', [dims[3]])
        offset = case.some('offset', [dims[3]])
        case.op('groupnorm_nhwc_cpu', {'src': 'src', 'scale': 'scale', 'offset': 'offset'},
                {'dst': 'dst'}, groups=groups, epsilon=epsilon, **params)
        each, found = dims[3] // groups, {}
        for b, g in places((dims[0], groups)):
            seen = [src[2][index(dims, (b, y, x, g * each + c))]
                    for y, x, c in places((dims[1], dims[2], each))]
            mean = math.fsum(seen) / len(seen)
            found[b, g] = mean, math.fsum((x - mean)**2 for x in seen) / len(seen)

        def at(*c):
            mean, variance = found[c[0], c[3] // each]
            return acted((src[2][index(dims, c)] - mean) / math.sqrt(variance + epsilon)
                         * scale[2][c[3]] + offset[2][c[3]], **params)

        case.expect(dst=made('TL_FLOAT', dims, at))


# ---- Padding ----

PLACES = {
    'constant': lambda i, n: i if 0 <= i < n else None,
    'edge': lambda i, n: min(max(i, 0), n - 1),
    'reflect': lambda i, n: (n - 1) - abs((i % (2 * n - 2)) - (n - 1)),
    'wrap': lambda i, n: i % n,
}


def pad_cases():
    for mode, place in PLACES.items():
        case = Case(f'pad_pixels_{mode}')
        dims, pads = [2, 4, 5, 3], [1, 2, 3, 0]
        src = case.some('src', dims)
        params = {'value': 1.5} if mode == 'constant' else {'mode': mode}
        case.op('pad', {'src': 'src'}, {'dst': 'dst'}, pads=[0, *pads[:2], 0, 0, *pads[2:], 0], **params)

        def at(b, y, x, c):
            sy, sx = place(y - pads[0], dims[1]), place(x - pads[1], dims[2])
            return 1.5 if sy is None or sx is None else src[2][index(dims, (b, sy, sx, c))]

        case.expect(dst=made('TL_FLOAT', [2, 8, 7, 3], at))


def add_all():
    for add in (deconv_pack_cases, deconv_cases, volume_cases, channel_cases, pad_cases):
        add()
