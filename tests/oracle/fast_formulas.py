# SPDX-License-Identifier: Apache-2.0
"""Formulas of the operators that models are rewritten to where a processor is fastest so:
channels-last images, products with packed weights, attention, activations.

`make_formulas.py` calls add_all; see README.md.
"""

import itertools
import math
import pathlib
import re

from make_formulas import (INF, NAN, Case, index, logistic, made, places, quant_result, rounded, single, tensor)

LANES = 16  # of a packed panel


# ---- Activations ----

def softplus(x):
    return x if x > 700 else math.log1p(math.exp(x))


def exponential(x):
    return INF if x > 700 else math.exp(x)


def hard_gate(x, a, b):
    return min(max(a * x + b, 0), 1)


ACTS = {
    'none': lambda x, a, b: x,
    'relu': lambda x, a, b: 0 if 0 > x else x,
    'clip': lambda x, a, b: min(max(x, a), b),
    'lrelu': lambda x, a, b: x if x >= 0 else a * x,
    'sigmoid': lambda x, a, b: logistic(x),
    'tanh': lambda x, a, b: math.tanh(x),
    'silu': lambda x, a, b: x * logistic(x),
    'hard_sigmoid': hard_gate,
    'hard_swish': lambda x, a, b: x * hard_gate(x, a, b),
    'gelu': lambda x, a, b: x / 2 * math.erfc(-x / math.sqrt(2)),
    'gelu_tanh': lambda x, a, b: x / 2 * (1 + math.tanh(
        math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    'elu': lambda x, a, b: x if x >= 0 else a * math.expm1(x),
    'softplus': lambda x, a, b: softplus(x),
    'mish': lambda x, a, b: x * math.tanh(softplus(x)),
    'exp': lambda x, a, b: exponential(x),
    'erf': lambda x, a, b: math.erf(x),
    'sqrt': lambda x, a, b: math.sqrt(x) if x >= 0 else NAN,
    'abs': lambda x, a, b: abs(x),
    'neg': lambda x, a, b: -x,
    'affine': lambda x, a, b: a * x + b,
    'scaled_tanh': lambda x, a, b: a * math.tanh(b * x),
    'softsign': lambda x, a, b: x / (1 + abs(x)),
    'thresholded_relu': lambda x, a, b: 0 if a >= x else x,
    'swish': lambda x, a, b: x * logistic(a * x),
    'selu': lambda x, a, b: b * (x if x >= 0 else a * math.expm1(x)),
}


def acted(x, act='none', alpha=0, beta=0, **_):
    return x if x != x else ACTS[act](x, alpha, beta)


def act_cases():
    header = pathlib.Path(__file__).parents[2] / 'include/lightnet/act.h'
    listed = re.findall(r'(?m)^    X\(\w+, "(\w+)"', header.read_text())
    assert set(ACTS) == set(listed), f'ACTS and lightnet/act.h differ in {set(ACTS) ^ set(listed)}'
    for name in ACTS:
        case = Case(f'act_{name}')
        src = case.some('src', [3, 23], low=-6, high=6)
        src[2][:5] = [0.0, -0.0, NAN, 1.0, -1.0]
        case.op('act', {'src': 'src'}, {'dst': 'dst'}, act=name, alpha=0.25, beta=0.5)
        case.expect(dst=('TL_FLOAT', [3, 23], [rounded(acted(x, name, 0.25, 0.5), 'TL_FLOAT')
                                               for x in src[2]]))


def scale_shift_cases():
    for name, dims, count, first, params in (
            ('rows', [2, 3, 7], 7, 0, {}), ('part', [4, 9], 5, 3, {'act': 'relu'}),
            ('one', [6], 1, 5, {'act': 'silu'})):
        case = Case(f'scale_shift_{name}')
        src = case.some('src', dims)
        scale, offset = case.some('scale', [count]), case.some('offset', [count])
        case.op('scale_shift', {'src': 'src', 'scale': 'scale', 'offset': 'offset'}, {'dst': 'dst'},
                src_first=first, **params)
        case.expect(dst=made('TL_FLOAT', dims[:-1] + [count], lambda *c: acted(
            src[2][index(dims, (*c[:-1], c[-1] + first))] * scale[2][c[-1]] + offset[2][c[-1]],
            **params)))


# ---- Groups, slopes, pads ----

def groupnorm_cases():
    for name, dims, groups, count, epsilon in (
            ('groups', [2, 6, 3, 5], 3, 6, 1e-5), ('of_groups', [2, 4, 7], 2, 2, 0.125), ('channels', [3, 5, 2, 2, 3], 0, 5, 1e-3)):
        case = Case(f'groupnorm_{name}')
        src, scale = case.some('src', dims, low=-2, high=3), case.some('scale', [count])
        offset = case.some('offset', [count])
        case.op('groupnorm', {'src': 'src', 'scale': 'scale', 'offset': 'offset'}, {'dst': 'dst'}, groups=groups, epsilon=epsilon)
        each = dims[1] // (groups or dims[1])
        n = each * math.prod(dims[2:])

        def at(*c):
            first = index(dims, (c[0], c[1] // each * each, *[0] * (len(dims) - 2)))
            part = src[2][first:first + n]
            mean = math.fsum(part) / n
            variance = math.fsum((x - mean)**2 for x in part) / n
            i = c[1] * count // dims[1]
            return (src[2][index(dims, c)] - mean) / math.sqrt(variance + epsilon) * scale[2][i] + offset[2][i]

        case.expect(dst=made('TL_FLOAT', dims, at))


def prelu_cases():
    for name, dtype, dims, slope_dims in (('channels', 'TL_FLOAT', [2, 3, 4, 5], [3, 1, 1]), ('one', 'TL_FLOAT', [7], [1]),
                                          ('integers', 'TL_INT16', [3, 5], [5]), ('unsigned', 'TL_UINT8', [6], [1])):
        case = Case(f'prelu_{name}')
        low, high = (-4, 4) if dtype == 'TL_FLOAT' else (0, 9) if dtype == 'TL_UINT8' else (-9, 9)
        src = case.some('src', dims, dtype, low, high)
        slope = case.some('slope', slope_dims, dtype, max(low, -3), 3)
        case.op('prelu', {'src': 'src', 'slope': 'slope'}, {'dst': 'dst'})

        def at(*c):
            x = src[2][index(dims, c)]
            k = [i if n > 1 else 0 for i, n in zip(c[len(dims) - len(slope_dims):], slope_dims)]
            return x if x >= 0 else x * slope[2][index(slope_dims, k)]

        case.expect(dst=made(dtype, dims, at))


FROM = {
    'constant': lambda i, n: i if 0 <= i < n else None,
    'edge': lambda i, n: min(max(i, 0), n - 1),
    'reflect': lambda i, n: (n - 1) - abs((i % (2 * n - 2)) - (n - 1)),
    'wrap': lambda i, n: i % n,
}


def pad_cases():
    for mode, dtype in [(mode, 'TL_FLOAT') for mode in FROM] + [('constant', 'TL_INT8'), ('reflect', 'TL_INT64')]:
        case = Case(f'pad_{mode}_{dtype[3:].lower()}')
        dims, before, after = [2, 4, 5], [1, 0, 3], [0, 6, 2]
        src = case.some('src', dims, dtype, -9, 9)
        params = {'value': 3} if mode == 'constant' else {}
        case.op('pad', {'src': 'src'}, {'dst': 'dst'}, mode=mode, pads=before + after, **params)

        def at(*c):
            at = [FROM[mode](i - b, n) for i, b, n in zip(c, before, dims)]
            return 3 if None in at else src[2][index(dims, at)]

        case.expect(dst=made(dtype, [b + n + a for b, n, a in zip(before, dims, after)], at))


# ---- Rows ----

def layernorm_cases():
    for name, dims, centered, has_bias, epsilon in (
            ('plain', [3, 19], True, True, 1e-5), ('no_bias', [2, 3, 8], True, False, 0.125),
            ('uncentered', [5, 33], False, True, 1e-6), ('one', [4, 1], True, True, 0.01)):
        case = Case(f'layernorm_{name}')
        n = dims[-1]
        src, scale = case.some('src', dims, low=-2, high=3), case.some('scale', [n])
        bias = case.some('bias', [n]) if has_bias else ('TL_FLOAT', [n], [0.0] * n)
        ins = {'src': 'src', 'scale': 'scale', **({'bias': 'bias'} if has_bias else {})}
        case.op('layernorm', ins, {'dst': 'dst'}, epsilon=epsilon, centered=centered)

        def at(*c):
            first = index(dims, (*c[:-1], 0))
            row = src[2][first:first + n]
            mean = math.fsum(row) / n if centered else 0.0
            variance = math.fsum((x - mean)**2 for x in row) / n
            return (row[c[-1]] - mean) / math.sqrt(variance + epsilon) * scale[2][c[-1]] \
                + bias[2][c[-1]]

        case.expect(dst=made('TL_FLOAT', dims, at))


def attention_cases():
    def run(name, batch, s, t, heads, size, kv_heads=0, mask_dims=None, extra=0, masked=(), **params):
        case = Case(f'attention_{name}')
        shared = kv_heads or heads
        q = case.some('q', [batch, s, heads * size + extra], low=-2, high=2)
        k = case.some('k', [batch, t, shared * size + extra], low=-2, high=2)
        v = case.some('v', [batch, t, shared * size + extra], low=-2, high=2)
        ins = {'q': 'q', 'k': 'k', 'v': 'v'}
        if mask_dims:
            mask = case.some('mask', mask_dims)
            for i in masked:
                mask[2][i] = -INF
            ins['mask'] = 'mask'
        case.op('attention', ins, {'dst': 'dst'}, heads=heads, kv_heads=kv_heads, head_size=size,
                q_first=extra, k_first=extra, v_first=extra, **params)
        scale = params.get('scale', 1 / math.sqrt(size))

        def bias(b, h, i, j):
            if params.get('is_causal') and j > i:
                return -INF
            if i - j > params.get('left_window_size', s) or j - i > params.get('right_window_size', t):
                return -INF
            if not mask_dims:
                return 0.0
            place = (b, h, i, j)[4 - len(mask_dims):]
            return mask[2][index(mask_dims, [p if d > 1 else 0 for p, d in zip(place, mask_dims)])]

        def at(b, i, c):
            h = c // size
            kv = extra + h // (heads // shared) * size
            scores = [scale * math.fsum(
                q[2][index(q[1], (b, i, extra + h * size + e))] * k[2][index(k[1], (b, j, kv + e))]
                for e in range(size)) + bias(b, h, i, j) for j in range(t)]
            top = max(scores)
            shares = [math.exp(x - top) for x in scores]
            return math.fsum(w * v[2][index(v[1], (b, j, kv + c % size))]
                             for j, w in enumerate(shares)) / math.fsum(shares)

        case.expect(dst=made('TL_FLOAT', [batch, s, heads * size], at))

    run('plain', 2, 5, 7, 2, 4)
    run('one_key', 1, 3, 1, 2, 3)
    run('causal', 1, 6, 6, 1, 8, is_causal=1)
    run('mask_of_keys', 2, 3, 9, 2, 4, mask_dims=[2, 1, 1, 9], masked=(0, 8, 12))
    run('mask_of_all', 1, 4, 5, 2, 4, mask_dims=[1, 2, 4, 5], masked=(3,))
    run('shared_keys', 1, 4, 6, 4, 4, kv_heads=2, scale=0.75)
    run('parts', 1, 3, 5, 2, 4, extra=3)
    run('many_keys', 1, 2, 70, 1, 16)
    run('window', 1, 6, 7, 1, 8, left_window_size=2, right_window_size=1)


# ---- Channels-last images ----

def window(first, count, channels):
    return range(first, first + (count or channels - first))


class Writer:
    """Where some channels of an image go: the whole of `dst`, or a window of `into`."""

    def __init__(self, case, dims, params):
        self.first = params.get('dst_first', 0)
        self.count = dims[3]
        self.into = None
        self.dims = dims
        if self.first or params.get('_into'):
            self.dims = [*dims[:3], params['_into']]
            self.into = case.some('into', self.dims)

    def ins(self):
        return {'into': 'into'} if self.into else {}

    def result(self, at):
        def place(*c):
            if self.first <= c[3] < self.first + self.count:
                return at(*c[:3], c[3] - self.first)
            return self.into[2][index(self.dims, c)]
        return made('TL_FLOAT', self.dims, place)


def public(params):
    return {k: v for k, v in params.items() if not k.startswith('_')}


def conv_cases():
    def run(name, src_dims, weight_dims, algorithm, addend=None, has_bias=True, **params):
        case = Case(f'conv2d_nhwc_{name}')
        group, stride = params.get('group', 1), params.get('stride', (1, 1))
        padding, dilation = params.get('padding', (0, 0, 0, 0)), params.get('dilation', (1, 1))
        o_count, i_count, kh, kw = weight_dims
        src = case.some('src', src_dims)
        weight = case.some('weight', weight_dims, is_static=True)
        bias = case.some('bias', [o_count], is_static=True) if has_bias else None
        n, h, w, _ = src_dims
        out = [(h + padding[0] + padding[2] - (kh - 1) * dilation[0] - 1) // stride[0] + 1,
               (w + padding[1] + padding[3] - (kw - 1) * dilation[1] - 1) // stride[1] + 1]
        writer = Writer(case, [n, *out, o_count], params)
        ins = {'src': 'src', 'packed': 'packed', **({'bias': 'bias'} if bias else {})}
        if addend:
            added = case.some('addend', [n, *out, addend])
            ins['addend'] = 'addend'
        case.op('conv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'packed'}, group=group,
                algorithm=algorithm)
        case.op('conv2d_nhwc_cpu', {**ins, **writer.ins()}, {'dst': 'dst'}, channels=o_count,
                size=[kh, kw], algorithm=algorithm, **public(params))

        def at(b, y, x, o):
            first = params.get('src_first', 0) + o // (o_count // group) * i_count
            total = bias[2][o] if bias else 0.0
            for i, v, u in places((i_count, kh, kw)):
                sy = y * stride[0] - padding[0] + v * dilation[0]
                sx = x * stride[1] - padding[1] + u * dilation[1]
                if 0 <= sy < h and 0 <= sx < w:
                    total += src[2][index(src_dims, (b, sy, sx, first + i))] * \
                        weight[2][index(weight_dims, (o, i, v, u))]
            more = 0.0
            if addend:
                more = added[2][index(added[1], (b, y, x, o + params.get('addend_first', 0)))]
            if params.get('add', 'first') == 'first':
                return acted(total + more, **params)
            return acted(total, **params) + more

        case.expect(dst=writer.result(at))

    run('plain', [1, 6, 5, 3], [4, 3, 3, 3], 'direct', padding=[1, 1, 1, 1])
    run('1x1', [2, 4, 5, 7], [19, 7, 1, 1], 'direct', act='relu')
    run('strides', [1, 9, 8, 4], [6, 4, 3, 2], 'direct', stride=[2, 3], padding=[1, 0, 2, 1])
    run('dilation', [1, 9, 9, 3], [5, 3, 2, 3], 'direct', dilation=[3, 2], padding=[2, 0, 1, 3])
    run('groups', [1, 5, 6, 6], [8, 3, 3, 3], 'direct', group=2, padding=[1, 1, 1, 1])
    run('no_bias', [1, 4, 4, 5], [3, 5, 3, 3], 'direct', has_bias=False, act='clip', alpha=-0.5,
        beta=0.5)
    run('addend_first', [1, 5, 5, 4], [6, 4, 3, 3], 'direct', addend=6, act='relu')
    run('addend_last', [1, 5, 5, 4], [6, 4, 3, 3], 'direct', addend=9, addend_first=2, act='silu',
        add='last')
    run('into', [1, 5, 5, 8], [6, 3, 3, 3], 'direct', src_first=4, src_channels=3, dst_first=5,
        _into=17, act='hard_swish', alpha=1 / 6, beta=0.5)
    run('depthwise', [1, 7, 6, 21], [21, 1, 3, 3], 'depthwise', group=21, padding=[1, 1, 1, 1])
    run('depthwise_5x5_stride', [1, 9, 10, 5], [5, 1, 5, 5], 'depthwise', group=5, stride=[2, 2],
        padding=[2, 2, 2, 2], act='clip', beta=6)
    run('depthwise_part', [1, 6, 6, 9], [4, 1, 3, 3], 'depthwise', group=4, src_first=3,
        src_channels=4, dst_first=2, _into=7, padding=[1, 1, 1, 1])
    run('narrow', [1, 7, 9, 32], [3, 32, 3, 3], 'narrow', addend=3, padding=[1, 1, 1, 1], act='tanh')
    for tile in (2, 4, 6):
        algorithm = f'winograd{tile}'
        run(algorithm, [1, 8, 9, 5], [7, 5, 3, 3], algorithm, padding=[1, 1, 1, 1])
        run(f'{algorithm}_relu_addend', [2, 7, 7, 17], [18, 17, 3, 3], algorithm, addend=18,
            padding=[1, 1, 1, 1], act='relu')
        run(f'{algorithm}_one_pixel', [1, 3, 3, 4], [3, 4, 3, 3], algorithm, act='lrelu', alpha=0.25)


def convolve(src_dims, src, weight_dims, weight, bias, stride, padding, dilation, group, act):
    """In doubles: dimensions and elements of the result."""
    n, h, w, _ = src_dims
    o_count, i_count, kh, kw = weight_dims
    dims = [n, (h + padding[0] + padding[2] - (kh - 1) * dilation[0] - 1) // stride[0] + 1,
            (w + padding[1] + padding[3] - (kw - 1) * dilation[1] - 1) // stride[1] + 1, o_count]
    result = []
    for b, y, x, o in places(dims):
        total = bias[o] if bias else 0.0
        for i, v, u in places((i_count, kh, kw)):
            sy = y * stride[0] - padding[0] + v * dilation[0]
            sx = x * stride[1] - padding[1] + u * dilation[1]
            if 0 <= sy < h and 0 <= sx < w:
                first = o // (o_count // group) * i_count
                total += src[index(src_dims, (b, sy, sx, first + i))] * \
                    weight[index(weight_dims, (o, i, v, u))]
        result.append(acted(total, **act))
    return dims, result


def separable_cases():
    """Convolutions after each other, in doubles: what conv2d_nhwc would round between them is lost
    in the tolerance."""

    def run(name, src_dims, channels, size, expand=None, project=None, project_channels=0,
            addend=None, has_bias=True, stride=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1),
            **params):
        case = Case(f'separable_nhwc_{name}')
        x = case.some('src', src_dims)
        ins, stages = {'src': 'src'}, []
        for stage, dims, algorithm in (
                ('depthwise', [channels, 1, *size], 'depthwise'),
                ('expand', [channels, src_dims[3], 1, 1] if expand else None, 'direct'),
                ('project', [project_channels, channels, 1, 1] if project else None, 'direct')):
            if not dims:
                continue
            weight = case.some(f'{stage}_weight', dims, is_static=True)
            bias = case.some(f'{stage}_bias', dims[:1], is_static=True) if has_bias else None
            case.op('conv2d_pack_cpu', {'weight': f'{stage}_weight'}, {'dst': stage},
                    group=channels if algorithm == 'depthwise' else 1, algorithm=algorithm)
            ins.update({stage: stage, **({f'{stage}_bias': f'{stage}_bias'} if bias else {})})
            stages.append((stage, dims, weight[2], bias[2] if bias else None))
        order = {'expand': 0, 'depthwise': 1, 'project': 2}
        dims, values = src_dims, x[2]
        for stage, weight_dims, weight, bias in sorted(stages, key=lambda s: order[s[0]]):
            own = stage == 'depthwise'
            prefix = '' if own else f'{stage}_'
            act = {key: params[prefix + key] for key in ('act', 'alpha', 'beta')
                   if prefix + key in params}
            late = act if stage == 'project' and addend else {}
            dims, values = convolve(
                dims, values, weight_dims, weight, bias, stride if own else (1, 1),
                padding if own else (0, 0, 0, 0), dilation if own else (1, 1),
                channels if own else 1, {} if late else act)
        if addend:
            added = case.some('addend', [*dims[:3], addend])
            ins['addend'] = 'addend'
            first, is_last = params.get('addend_first', 0), params.get('add') == 'last'
            for at, c in enumerate(places(dims)):
                more = added[2][index(added[1], (*c[:3], c[3] + first))]
                v = values[at]
                values[at] = acted(v, **late) + more if is_last else acted(v + more, **late)
        case.op('separable_nhwc_cpu', ins, {'dst': 'dst', 'workspace': 'workspace'},
                channels=channels, size=list(size), stride=list(stride), padding=list(padding),
                dilation=list(dilation),
                **({'project_channels': project_channels} if project else {}), **params)
        case.expect(dst=made('TL_FLOAT', dims, lambda *c: values[index(dims, c)]))

    run('expand', [2, 7, 6, 5], 18, (3, 3), expand=True, padding=(1, 1, 1, 1), act='clip', beta=6,
        expand_act='relu')
    run('project', [1, 6, 7, 9], 9, (3, 3), project=True, project_channels=20, stride=(2, 2),
        padding=(1, 1, 1, 1), act='silu')
    run('both', [1, 9, 8, 4], 17, (5, 5), expand=True, project=True, project_channels=6,
        stride=(2, 1), padding=(2, 2, 2, 2), act='hard_swish', alpha=1 / 6, beta=0.5,
        expand_act='lrelu', expand_alpha=0.25, project_act='clip', project_alpha=-0.5,
        project_beta=0.5)
    run('addend_first', [1, 5, 5, 6], 10, (3, 3), expand=True, project=True, project_channels=6,
        addend=6, padding=(1, 1, 1, 1), has_bias=False, act='relu', project_act='relu')
    run('addend_last', [1, 5, 6, 8], 8, (3, 2), project=True, project_channels=4, addend=9,
        addend_first=2, add='last', padding=(2, 0, 1, 3), dilation=(2, 3), project_act='tanh')


def pooled_cases():
    """A convolution and a pooling behind it, in doubles between the two."""

    def run(name, src_dims, weight_dims, algorithm, pool_size, has_bias=True,
            stride=(1, 1), padding=(0, 0, 0, 0), pool_stride=(1, 1), pool_padding=(0, 0, 0, 0),
            **params):
        case = Case(f'conv2d_maxpool_nhwc_{name}')
        src = case.some('src', src_dims)
        weight = case.some('weight', weight_dims, is_static=True)
        bias = case.some('bias', weight_dims[:1], is_static=True) if has_bias else None
        case.op('conv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'packed'}, algorithm=algorithm)
        (n, h, w, channels), values = convolve(
            src_dims, src[2], weight_dims, weight[2], bias[2] if bias else None, stride, padding,
            (1, 1), 1, params)
        case.op('conv2d_maxpool_nhwc_cpu',
                {'src': 'src', 'packed': 'packed', **({'bias': 'bias'} if bias else {})},
                {'dst': 'dst', 'workspace': 'workspace'}, channels=channels, size=weight_dims[2:], stride=list(stride),
                padding=list(padding), algorithm=algorithm, pool_size=list(pool_size),
                pool_stride=list(pool_stride), pool_padding=list(pool_padding), **params)
        out = [(size + pool_padding[i] + pool_padding[2 + i] - pool_size[i]) // pool_stride[i] + 1
               for i, size in enumerate((h, w))]

        def at(b, y, x, c):
            seen = []
            for v, u in places(pool_size):
                sy = y * pool_stride[0] - pool_padding[0] + v
                sx = x * pool_stride[1] - pool_padding[1] + u
                if 0 <= sy < h and 0 <= sx < w:
                    seen.append(values[index((n, h, w, channels), (b, sy, sx, c))])
            return max(seen, default=-INF)

        case.expect(dst=made('TL_FLOAT', [n, *out, channels], at))

    run('plain', [1, 8, 9, 3], [5, 3, 3, 3], 'direct', (2, 2), padding=(1, 1, 1, 1),
        pool_stride=(2, 2), act='relu')
    run('padding', [2, 9, 8, 4], [18, 4, 3, 2], 'direct', (3, 3), stride=(2, 1),
        padding=(1, 0, 2, 1), pool_stride=(2, 2), pool_padding=(1, 1, 1, 1), has_bias=False,
        act='clip', alpha=-0.5, beta=0.5)
    run('far_padding', [1, 6, 7, 6], [8, 6, 1, 1], 'direct', (3, 2), pool_padding=(4, 3, 4, 3),
        act='silu')
    for tile in (2, 4, 6):
        run(f'winograd{tile}', [1, 8, 9, 5], [7, 5, 3, 3], f'winograd{tile}', (3, 3),
            padding=(1, 1, 1, 1), pool_stride=(2, 2), act='lrelu', alpha=0.25)


def pack_cases():
    """Panels of LANES output channels: for each tap and input channel, those channels."""
    for name, dims, group in (('plain', [19, 3, 3, 2], 1), ('groups', [6, 2, 1, 3], 3)):
        case = Case(f'conv2d_pack_{name}')
        weight = case.some('weight', dims)
        case.op('conv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'dst'}, group=group,
                algorithm='direct')
        o_count, i_count, kh, kw = dims
        each, packed = o_count // group, []
        for g in range(group):
            for first in range(0, each, LANES):
                for v, u, i, lane in places((kh, kw, i_count, LANES)):
                    o = first + lane
                    packed.append(weight[2][index(dims, (g * each + o, i, v, u))] if o < each
                                  else 0.0)
        case.expect(dst=tensor('TL_FLOAT', [len(packed)], packed))
    case = Case('conv2d_pack_depthwise')
    weight = case.some('weight', [5, 1, 3, 2])
    case.op('conv2d_pack_cpu', {'weight': 'weight'}, {'dst': 'dst'}, group=5, algorithm='depthwise')
    case.expect(dst=tensor('TL_FLOAT', [30], [weight[2][index([5, 1, 3, 2], (o, 0, v, u))]
                                              for v, u, o in places((3, 2, 5))]))


def moving_cases():
    for name, channels, into, params in (
            ('all', 3, 8, {'dst_first': 4}), ('part', 9, 5, {'src_first': 2, 'src_channels': 4,
                                                              'dst_first': 1}),
            ('whole', 5, 5, {})):
        case = Case(f'put_channels_{name}')
        src = case.some('src', [2, 3, 2, channels])
        first = params.get('src_first', 0)
        count = params.get('src_channels') or channels - first
        writer = Writer(case, [2, 3, 2, count], {**params, '_into': into})
        case.op('put_channels', {'src': 'src', **writer.ins()}, {'dst': 'dst'}, **params)
        case.expect(dst=writer.result(
            lambda *c: src[2][index(src[1], (*c[:3], c[3] + first))]))
    for name, first, second in (('plain', 0, 0), ('parts', 2, 3)):
        case = Case(f'interleave_{name}')
        a, b = case.some('a', [2, 3, 2, 4 + first]), case.some('b', [2, 3, 2, 4 + second])
        case.op('interleave', {'src1': 'a', 'src2': 'b'}, {'dst': 'dst'}, channels=4,
                src1_first=first, src2_first=second)
        case.expect(dst=made('TL_FLOAT', [2, 3, 2, 8], lambda *c: (
            b[2][index(b[1], (*c[:3], c[3] // 2 + second))] if c[3] % 2
            else a[2][index(a[1], (*c[:3], c[3] // 2 + first))])))


def pool_cases():
    def run(kind, name, src_dims, size, **params):
        case = Case(f'{kind}pool2d_nhwc_{name}')
        src = case.some('src', src_dims, low=-3, high=3)
        stride, padding = params.get('stride', (1, 1)), params.get('padding', (0, 0, 0, 0))
        dilation, first = params.get('dilation', (1, 1)), params.get('src_first', 0)
        n, h, w, channels = src_dims
        count = params.get('src_channels') or channels - first
        fit = [(h + padding[0] + padding[2] - (size[0] - 1) * dilation[0] - 1) // stride[0] + 1,
               (w + padding[1] + padding[3] - (size[1] - 1) * dilation[1] - 1) // stride[1] + 1]
        out = [o or f for o, f in zip(params.get('out', (0, 0)), fit)]
        writer = Writer(case, [n, *out, count], params)
        case.op(f'{kind}pool2d_nhwc_cpu', {'src': 'src', **writer.ins()}, {'dst': 'dst'}, size=size,
                **public(params))

        def at(b, y, x, c):
            seen, counted = [], 0
            for v, u in places(size):
                sy = y * stride[0] - padding[0] + v * dilation[0]
                sx = x * stride[1] - padding[1] + u * dilation[1]
                counted += -padding[0] <= sy < h + padding[2] and -padding[1] <= sx < w + padding[3]
                if 0 <= sy < h and 0 <= sx < w:
                    seen.append(src[2][index(src_dims, (b, sy, sx, c + first))])
            if kind == 'max':
                return max(seen, default=-INF)
            return math.fsum(seen) / (counted if params.get('count_padding') else len(seen))

        case.expect(dst=writer.result(at))

    for kind in ('max', 'avg'):
        run(kind, 'plain', [1, 6, 7, 5], [2, 2], stride=[2, 2])
        run(kind, 'padding', [2, 5, 5, 18], [3, 3], stride=[2, 2], padding=[1, 1, 1, 1])
        run(kind, 'dilation', [1, 8, 9, 3], [3, 2], dilation=[2, 3])
        run(kind, 'part', [1, 4, 4, 7], [3, 3], padding=[1, 1, 1, 1], src_first=2, src_channels=4,
            dst_first=3, _into=9)
        run(kind, 'ceiling', [1, 6, 6, 2], [3, 3], stride=[2, 2], out=[3, 3])
        run(kind, 'whole_image', [2, 7, 6, 20], [7, 6])
    run('avg', 'count_padding', [1, 4, 5, 3], [3, 3], padding=[1, 1, 1, 1], count_padding=True)


def source_place(i, size, new, scale, coordinates):
    scale = scale or new / size
    if coordinates == 'align_corners':
        return i * (size - 1) / (new - 1) if new > 1 else 0.0
    if coordinates == 'asymmetric':
        return i / scale
    if coordinates == 'pytorch_half_pixel' and new == 1:
        return 0.0
    return (i + 0.5) / scale - 0.5


ROUNDINGS = {
    'round_prefer_floor': lambda x: math.ceil(x - 0.5),
    'round_prefer_ceil': lambda x: math.floor(x + 0.5),
    'floor': math.floor, 'ceil': math.ceil,
}


def resize_cases():
    def run(name, src_dims, out, **params):
        case = Case(f'resize_nhwc_{name}')
        src = case.some('src', src_dims)
        first = params.get('src_first', 0)
        count = params.get('src_channels') or src_dims[3] - first
        coordinates = params.get('coordinates', 'half_pixel')
        scale = params.get('scale', (0, 0))
        rounding = ROUNDINGS[params.get('rounding', 'round_prefer_floor')]
        writer = Writer(case, [src_dims[0], *out, count], params)
        case.op('resize_nhwc_cpu', {'src': 'src', **writer.ins()}, {'dst': 'dst'}, out=out,
                **public(params))

        def at(b, y, x, c):
            ends = []
            for axis, i in ((0, y), (1, x)):
                size = src_dims[1 + axis]
                place = source_place(i, size, out[axis], scale[axis], coordinates)
                if params.get('mode', 'nearest') == 'nearest':
                    ends.append([(min(max(rounding(place), 0), size - 1), 1.0)])
                    continue
                place = min(max(place, 0.0), size - 1.0)
                low = math.floor(place)
                ends.append([(low, 1 - (place - low)), (min(low + 1, size - 1), place - low)])
            return math.fsum(wy * wx * src[2][index(src_dims, (b, sy, sx, c + first))]
                             for (sy, wy), (sx, wx) in itertools.product(*ends))

        case.expect(dst=writer.result(at))

    for mode in ('nearest', 'linear'):
        for coordinates in ('half_pixel', 'pytorch_half_pixel', 'asymmetric', 'align_corners'):
            run(f'{mode}_{coordinates}', [1, 3, 4, 3], [6, 5], mode=mode, coordinates=coordinates)
        run(f'{mode}_down', [2, 7, 5, 2], [3, 1], mode=mode, coordinates='pytorch_half_pixel')
        run(f'{mode}_twice', [1, 3, 2, 17], [6, 4], mode=mode, coordinates='asymmetric')
        run(f'{mode}_part', [1, 3, 3, 7], [4, 5], mode=mode, src_first=1, src_channels=3,
            dst_first=2, _into=6)
        run(f'{mode}_scale', [1, 5, 5, 2], [7, 6], mode=mode, scale=[1.5, 1.25])
    for rounding in ROUNDINGS:
        run(f'nearest_{rounding}', [1, 5, 4, 2], [8, 7], rounding=rounding, coordinates='asymmetric')


# ---- Products with weights ----

def linear_cases():
    def run(name, src_dims, outputs, transposed=False, has_bias=True, has_addend=False, **params):
        case = Case(f'linear_{name}')
        depth = src_dims[-1]
        src = case.some('src', src_dims)
        dims = [outputs, depth] if transposed else [depth, outputs]
        weight = case.some('weight', dims, is_static=True)
        ins = {'src': 'src', 'weight': 'weight'}
        bias = case.some('bias', [outputs], is_static=True) if has_bias else None
        if bias:
            ins['bias'] = 'bias'
        out_dims = src_dims[:-1] + [outputs]
        added = case.some('addend', out_dims) if has_addend else None
        if added:
            ins['addend'] = 'addend'
        if transposed:
            params['transB'] = 1
        case.op('linear', ins, {'dst': 'dst'}, **params)

        def at(*c):
            total = math.fsum(
                src[2][index(src_dims, (*c[:-1], k))] *
                weight[2][index(dims, (c[-1], k) if transposed else (k, c[-1]))]
                for k in range(depth)) + (bias[2][c[-1]] if bias else 0.0)
            more = added[2][index(out_dims, c)] if added else 0.0
            if params.get('add', 'first') == 'first':
                return acted(total + more, **params)
            return acted(total, **params) + more

        case.expect(dst=made('TL_FLOAT', out_dims, at))

    run('plain', [5, 12], 21)
    run('one_row', [1, 40], 10, transposed=True, act='relu')
    run('batches', [2, 3, 9], 16, has_bias=False, act='gelu')
    run('addend_first', [4, 8], 6, has_addend=True, act='tanh')
    run('addend_last', [4, 8], 33, has_addend=True, act='silu', add='last')


def quant_band_cases():
    """A convolution of bytes, and a depthwise one or a pooling behind it, in integers."""

    def quantized(case, prefix, dtype, scale, zero, act, is_static, totals):
        """Sums and factors as bytes; the least one is that of a rectifier, if there is one."""
        case.give(f'{prefix}_scale', tensor('TL_FLOAT', [], [scale]), is_static)
        case.give(f'{prefix}_zero', tensor(dtype, [], [zero]), True)
        return [quant_result(total, factor, dtype, zero, 0 if act == 'relu' else None) for total, factor in totals]

    def convolution(case, prefix, src_dims, src, src_scale, weight_dims, dtype, scale, zero, weight_type, act, is_static,
                    group=1, **window):
        """Gives weights and what is of channels; dimensions and bytes of the result."""
        count, weight_zero = weight_dims[0], 130 if weight_type == 'TL_UINT8' else 0
        limits = (0, 255) if weight_type == 'TL_UINT8' else (-128, 127)
        _, _, weight = case.some(f'{prefix}_weight', weight_dims, weight_type, *limits, is_static=True)
        _, _, bias = case.some(f'{prefix}_bias', [count], 'TL_INT32', -5000, 5000, is_static=True)
        scales = [single(0.0002 * (i % 7 + 1)) for i in range(count)]
        case.give(f'{prefix}_scales', tensor('TL_FLOAT', [count], scales), True)
        case.give(f'{prefix}_zeros', tensor(weight_type, [], [weight_zero]), True)
        case.op('quant_conv_pack_cpu', {'weight': f'{prefix}_weight'},
                {'dst': f'{prefix}_packed', 'workspace': f'{prefix}_pack'}, group=group)
        dims, sums = convolve(src_dims, src, weight_dims, [w - weight_zero for w in weight], bias, window['stride'],
                              window['padding'], window.get('dilation', (1, 1)), group, {})
        factors = [single(single(src_scale * s) / scale) for s in scales]
        return dims, quantized(case, prefix, dtype, scale, zero, act, is_static,
                               [(int(v), factors[i % count]) for i, v in enumerate(sums)])

    def pooled(dims, values, least, size, stride, padding):
        """The greatest of each window: dimensions and elements."""
        out = [dims[0], *((dims[1 + i] + padding[i] + padding[2 + i] - size[i]) // stride[i] + 1 for i in range(2)), dims[3]]

        def greatest(b, y, x, c):
            seen = []
            for v, u in places(size):
                sy, sx = y * stride[0] - padding[0] + v, x * stride[1] - padding[1] + u
                if 0 <= sy < dims[1] and 0 <= sx < dims[2]:
                    seen.append(values[index(dims, (b, sy, sx, c))])
            return max(seen, default=least)

        return out, greatest

    def run(name, src_dims, types, channels, size, next_size, weight_types=('TL_INT8', 'TL_INT8'), is_pooled=False,
            acts=('none', 'none'), stride=(1, 1), padding=(0, 0, 0, 0), next_stride=(1, 1), next_padding=(0, 0, 0, 0),
            dilation=(1, 1)):
        kind = 'maxpool' if is_pooled else 'depthwise'
        case = Case(f'quant_conv_{kind}_{name}')
        zeros = [7 if t == 'TL_INT8' else 120 for t in types]
        src_scale, scales = single(0.02), [single(0.04), single(0.05)]
        _, _, src = case.some('src', src_dims, types[0], *((0, 255) if types[0] == 'TL_UINT8' else (-128, 127)))
        case.give('src_scale', tensor('TL_FLOAT', [], [src_scale]), name != 'given')
        case.give('src_zero', tensor(types[0], [], [zeros[0]]), True)
        dims, between = convolution(case, 'first', src_dims, [v - zeros[0] for v in src], src_scale,
                                    [channels, src_dims[3], *size], types[1], scales[0], zeros[1], weight_types[0],
                                    acts[0], name != 'given', stride=stride, padding=padding)
        ins = {'src': 'src', 'packed': 'first_packed', 'src_scale': 'src_scale', 'src_zero': 'src_zero',
               'weight_scale': 'first_scales', 'weight_zero': 'first_zeros', 'bias': 'first_bias'}
        params = {'channels': channels, 'size': list(size), 'stride': list(stride), 'padding': list(padding),
                  'act': acts[0]}
        if weight_types[0] == 'TL_UINT8':
            params['unsigned_weights'] = True
        if is_pooled:
            ins.update(dst_scale='first_scale', dst_zero='first_zero')
            params.update(pool_size=list(next_size), pool_stride=list(next_stride), pool_padding=list(next_padding))
            least = -128 if types[1] == 'TL_INT8' else 0
            result = made(types[1], *pooled(dims, between, least, next_size, next_stride, next_padding))
        else:
            last, values = convolution(case, 'taps', dims, [v - zeros[1] for v in between], scales[0],
                                       [channels, 1, *next_size], types[2], scales[1], zeros[2], weight_types[1],
                                       acts[1], name != 'given', group=channels, stride=next_stride, padding=next_padding,
                                       dilation=dilation)
            ins.update(between_scale='first_scale', between_zero='first_zero', taps='taps_packed',
                       taps_src_scale='first_scale', taps_src_zero='first_zero', taps_scale='taps_scales',
                       taps_zero='taps_zeros', taps_bias='taps_bias', dst_scale='taps_scale', dst_zero='taps_zero')
            params.update(taps_size=list(next_size), taps_stride=list(next_stride), taps_padding=list(next_padding),
                          taps_dilation=list(dilation), taps_act=acts[1])
            if weight_types[1] == 'TL_UINT8':
                params['unsigned_taps'] = True
            result = tensor(types[2], last, values)
        case.op(f'quant_conv_{kind}_nhwc_cpu', ins, {'dst': 'dst', 'workspace': 'workspace'}, **params)
        case.expect(dst=result)

    u8, s8 = 'TL_UINT8', 'TL_INT8'
    run('expand', [2, 9, 6, 5], (u8, u8, u8), 18, (1, 1), (3, 3), acts=('relu', 'none'), next_padding=(1, 1, 1, 1))
    run('types', [1, 9, 8, 3], (s8, u8, s8), 9, (3, 3), (5, 2), weight_types=(u8, s8), acts=('none', 'relu'),
        stride=(2, 1), padding=(1, 1, 0, 1), next_stride=(1, 2), next_padding=(4, 0, 4, 1), dilation=(2, 1))
    run('zeros', [1, 8, 7, 4], (u8, s8, u8), 20, (2, 3), (3, 3), weight_types=(s8, u8), stride=(2, 2),
        padding=(0, 2, 1, 0), next_stride=(2, 2), next_padding=(1, 1, 1, 1))
    run('given', [1, 7, 6, 5], (u8, u8, s8), 24, (1, 1), (3, 3), acts=('relu', 'none'), next_padding=(1, 1, 1, 1))
    run('first', [1, 15, 14, 3], (u8, u8), 24, (3, 3), (3, 3), is_pooled=True, acts=('relu',), stride=(2, 2),
        padding=(1, 1, 1, 1), next_stride=(2, 2), next_padding=(1, 1, 1, 1))
    run('signed', [2, 6, 7, 6], (u8, s8), 10, (1, 1), (2, 3), weight_types=(u8, s8), is_pooled=True,
        next_stride=(1, 2), next_padding=(1, 0, 1, 2))
    run('far_padding', [1, 4, 5, 8], (s8, s8), 7, (2, 2), (2, 2), is_pooled=True, next_stride=(2, 1),
        next_padding=(4, 3, 4, 3))


def quant_mean_cases():
    """Means of what bytes are, in doubles."""

    def run(name, dims, dtype, zero=None):
        case = Case(f'quant_mean_nhwc_{name}')
        scale = single(0.037)
        _, _, src = case.some('src', dims, dtype, *((0, 255) if dtype == 'TL_UINT8' else (-128, 127)))
        case.give('scale', tensor('TL_FLOAT', [], [scale]), True)
        ins = {'src': 'src', 'scale': 'scale'}
        if zero is not None:
            case.give('zero', tensor(dtype, [1], [zero]), True)
            ins['zero'] = 'zero'
        case.op('quant_mean_nhwc_cpu', ins, {'dst': 'dst', 'workspace': 'workspace'})
        pixels = dims[1] * dims[2]
        case.expect(dst=made('TL_FLOAT', [dims[0], 1, 1, dims[3]], lambda b, y, x, c: scale * (
            sum(src[index(dims, (b, *at, c))] for at in places(dims[1:3])) - pixels * (zero or 0)) / pixels))

    run('plain', [1, 5, 6, 70], 'TL_UINT8')
    run('zero', [2, 3, 4, 129], 'TL_UINT8', 130)
    run('signed', [3, 1, 7, 5], 'TL_INT8', -11)


def add_all():
    for add in (act_cases, scale_shift_cases, layernorm_cases, groupnorm_cases, prelu_cases, pad_cases, attention_cases, conv_cases,
                separable_cases, pooled_cases, pack_cases, moving_cases, pool_cases, resize_cases,
                linear_cases, quant_band_cases, quant_mean_cases):
        add()
