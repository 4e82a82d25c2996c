# SPDX-License-Identifier: Apache-2.0
"""Formulas of what is more than a line: recurrent networks, attention, quantized tensors, images of another size."""
import functools
import itertools
import math

import numpy as np

from cases import FLOATS, INTEGERS, NARROW, rounded
from formulas import F, conv, numbers, sigmoid, single, softplus, whole

# ---- Recurrent ----

# name: (which numbers it has, what they are where nothing says it, the function)
GATE = {
    "Sigmoid": ("", (), lambda a, b: sigmoid), "Tanh": ("", (), lambda a, b: np.tanh), "Relu": ("", (), lambda a, b: lambda x: np.maximum(x, 0)),
    "Softsign": ("", (), lambda a, b: lambda x: x / (1 + np.abs(x))), "Softplus": ("", (), lambda a, b: softplus),
    "Affine": ("ab", (1, 0), lambda a, b: lambda x: a * x + b), "ScaledTanh": ("ab", (1, 1), lambda a, b: lambda x: a * np.tanh(b * x)),
    "LeakyRelu": ("a", (single(0.01),), lambda a, b: lambda x: np.where(x < 0, a * x, x)),
    "ThresholdedRelu": ("a", (1,), lambda a, b: lambda x: np.where(x > a, x, 0)),
    "HardSigmoid": ("ab", (single(0.2), 0.5), lambda a, b: lambda x: np.clip(a * x + b, 0, 1)),
    "Elu": ("a", (1,), lambda a, b: lambda x: np.where(x < 0, a * np.expm1(x), x)),
}


def gates_of(activations, alphas, betas, count):
    """`count` functions of each direction; alphas and betas are for those that have one, in their order."""
    alphas, betas = list(alphas or []), list(betas or [])
    found = []
    for name in activations:
        has, usual, make = GATE[name]
        a = alphas.pop(0) if "a" in has and alphas else usual[0] if "a" in has else None
        b = betas.pop(0) if "b" in has and betas else usual[1] if "b" in has else None
        found.append(make(a, b))
    return [found[i:i + count] for i in range(0, len(found), count)]


def step(kind, x, h, c, w, r, b, p, f, o, hidden):
    """One step of one direction: (h, c)."""
    wb, rb = b[:b.size // 2], b[b.size // 2:]
    clip = (lambda v: np.clip(v, -o["clip"], o["clip"])) if o.get("clip") else (lambda v: v)
    part = lambda m, i: m[i * hidden:(i + 1) * hidden]
    if kind == "RNN":
        return f[0](clip(x @ w.T + h @ r.T + wb + rb)), c
    if kind == "GRU":
        z = f[0](clip(x @ part(w, 0).T + h @ part(r, 0).T + part(wb, 0) + part(rb, 0)))
        reset = f[0](clip(x @ part(w, 1).T + h @ part(r, 1).T + part(wb, 1) + part(rb, 1)))
        if o.get("linear_before_reset"):
            new = reset * (h @ part(r, 2).T + part(rb, 2)) + x @ part(w, 2).T + part(wb, 2)
        else:
            new = (reset * h) @ part(r, 2).T + part(rb, 2) + x @ part(w, 2).T + part(wb, 2)
        return (1 - z) * f[1](clip(new)) + z * h, c
    pi, po, pf = (part(p, i) for i in range(3))
    gate = lambda i: x @ part(w, i).T + h @ part(r, i).T + part(wb, i) + part(rb, i)
    i = f[0](clip(gate(0) + pi * c))
    forget = 1 - i if o.get("input_forget") else f[0](clip(gate(2) + pf * c))
    c = forget * c + i * f[1](clip(gate(3)))
    return f[0](clip(gate(1) + po * c)) * f[2](c), c


COUNTS = {"RNN": (1, ["Tanh"]), "GRU": (3, ["Sigmoid", "Tanh"]), "LSTM": (4, ["Sigmoid", "Tanh", "Tanh"])}


def recurrent(kind, x, w, r, b, lens, h0, c0, p, o):
    hidden = r.shape[2]
    if o.get("layout"):
        x, h0, c0 = x.swapaxes(0, 1), None if h0 is None else h0.swapaxes(0, 1), None if c0 is None else c0.swapaxes(0, 1)
    steps, batch, _ = x.shape
    directions = w.shape[0]
    gates, usual = COUNTS[kind]
    functions = gates_of(o.get("activations") or usual * directions, o.get("activation_alpha"), o.get("activation_beta"), len(usual))
    y = np.zeros((steps, directions, batch, hidden))
    last_h, last_c = np.zeros((directions, batch, hidden)), np.zeros((directions, batch, hidden))
    for d, n in itertools.product(range(directions), range(batch)):
        backwards = o.get("direction") == "reverse" or d == 1
        length = steps if lens is None else lens[n]
        h = np.zeros(hidden) if h0 is None else h0[d, n]
        c = np.zeros(hidden) if c0 is None else c0[d, n]
        bias = np.zeros(2 * gates * hidden) if b is None else b[d]
        peep = np.zeros(3 * hidden) if p is None else p[d]
        for t in reversed(range(length)) if backwards else range(length):
            h, c = step(kind, x[t, n], h, c, w[d], r[d], bias, peep, functions[d], o, hidden)
            y[t, d, n] = h
        last_h[d, n], last_c[d, n] = h, c
    if o.get("layout"):
        y, last_h, last_c = y.transpose(2, 0, 1, 3), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1)
    return (y, last_h, last_c) if kind == "LSTM" else (y, last_h)


# Several operators, each of which rounds to the type; what a softmax makes of that is not more than its step.
OF_SEVERAL = {"TL_FLOAT16": (2**-8, 2**-8), "TL_BFLOAT16": (2**-5, 2**-5)}


def activations_of(count):
    """Each function for all gates, with numbers of its own and with the usual ones."""
    for name, (has, _, _) in GATE.items():
        yield {"activations": [name] * count}, name.lower()
        if has:
            yield {"activations": [name] * count, "activation_alpha": [0.75 - 0.25 * i for i in range(count)],
                   **({"activation_beta": [0.5 - 0.125 * i for i in range(count)]} if "b" in has else {})}, name.lower() + "_of_numbers"


def recurrent_networks(cases):
    steps, batch, inputs, hidden = 3, 2, 4, 3
    for kind, (gates, usual) in COUNTS.items():
        own = {"RNN": [{}], "GRU": [{"linear_before_reset": 1}], "LSTM": [{"input_forget": 1}]}[kind]
        two = {"activations": {"RNN": ["LeakyRelu", "Affine"], "GRU": ["HardSigmoid", "Affine", "Sigmoid", "Elu"],
                               "LSTM": ["HardSigmoid", "Affine", "Elu", "Sigmoid", "Tanh", "Relu"]}[kind], "direction": "bidirectional",
               "activation_alpha": {"RNN": [0.25, 0.5], "GRU": [0.25, 0.5, 0.75], "LSTM": [0.25, 0.5, 0.75]}[kind],
               "activation_beta": {"RNN": [0.125], "GRU": [0.5, 0.125], "LSTM": [0.5, 0.125]}[kind]}
        for o, why in [({}, ""), ({"direction": "reverse"}, "reverse"), ({"direction": "bidirectional"}, "both"), ({"clip": 0.5}, "clip"),
                       ({"layout": 1}, "layout"), (two, "activations"), ({"output_sequence": 1, "since": 1}, "output_sequence"),
                       *[(one, "own") for one in own if one], *activations_of(len(usual))]:
            directions = 2 if o.get("direction") == "bidirectional" else 1
            shape_h = (batch, directions, hidden) if o.get("layout") else (directions, batch, hidden)
            x = numbers(*((batch, steps, inputs) if o.get("layout") else (steps, batch, inputs)))
            parts = [numbers(directions, gates * hidden, inputs, low=-1, high=1), numbers(directions, gates * hidden, hidden, low=-1, high=1)]
            full = [numbers(directions, 2 * gates * hidden, low=-1, high=1), None, numbers(*shape_h, low=-1, high=1)]
            if kind == "LSTM":
                full += [numbers(*shape_h, low=-1, high=1), numbers(directions, 3 * hidden, low=-1, high=1)]
            params = {"hidden_size": hidden, **o}
            for dtype in ("TL_FLOAT", "TL_DOUBLE", "TL_FLOAT16", "TL_BFLOAT16"):
                add_recurrent(cases, kind, dtype, [x, *parts], full, np.array([3, 2]), params, why)
                if dtype == "TL_FLOAT":
                    add_recurrent(cases, kind, dtype, [x, *parts], [], None, params, why + "_alone")


def add_recurrent(cases, kind, dtype, first, rest, lens, params, why):
    values = [None if one is None else rounded(dtype, one) for one in [*first, *rest]]
    given = [None if one is None else (dtype, one) for one in values]
    if lens is not None:
        given[4] = ("TL_INT32", lens)
    x, w, r, b, _, h0, c0, p = values + [None] * (8 - len(values))
    outputs = recurrent(kind, x, w, r, b, lens, h0, c0, p, params)
    cases.add(kind, given, [(dtype, one) for one in outputs], params, why, tolerance=OF_SEVERAL)


# ---- Attention ----

def softmax(s):
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    return np.where(total == 0, 0, e / np.where(total == 0, 1, total))


def heads_of(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def attend(q, k, v, added=None, scale=None, softcap=0, hidden=None):
    """[batch, heads, tokens, size] each; (y, scores, with softcap, with mask, probabilities)."""
    k, v = (np.repeat(one, q.shape[1] // one.shape[1], 1) for one in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    capped = softcap * np.tanh(scores / softcap) if softcap else scores
    masked = capped if added is None else capped + added
    if hidden is not None:
        masked = np.where(hidden, -np.inf, masked)
    p = softmax(masked)
    return p @ v, scores, capped, masked, p


def tokens_of(x):
    """[batch, heads, tokens, size] as rows of all heads."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


# (name, size of a value, whether heads stand in rows, parameters)
FORMS_OF_ATTENTION = [("heads", 4, False, {}), ("rows", 4, True, {"q_num_heads": 4, "kv_num_heads": 2}),
                      ("tokens", 6, True, {"q_num_heads": 4, "kv_num_heads": 2}), ("by_0", 4, False, {"scale": 0}),
                      ("by_0_rows", 4, True, {"scale": 0, "q_num_heads": 4, "kv_num_heads": 2})]


def attention(cases):
    for since, form in itertools.product((24, 23), FORMS_OF_ATTENTION):
        attention_of_form(cases, since, *form)
    q, k, v = numbers(2, 4, 3, 6), numbers(2, 2, 5, 6), numbers(2, 2, 5, 4)
    bools = whole(3, 5, low=0, high=2) | np.eye(3, 5, dtype="i8")
    cases.of_floats("Attention", [q, k, v], lambda q, k, v: attend(q, k, v, hidden=bools == 0)[0], None, "bools", others=[("TL_BOOL", bools)])
    cases.of_floats("Attention", [q, k, v, numbers(2, 1, 3, 5)], lambda q, k, v, m: attend(q, k, v, m)[0], None, "mask_of_batch")


def attention_of_form(cases, since, form, size, in_rows, of_form):
    rows = tokens_of if in_rows else lambda x: x
    q, k, v = rows(numbers(2, 4, 3, 6)), rows(numbers(2, 2, 5, 6)), rows(numbers(2, 2, 5, size))
    past, added = (numbers(2, 2, 2, 6), numbers(2, 2, 2, size)), numbers(3, 5)
    i, j, lens = np.arange(3)[:, None], np.arange(5)[None], np.array([5, 2])

    def run(q, k, v, added=None, past=None, mode=None, **of):
        if in_rows:
            q, k, v = heads_of(q, 4), heads_of(k, 2), heads_of(v, 2)
        if past:
            k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        found = attend(q, k, v, added, **{"scale": of_form.get("scale"), **of})
        y = rows(found[0])
        return (y, k, v) if past else y if mode is None else (y, None, None, found[1 + mode])

    def add(why, formula, inputs=(), params=None, others=()):
        cases.of_floats("Attention", [q, k, v, *inputs], formula, {**({} if since == 24 else {"since": since}), **of_form, **(params or {})},
                        "%s_%d_%s" % (form, since, why), others=list(others),
                        types=tuple(FLOATS) if form == "heads" else ("TL_FLOAT", "TL_FLOAT16"))

    add("", run)
    if "scale" not in of_form:
        add("scale", lambda *g: run(*g, scale=0.25), params={"scale": 0.25})
    add("mask", run, [added])
    add("causal", lambda *g: run(*g, hidden=j > i), params={"is_causal": 1})
    add("softcap", lambda *g: run(*g, softcap=0.75), params={"softcap": 0.75})
    add("past", lambda q, k, v, m, *p: run(q, k, v, m, past=p), [numbers(3, 7), *past])
    for mode in range(4):
        add("mode_%d" % mode, lambda *g: run(*g, softcap=2, mode=mode), [added], {"qk_matmul_output_mode": mode, "softcap": 2})
    add("lengths", lambda q, k, v, *_: run(q, k, v, hidden=j[None, None] >= lens[:, None, None, None]), [None] * 3,
        others=[("TL_INT64", lens)])
    add("precision", run, params={"softmax_precision": 11})
    for params, hidden in (({"left_window_size": 1}, j < i - 1), ({"right_window_size": 1}, j > i + 1),
                           ({"left_window_size": 0, "right_window_size": 2}, (j < i) | (j > i + 2))):
        add("_".join(params), lambda *g: run(*g, hidden=hidden), params=params)


def attention_of_microsoft(cases):
    of_floats = functools.partial(cases.of_floats, tolerance=OF_SEVERAL)
    batch, tokens, width, heads = 2, 3, 6, 2

    def project(x, w, b, sizes, m=None, past=None, a=None, causal=False, value=-10000, scale=None, heads=heads):
        rows = x @ w + (0 if b is None else b)
        q, k, v = (heads_of(one, heads) for one in np.split(rows, np.cumsum(sizes)[:2], 2))
        if past is not None:
            k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        keys, before = k.shape[2], 0 if past is None else past.shape[3]
        added = 0 if a is None else a
        if m is not None:
            added = added + np.where(m.reshape(batch, 1, -1, keys) == 0, value, 0)
        hidden = np.arange(keys)[None] > np.arange(tokens)[:, None] + before if causal else None
        y = attend(q, k, v, added, scale, hidden=hidden)[0].transpose(0, 2, 1, 3).reshape(batch, tokens, -1)
        return y, np.stack([k, v]) if k.shape == v.shape else None

    x, w, b = numbers(batch, tokens, width), numbers(width, 18, low=-1, high=1), numbers(18)
    sizes = [6, 6, 6]
    past, a = numbers(2, batch, heads, 2, 3), numbers(batch, heads, tokens, tokens)
    keys = np.array([[1, 0, 1], [1, 1, 0]])
    of = lambda *rest, **params: lambda *g: project(g[0], g[1], g[2], sizes, **params)[0]
    base = {"num_heads": heads}
    of_floats("ms_Attention", [x, w, b], of(), base)
    of_floats("ms_Attention", [x, w], lambda x, w: project(x, w, None, sizes)[0], base, "without_bias")
    of_floats("ms_Attention", [x, w, b], of(causal=True), {**base, "unidirectional": 1}, "unidirectional")
    of_floats("ms_Attention", [x, w, b], of(scale=0.25), {**base, "scale": 0.25}, "scale")
    for value in (-10000, -1.5):
        of_floats("ms_Attention", [x, w, b], lambda x, w, b: project(x, w, b, sizes, m=keys, value=value)[0],
                        {**base, **({} if value == -10000 else {"mask_filter_value": value})}, "mask%g" % -value, others=[("TL_INT32", keys)])
    of_floats("ms_Attention", [x, w, b, None, past], lambda x, w, b, _, past: project(x, w, b, sizes, past=past), base, "past")
    of_floats("ms_Attention", [x, w, b, None, None, a], lambda x, w, b, m, p, a: project(x, w, b, sizes, a=a)[0], base, "bias_of_scores")
    w2, b2 = numbers(width, 4 + 4 + 8, low=-1, high=1), numbers(16)
    of_floats("ms_Attention", [x, w2, b2], lambda x, w, b: project(x, w, b, [4, 4, 8])[0],
                    {**base, "qkv_hidden_sizes": [4, 4, 8]}, "sizes")
    for params in ({"rotary_embedding_dim": 2}, {"past_present_share_buffer": 1}):  # of what is refused
        of_floats("ms_Attention", [x, w, b], of(), {**base, **params}, "_".join(params))
    given = [(F, x), (F, w), (F, b)]
    cases.refuse("ms_Attention", "parameter do_rotary", given, {**base, "do_rotary": 1})
    cases.refuse("ms_Attention", "input past_sequence_length", given + [None, (F, past), None, ("TL_INT32", np.array([2]))], base)
    multi_head(cases)
    quantized_attention(cases, project)


def multi_head(cases):
    for form in ("rows", "packed", "pairs", "heads"):
        multi_head_of_form(cases, form)
    q, past = (F, numbers(2, 3, 6)), (F, numbers(2, 2, 2, 3))
    given = [q, q, q, None, None, None, past, past]
    optype = "ms_MultiHeadAttention"
    cases.refuse(optype, "input past_sequence_length", given + [("TL_INT32", np.array([2]))], {"num_heads": 2})
    cases.refuse(optype, "input cache_indirection", given + [None, ("TL_INT32", np.zeros((2, 1, 3)))], {"num_heads": 2})


def multi_head_of_form(cases, form):
    batch, tokens, heads = 2, 3, 2
    others, size = (3, 3) if form == "packed" else (4, 3) if form == "pairs" else (4, 4)
    bias, a = numbers(12 + heads * size), numbers(batch, heads, tokens, others)
    past = numbers(batch, heads, 2, 3), numbers(batch, heads, 2, size)
    keys = np.array([[1, 0, 1, 1], [1, 1, 0, 0]])[:, :others]
    q, k, v = numbers(batch, tokens, 6), numbers(batch, others, 6), numbers(batch, others, heads * size)
    part = lambda x: x.reshape(batch, x.shape[1], heads, -1)
    inputs = {"rows": [q, k, v], "heads": [q, heads_of(k, heads), heads_of(v, heads)]}.get(form)
    if form == "packed":
        inputs = [np.stack([part(q), part(k), part(v)], 3), None, None]
    elif form == "pairs":
        inputs = [q, np.stack([part(k), part(v)], 3), None]

    def run(q, k, v, b=None, a=None, past=None, causal=False, m=None, value=-10000, scale=None):
        if form == "packed":
            q, k, v = (q[:, :, :, i].reshape(batch, tokens, -1) for i in range(3))
        elif form == "pairs":
            k, v = (k[:, :, :, i].reshape(batch, others, -1) for i in range(2))
        elif form == "heads":
            k, v = tokens_of(k), tokens_of(v)
        if b is not None:
            q, k, v = q + b[:6], k + b[6:12], v + b[12:]
        q, k, v = (heads_of(one, heads) for one in (q, k, v))
        if past is not None:
            k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        added = 0 if a is None else a
        if m is not None:
            added = added + np.where(m[:, None, None] == 0, value, 0)
        hidden = np.arange(k.shape[2])[None] > np.arange(tokens)[:, None] + (0 if past is None else 2) if causal else None
        y = tokens_of(attend(q, k, v, added, scale, hidden=hidden)[0])
        return (y, k, v) if past is not None else y

    for b in [None, bias]:
        def add(why, formula, rest=(), params=None, others=()):
            cases.of_floats("ms_MultiHeadAttention", [*inputs, b, *rest], formula, {"num_heads": heads, **(params or {})},
                            "%s%s_%s" % (form, "" if b is None else "_bias", why), others=list(others), tolerance=OF_SEVERAL)

        add("", lambda *g: run(*g))
        add("scores", lambda q, k, v, b, m, a: run(q, k, v, b, a), [None, a])
        add("past", lambda q, k, v, b, m, a, *p: run(q, k, v, b, past=p), [None, None, *past])
        add("scale", lambda *g: run(*g, scale=0.25), params={"scale": 0.25})
        add("unidirectional", lambda *g: run(*g, causal=True), params={"unidirectional": 1})
        for value in (-10000, -1.5):
            add("mask%g" % -value, lambda *g: run(*g, m=keys, value=value), params={} if value == -10000 else {"mask_filter_value": value},
                others=[("TL_INT32", keys)])


def quantized_attention(cases, project):
    batch, tokens, width = 2, 3, 6
    scale_x, scale_w = 0.03125, 2.0**-np.arange(4, 4 + 18).clip(4, 7)
    b = rounded(F, numbers(18))
    past = rounded(F, numbers(2, batch, 2, 2, 3))
    for tx, tw in itertools.product(("TL_UINT8", "TL_INT8"), repeat=2):
        x = whole(batch, tokens, width, low=0 if "U" in tx else -100, high=101)
        w = whole(width, 18, low=0 if "U" in tw else -100, high=101)
        zx, zw = 7, whole(18, low=0, high=9)
        real_x, real_w = (x - zx) * scale_x, (w - zw) * scale_w
        base = [(tx, x), (tw, w), (F, b), (F, scale_x), (F, scale_w)]
        zeros = [(tx, zx), (tw, zw)]
        why = tw[3:].lower()
        for params, of in (({}, {}), ({"unidirectional": 1}, {"causal": True}), ({"scale": 0.25}, {"scale": 0.25})):
            y = project(real_x, real_w, b, [6, 6, 6], **of)[0]
            cases.add("ms_QAttention", [*base, None, *zeros], [(F, y)], {"num_heads": 2, **params}, why + "_".join(params))
        keys = np.array([[1, 0, 1], [1, 1, 0]])
        y = project(real_x, real_w, b, [6, 6, 6], m=keys, value=-1.5)[0]
        cases.add("ms_QAttention", [*base, ("TL_INT32", keys), *zeros], [(F, y)], {"num_heads": 2, "mask_filter_value": -1.5}, why + "_mask")
        y = project(real_x, real_w, b, [6, 6, 6])[0]
        cases.add("ms_QAttention", [*base, None, *zeros], [(F, y)], {"num_heads": 2, "past_present_share_buffer": 1}, why + "_share_buffer")
        cases.refuse("ms_QAttention", "parameter do_rotary", base, {"num_heads": 2, "do_rotary": 1})
        y, present = project(real_x, real_w, b, [6, 6, 6], past=past)
        cases.add("ms_QAttention", [*base, None, *zeros, (F, past)], [(F, y), (F, present)], {"num_heads": 2}, why + "_past")


# ---- Quantized tensors ----

LIMITS = {"TL_INT8": (-128, 127), "TL_UINT8": (0, 255), "TL_INT16": (-2**15, 2**15 - 1), "TL_UINT16": (0, 2**16 - 1), **NARROW}


def float8(dtype, given):
    """Patterns of the nearest numbers, ties to even, by a look at all of the same sign."""
    sign = 8 if dtype == "TL_FLOAT4E2M1" else 128
    table = [(float8_value(dtype, p), p) for p in range(2 * sign)]
    out = []
    for number in np.asarray(given, "f8").ravel():
        same = [(value, p) for value, p in table if math.isfinite(value) and (bool(p & sign) == (number < 0) or ("UZ" in dtype and p == 0))]
        out.append(min((abs(value - number), p % 2, p) for value, p in same)[2])
    return np.array(out).reshape(np.shape(given))


def float8_value(dtype, p):
    if dtype == "TL_FLOAT4E2M1":
        sign, exponent, fraction = p >> 3, p >> 1 & 3, p & 1
        value = fraction / 2 if exponent == 0 else (1 + fraction / 2) * 2.0**(exponent - 1)
        return -value if sign else value
    bits, bias = (3, 7) if "E4M3" in dtype else (2, 15)
    bias += "UZ" in dtype
    sign, exponent, fraction = p >> 7, p >> bits & (1 << 7 - bits) - 1, p & (1 << bits) - 1
    if "UZ" in dtype and p == 128:
        return math.nan
    if dtype == "TL_FLOAT8E4M3FN" and p & 127 == 127:
        return math.nan
    if dtype == "TL_FLOAT8E5M2" and exponent == 31:
        return math.nan if fraction else math.inf * (-1 if sign else 1)
    value = fraction * 2.0**(1 - bias - bits) if exponent == 0 else (1 + fraction / 2.0**bits) * 2.0**(exponent - bias)
    return -value if sign else value


FLOAT8 = ("TL_FLOAT8E4M3FN", "TL_FLOAT8E4M3FNUZ", "TL_FLOAT8E5M2", "TL_FLOAT8E5M2FNUZ", "TL_FLOAT4E2M1")


def scales_of(params, scale):
    """The scale or zero point of each element of [2, 4, 3]."""
    scale = np.asarray(scale)
    axis = params.get("axis", 1)
    if scale.ndim == 0:
        return np.broadcast_to(scale, (2, 4, 3))
    if params.get("block_size"):
        return np.repeat(scale, params["block_size"], axis)
    return np.broadcast_to(scale.reshape([-1 if i == axis % 3 else 1 for i in range(3)]), (2, 4, 3))


FORMS = [({}, ()), ({}, (4,)), ({"axis": 0}, (2,)), ({"axis": -1}, (3,)), ({"axis": 1, "block_size": 2}, (2, 2, 3))]


def quantize(cases):
    for optype, (params, shape) in itertools.product(("QuantizeLinear", "ms_QuantizeLinear"), FORMS):
        why = "_".join(params)
        scale = 2.0**-whole(*shape, low=1, high=4) if shape else np.array(0.25)
        for dtype, (low, high) in LIMITS.items():
            zero = whole(*shape, low=max(low, -3), high=min(high, 4)) if shape else np.array(1)
            x = numbers(2, 4, 3, low=max(low, -40) / 4, high=min(high, 40) / 4)
            y = np.clip(np.rint(rounded(F, x) / scales_of(params, scale)) + scales_of(params, zero), low, high)
            cases.add(optype, [(F, x), (F, scale), (dtype, zero)], [(dtype, y)], params, why + "_to_" + dtype[3:].lower())
        x = numbers(2, 4, 3, low=-30, high=30)
        for of in ("TL_DOUBLE", "TL_FLOAT16", "TL_BFLOAT16", "TL_FLOAT"):
            given = rounded(of, x)
            y = np.clip(np.rint(given / scales_of(params, scale)), 0, 255)
            cases.add(optype, [(of, given), (of, scale)], [("TL_UINT8", y)], params, why)
            for to in ("TL_INT8", "TL_UINT16"):
                y = np.clip(np.rint(given / scales_of(params, scale)), *LIMITS[to])
                cases.add(optype, [(of, given), (of, scale)], [(to, y)], {**params, "output_dtype": to}, why + "_output_" + to[3:].lower())
        given = whole(2, 4, 3, low=-60, high=60)
        y = np.clip(np.rint(given / scales_of(params, scale)), 0, 255)
        cases.add(optype, [("TL_INT32", given), (F, scale)], [("TL_UINT8", y)], params, why)
    for optype in ("QuantizeLinear", "ms_QuantizeLinear"):
        x = numbers(2, 4, 3)
        for dtype in FLOAT8:
            y = float8(dtype, rounded(F, x) / 0.25)
            cases.add(optype, [(F, x), (F, 0.25), (dtype, 0)], [(dtype, y)], {}, "to_" + dtype[3:].lower())
        large = np.full((2, 4, 3), 1e6)
        cases.add(optype, [(F, large), (F, 1.0), ("TL_FLOAT8E5M2", 0)], [("TL_FLOAT8E5M2", np.full((2, 4, 3), 0x7c))], {"saturate": 0}, "saturate")
        cases.add(optype, [(F, large), (F, 1.0), ("TL_FLOAT8E5M2", 0)], [("TL_FLOAT8E5M2", np.full((2, 4, 3), 0x7b))], {}, "saturated")
        # 1 + 2^-12 is 1 in float16, so that half of it is a tie, which goes to 0.
        near = np.full((2, 4, 3), 1 + 2.0**-12)
        cases.add(optype, [(F, near), (F, 2.0)], [("TL_UINT8", np.zeros((2, 4, 3)))], {"precision": "TL_FLOAT16"}, "precision")
        cases.add(optype, [(F, near), (F, 2.0)], [("TL_UINT8", np.ones((2, 4, 3)))], {}, "precise")


def dequantize(cases):
    for optype, (params, shape) in itertools.product(("DequantizeLinear", "ms_DequantizeLinear"), FORMS):
        why = "_".join(params)
        for of in ("TL_FLOAT", "TL_DOUBLE", "TL_FLOAT16", "TL_BFLOAT16"):
            scale = 2.0**-whole(*shape, low=1, high=4) if shape else np.array(0.25)
            for dtype, (low, high) in {**LIMITS, "TL_INT32": (-2**31, 2**31 - 1)}.items():
                low, high = max(low, -100), min(high, 100)
                x = whole(2, 4, 3, low=low, high=high + 1)
                zero = whole(*shape, low=max(low, -3), high=min(high, 4)) if shape else np.array(1)
                y = (x - scales_of(params, zero)) * scales_of(params, scale)
                if dtype != "TL_INT32":  # ONNX allows no zero point there but 0
                    cases.add(optype, [(dtype, x), (of, scale), (dtype, zero)], [(of, y)], params, why + "_to_" + of[3:].lower())
                y = x * scales_of(params, scale)
                cases.add(optype, [(dtype, x), (of, scale)], [(of, y)], params, why + "_to_" + of[3:].lower() + "_without_zero")
                if of == "TL_FLOAT" and not params:
                    cases.add(optype, [(dtype, x), (of, scale)], [("TL_FLOAT16", y)], {"output_dtype": "TL_FLOAT16"}, "output_dtype")
            for dtype in FLOAT8:
                x = whole(2, 4, 3, low=0, high=16 if "4E2M1" in dtype else 100)
                y = np.vectorize(lambda p: float8_value(dtype, p))(x) * scales_of(params, scale)
                cases.add(optype, [(dtype, x), (of, scale)], [(of, y)], params, why + "_to_" + of[3:].lower())


# ---- Images of another size ----

def nearest_axis(size, count, scale, place):
    return [min(max(place(o, scale), 0), size - 1) for o in range(count)]


def resized(x, scales, take):
    for axis, scale in enumerate(scales):
        size = x.shape[axis]
        count = math.floor(size * scale)
        x = take(x, axis, size, count, scale)
    return x


def nearest(x, axis, size, count, scale):
    return np.take(x, [min(math.floor(o / scale), size - 1) for o in range(count)], axis)


def linear(x, axis, size, count, scale):
    """Asymmetric: place o is o / scale."""
    rows = []
    for o in range(count):
        at = min(o / scale, size - 1)
        low = min(math.floor(at), size - 1)
        high = min(low + 1, size - 1)
        rows.append(np.take(x, low, axis) * (1 - (at - low)) + np.take(x, high, axis) * (at - low))
    return np.stack(rows, axis)


def images(cases):
    x = numbers(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 1.5])
    for mode, take in (("nearest", nearest), ("linear", linear)):
        mode_of = {} if mode == "nearest" else {"mode": mode}
        cases.of_floats("Upsample", [x], lambda x: resized(x, scales, take), mode_of, mode, others=[(F, scales)])
        cases.of_floats("Upsample", [x], lambda x: resized(x, scales, take), {"scales": scales.tolist(), "since": 7, **mode_of}, mode + "_attribute")
        cases.of_floats("Upsample", [x], lambda x: resized(x, scales, take), {"height_scale": 2.0, "width_scale": 1.5, "since": 1, **mode_of},
                        mode + "_height_width")
        cases.of_floats("Resize", [x], lambda x: resized(x, scales, take), {"since": 10, **mode_of}, mode + "_10", others=[(F, scales)])
    half = lambda o, scale: (o + 0.5) / scale - 0.5
    down = lambda v: math.ceil(v - 0.5)  # round_prefer_floor

    def half_nearest(x, axis, size, count, scale):
        return np.take(x, nearest_axis(size, count, scale, lambda o, s: down(half(o, s))), axis)

    for axes, policy in (([2, 3], None), ([3, 2], None), ([2, 3], "not_larger"), ([2, 3], "not_smaller")):
        sizes = np.array([6, 6])
        wanted = {a: s / x.shape[a] for a, s in zip(axes, sizes)}
        if policy:
            one = (min if policy == "not_larger" else max)(wanted.values())
            wanted = {a: one for a in axes}
        factors = [wanted.get(a, 1) for a in range(4)]

        def by_sizes(x, axis, size, count, scale):
            count = max(1, math.floor(size * scale + 0.5))
            return half_nearest(x, axis, size, count, scale)

        cases.of_floats("Resize", [x, None, None], lambda x, *_: resized(x, factors, by_sizes),
                        {"axes": axes, "keep_aspect_ratio_policy": policy}, "axes_%s" % policy, others=[("TL_INT64", sizes)])

    def antialiased(x, axis, size, count, scale):
        """A tent as wide as a step of the output."""
        if scale >= 1:
            return np.take(x, range(size), axis)
        rows = []
        for o in range(count):
            at = half(o, scale)
            weights = np.array([max(0, 1 - abs(i - at) * scale) for i in range(-8, size + 8)])
            weights /= weights.sum()
            inside = np.clip(np.arange(-8, size + 8), 0, size - 1)
            rows.append(np.tensordot(np.take(x, inside, axis), weights, (axis, 0)))
        return np.stack(rows, axis)

    wide = numbers(1, 1, 6, 8)
    cases.of_floats("Resize", [wide, None], lambda x, _: resized(x, [1, 1, 0.5, 0.5], antialiased), {"mode": "linear", "antialias": 1},
                    "antialias", others=[(F, np.array([1, 1, 0.5, 0.5]))])
    def symmetric(x, axis, size, count, scale):
        """The whole of what the scale asks for is centred on the image."""
        rows = []
        for o in range(count):
            at = size / 2 * (1 - count / (scale * size)) + (o + 0.5) / scale - 0.5
            low = math.floor(at)
            part = at - low
            rows.append(sum(np.take(x, min(max(i, 0), size - 1), axis) * w for i, w in ((low, 1 - part), (low + 1, part))))
        return np.stack(rows, axis)

    five, by = numbers(1, 1, 5, 3), np.array([1, 1, 1.5, 2.5])
    cases.of_floats("Resize", [five, None], lambda x, _: resized(x, by, symmetric),
                    {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}, "symmetric", others=[(F, by)])
    cases.of_floats("Upsample", [x], lambda x: resized(x, scales, linear), {"mode": "bilinear", "height_scale": 2.0, "width_scale": 1.5, "since": 1},
                    "bilinear")
    for dtype in INTEGERS:
        of = whole(1, 2, 3, 4, low=0, high=2 if dtype == "TL_BOOL" else 99)
        if dtype != "TL_BOOL":
            cases.add("Upsample", [(dtype, of), (F, scales)], [(dtype, resized(of, scales, nearest))], {}, "nearest")
    upsample(cases, x, scales)


def upsample(cases, x, scales):
    """Of LightNet's list."""
    def place(o, size, count):
        return (o + 0.5) * size / count - 0.5

    def half_away(x, axis, size, count, scale):
        return np.take(x, [min(math.floor(max(place(o, size, count), 0) + 0.5), size - 1) for o in range(count)], axis)

    def between(x, axis, size, count, scale):
        rows = []
        for o in range(count):
            at = min(max(place(o, size, count), 0), size - 1)
            low = math.floor(at)
            rows.append(np.take(x, low, axis) * (1 - (at - low)) + np.take(x, min(low + 1, size - 1), axis) * (at - low))
        return np.stack(rows, axis)

    params = {"mode": "TL_NEAREST", "scales": scales.tolist()}
    for dtype in INTEGERS:
        of = whole(1, 2, 3, 4, low=0, high=2 if dtype == "TL_BOOL" else 99)
        cases.add("upsample", [(dtype, of)], [(dtype, resized(of, scales, half_away))], params)
    for mode, take in (("TL_NEAREST", half_away), ("TL_LINEAR", between)):
        cases.of_floats("upsample", [x], lambda x: resized(x, scales, take), {**params, "mode": mode}, mode, types=("TL_FLOAT", "TL_DOUBLE"))


ALL = [recurrent_networks, attention, attention_of_microsoft, quantize, dequantize, images]
