#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random chains that look like attention against NumPy: on `cpu`, and as read.

    attention_test.py BUILD-FOLDER [SEED [COUNT]]

Scores and what they mix are equations whose letters are in any order; factors, masks, softmax over any axis, and scores
that are read twice. Shapes are fixed, or those of each of several runs. NumPy computes in doubles.
"""
import os
import random
import sys
import time

import numpy as np
from onnx import TensorProto, helper

BUILD = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(BUILD, "python"))
import lightnetrt  # noqa: E402

USUAL = {"q": ["bihd", "bhid"], "k": ["bjhd", "bhjd"], "v": ["bjhe", "bhje"], "s": ["bhij"], "o": ["bihe", "bhie"]}


def draw_order(draw, what):
    """Letters: batch, head, query, key, summed element, mixed element."""
    order = draw.choice(USUAL[what])
    return order if draw.random() < 0.75 else "".join(draw.sample(order, 4))


def softmax(scores, axis):
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)


class Chain:
    def __init__(self, draw):
        self.orders = {what: draw_order(draw, what) for what in USUAL}
        self.axis = self.orders["s"].index("j") if draw.random() < 0.85 else draw.randrange(4)
        self.factor = draw.choice([None, None, 0.5, -0.25, 2.0])
        self.factor_of = draw.choice("qss")
        self.mask = draw.choice([None, None, "add", "hide", "where"])
        self.mask_letters = "".join(letter for letter in self.orders["s"] if letter == "j" or draw.random() < 0.5)
        self.are_scores_read = draw.random() < 0.15
        self.is_dynamic = draw.random() < 0.4
        same = draw.random() < 0.2  # all dimensions are equal
        draw_size = (lambda: 4) if same else (lambda: draw.choice([1, 2, 3, 4, 5, 8]))
        self.fixed = {"h": draw_size(), "d": draw_size()}
        self.fixed["e"] = self.fixed["d"] if draw.random() < 0.8 else draw_size()
        first = {letter: draw_size() for letter in "bij"}
        self.runs = [self.fixed | first]
        if self.is_dynamic:
            self.runs += [self.fixed | {letter: draw.choice([1, 2, 4, 7]) for letter in "bij"} for _ in range(2)]

    def equation(self, left, right, out):
        return f"{self.orders[left]},{self.orders[right]}->{self.orders[out]}"

    def dims(self, letters):
        return [letter if self.is_dynamic and letter in "bij" else self.runs[0][letter] for letter in letters]

    def mask_dims(self, sizes):
        return [sizes[letter] if letter in self.mask_letters else 1 for letter in self.orders["s"]]

    def model(self):
        constants = [helper.make_tensor("factor", TensorProto.FLOAT, [], [self.factor or 1]),
                     helper.make_tensor("hidden", TensorProto.FLOAT, [], [-1e30])]
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.dims(self.orders[name])) for name in "qkv"]
        nodes, query, scores = [], "q", "scores"
        if self.factor and self.factor_of == "q":
            nodes.append(helper.make_node("Mul", ["q", "factor"], ["scaled"]))
            query = "scaled"
        nodes.append(helper.make_node("Einsum", [query, "k"], ["scores"], equation=self.equation("q", "k", "s")))
        if self.factor and self.factor_of == "s":
            nodes.append(helper.make_node("Mul", ["factor", "scores"], ["scaled"]))
            scores = "scaled"
        if self.mask:
            names = ["mask", scores, "hidden"] if self.mask == "where" else [scores, "mask"]
            nodes.append(helper.make_node("Where" if self.mask == "where" else "Add", names, ["masked"]))
            scores = "masked"
            dims = [letter if letter in self.mask_letters else 1 for letter in self.orders["s"]]
            dims = [self.dims(dim)[0] if dim != 1 else 1 for dim in dims]
            inputs.append(helper.make_tensor_value_info(
                "mask", TensorProto.BOOL if self.mask == "where" else TensorProto.FLOAT, dims))
        nodes.append(helper.make_node("Softmax", [scores], ["weights"], axis=self.axis))
        nodes.append(helper.make_node("Einsum", ["weights", "v"], ["y"], equation=self.equation("s", "v", "o")))
        outputs = ["y", "scores"] if self.are_scores_read else ["y"]
        graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                                                       for name in outputs], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()

    def feeds(self, sizes, generator):
        feeds = {name: generator.uniform(-1, 1, [sizes[letter] for letter in self.orders[name]]).astype(np.float32)
                 for name in "qkv"}
        if self.mask:
            dims = self.mask_dims(sizes)
            number = generator.uniform(-1, 1, dims).astype(np.float32)
            feeds["mask"] = number > -0.6 if self.mask == "where" else number
            if self.mask == "hide":
                number[(number < -0.4)] = -np.inf
        return feeds

    def expected(self, feeds):
        q, k, v = (feeds[name].astype(np.float64) for name in "qkv")
        factor = self.factor or 1
        before = factor if self.factor_of == "q" else 1
        scores = np.einsum(self.equation("q", "k", "s"), q * before, k)
        masked = scores * (factor / before)
        if self.mask == "where":
            masked = np.where(feeds["mask"], masked, -1e30)
        elif self.mask:
            masked = masked + feeds["mask"]
        mixed = np.einsum(self.equation("s", "v", "o"), softmax(masked, self.axis), v)
        return {"y": mixed, "scores": scores} if self.are_scores_read else {"y": mixed}


def difference(expected, got):
    for name, want in expected.items():
        number = np.asarray(got[name])
        if number.shape != want.shape:
            return f"{name} is {number.shape}, not {want.shape}"
        if not np.allclose(number, want, rtol=1e-5, atol=1e-5, equal_nan=True):
            return f"{name} is off by {np.nanmax(np.abs(number - want))}"
    return None


def failure(chain, generator):
    """What differs first, or None."""
    data, all_feeds = chain.model(), [chain.feeds(sizes, generator) for sizes in chain.runs]
    for way, options in ("cpu", {}), ("as read", {"as_read": True}):
        try:
            with lightnetrt.load(data, **options) as loaded:
                for number, feeds in enumerate(all_feeds):
                    found = difference(chain.expected(feeds), loaded.run(feeds))
                    if found:
                        return f"{way}, run {number}: {found}"
        except lightnetrt.Error as error:
            return f"{way}: {type(error).__name__}: {error}"
    return None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    failed = 0
    print(f"seed {seed}")
    for number in range(seed, seed + count):
        chain = Chain(random.Random(number))
        found = failure(chain, np.random.default_rng(number))
        if found:
            failed += 1
            print(f"chain {number}: {vars(chain)}: {found}")
    print(f"{count} chains, {failed} failures")
    return 1 if failed else 0


sys.exit(main())
