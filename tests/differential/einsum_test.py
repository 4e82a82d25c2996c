#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random equations of Einsum against NumPy: on `cpu`, on `ref`, as read, and written and read again as text and ONNX.

    einsum_test.py BUILD-FOLDER [SEED [COUNT]]

One to three terms; ellipses, letters that are there twice, sizes of 0, of 1 that broadcast, and equal ones, outputs that
are implied, and the products that networks have: heads, batches, several summed letters. NumPy computes in doubles or
whole numbers.
"""
import os
import random
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper

BUILD = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(BUILD, "python"))
import lightnetrt  # noqa: E402

KNOWN = """ij,jk->ik ij,kj->ik bij,bjk->bik bhqd,bhkd->bhqk bqhd,bkhd->bhqk bhqk,bkhd->bqhd abc,cd->abd abcd,cde->abe abc,cde->abde
    abcd,ecd->abe abkn,bkm->anbm nkctv,kvw->nctw bchw,bnc->bnhw bhwc,hkc->bhwk bhwc,wkc->bhwk ab,ab->ab ab,ab-> a,b->ab abc->cab abc->b
    ab,bc,cd->ad ii->i ii bij,bij->bi ab,b->a a,ab->b ab,c->acb aij,jib->ab abk,ckn->acbn abk,kn->ban abk,kn->an aak,kn->an
    ...ij,...jk->...ik ...ij,jk->...ik ...d,ed->...e b...d,bde->b...e ab,ba ba,bc cb,ba->ac abd,bdc->cab abcd,dcbe->ae""".split()


def random_equation(draw):
    letters = draw.sample("abcdefgXYZ", draw.choice([2, 3, 3, 4, 4, 5]))
    terms = []
    for _ in range(draw.choice([1, 2, 2, 2, 2, 2, 3])):
        term = draw.sample(letters, draw.randint(0 if terms else 1, min(4, len(letters))))
        if term and draw.random() < 0.1:
            term.insert(draw.randrange(len(term) + 1), draw.choice(term))
        if draw.random() < 0.12:
            term.insert(draw.randrange(len(term) + 1), "...")
        terms.append(term)
    equation = draw.choice([",", ", "]).join("".join(term) for term in terms)
    if draw.random() < 0.15:
        return equation
    used = sorted({letter for term in terms for letter in term} - {"..."})
    out = draw.sample(used, draw.randint(0, min(len(used), 5)))
    if any("..." in term for term in terms):
        out.insert(draw.randrange(len(out) + 1), "...")
    return equation + draw.choice(["->", " -> "]) + "".join(out)


def shape_of(draw, term, sizes, ellipsis):
    dims = []
    ones = {letter for letter in term if draw.random() < 0.04}
    for symbol in term.replace("...", "."):
        if symbol == ".":
            dims += [1 if draw.random() < 0.2 else size for size in ellipsis[draw.randint(0, len(ellipsis)):]]
        elif symbol != " ":
            dims.append(1 if symbol in ones else sizes[symbol])
    return dims


def make(draw):
    """An equation, and what goes into it; None where it has too many turns."""
    equation = draw.choice(KNOWN) if draw.random() < 0.35 else random_equation(draw)
    one = draw.choice([3, 4]) if draw.random() < 0.15 else None  # size of all letters
    sizes = {letter: 0 if draw.random() < 0.02 else one or draw.choice([1, 2, 3, 4, 5, 7, 8, 16, 19])
             for letter in equation if letter.isalpha()}
    ellipsis = [draw.choice([1, 2, 3]) for _ in range(draw.randint(0, 2))]
    if np.prod(list(sizes.values()), dtype=float) > 3e5:
        return None
    generator = np.random.default_rng(draw.randrange(1 << 30))
    is_whole = draw.random() < 0.15
    feeds = []
    for term in equation.split("->")[0].split(","):
        dims = shape_of(draw, term, sizes, ellipsis)
        feeds.append(generator.integers(-9, 10, dims, np.int32) if is_whole
                     else generator.uniform(-1, 1, dims).astype(np.float32))
    return equation, feeds


def model_of(draw, equation, feeds, expected):
    """All inputs, or the last one a constant."""
    names = [f"x{i}" for i in range(len(feeds))]
    dtype = TensorProto.INT32 if feeds[0].dtype == np.int32 else TensorProto.FLOAT
    values = [helper.make_tensor_value_info(name, dtype, feed.shape) for name, feed in zip(names, feeds)]
    constants = []
    if len(feeds) > 1 and draw.random() < 0.3:
        values.pop()
        constants = [helper.make_tensor(names[-1], dtype, feeds[-1].shape, feeds[-1].ravel())]
    graph = helper.make_graph([helper.make_node("Einsum", names, ["y"], equation=equation)], "g", values,
                              [helper.make_tensor_value_info("y", dtype, expected.shape)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString(), {value.name: feed for value, feed in zip(values, feeds)}


def ways_of(data, folder):
    yield "cpu", data, {}
    yield "ref", data, {"target": "ref"}
    yield "as read", data, {"as_read": True}
    source = os.path.join(folder, "in.onnx")
    with open(source, "wb") as file:
        file.write(data)
    for ending in "net", "onnx":
        path = os.path.join(folder, f"again.{ending}")
        yield ending, path, {"weights": lightnetrt.convert(source, path)}


def difference(expected, got, feeds, terms):
    if got.shape != expected.shape or got.dtype != feeds[0].dtype:
        return f"is {got.dtype} {got.shape}, not {feeds[0].dtype} {expected.shape}"
    if got.dtype == np.int32:
        return None if np.array_equal(got, expected) else "has other numbers"
    worst = np.abs(got - expected).max(initial=0)
    return None if worst <= 1e-6 * (1 + terms) ** 0.5 else f"is off by {worst}"


def failure(draw, equation, feeds, folder):
    """What differs first, or None."""
    wide = [feed.astype(np.int64 if feed.dtype == np.int32 else np.float64) for feed in feeds]
    expected = np.einsum(equation, *wide)
    summed = max(1, np.prod([max(feed.size, 1) for feed in feeds], dtype=float) / max(expected.size, 1))
    data, given = model_of(draw, equation, feeds, expected)
    way = "read"
    try:
        for way, source, options in ways_of(data, folder):
            with lightnetrt.load(source, **options) as loaded:
                found = difference(expected, np.asarray(loaded.run(given)["y"]), feeds, min(summed, 400))
                if found:
                    return f"{way} {found}"
    except lightnetrt.Error as error:
        return f"{way}: {type(error).__name__}: {error}"
    return None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    tried = failed = 0
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            draw = random.Random(number)
            made = make(draw)
            if not made:
                continue
            tried += 1
            found = failure(draw, *made, folder)
            if found:
                failed += 1
                print(f"equation {number}: {made[0]} of {[feed.shape for feed in made[1]]}: {found}")
    print(f"{tried} equations, {failed} failures")
    return 1 if failed or tried < count // 2 else 0


sys.exit(main())
