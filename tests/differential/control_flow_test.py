#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random ONNX models with graphs inside (If, Loop, Scan) against NumPy.

    control_flow_test.py BUILD-FOLDER [SEED [COUNT]]

Models are made with Python's onnx, not by our writer, and computed by the few lines of NumPy below, which share
nothing with the library: what it does alike as read and rewritten is seen too. Graphs nest three deep, know what is
around them, give one tensor twice, their own inputs, constants and nothing that they compute; they run no time at
all; shapes are stated, open or left out. Each model is run twice on `cpu`, on `ref`, as read, and on `cpu` after it
was written and read again as text, JSON and ONNX; one with open sizes with other sizes too, where NumPy finds a
result. A failing model is printed by its seed; run it alone with COUNT 1.
"""
import os
import random
import sys
import tempfile
import time
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BUILD = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(BUILD, "python"))
import lightnetrt  # noqa: E402

TYPES = {"f": (TensorProto.FLOAT, np.float32), "i": (TensorProto.INT64, np.int64), "b": (TensorProto.BOOL, np.bool_)}
DTYPES = {number: dtype for number, dtype in TYPES.values()}
MAX_RANK, MAX_DEPTH = 4, 3

# ---- NumPy ----

BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum, "Less": np.less,
          "Greater": np.greater, "Equal": np.equal, "GreaterOrEqual": np.greater_equal}
UNARY = {"Relu": lambda x: np.maximum(x, 0), "Neg": np.negative, "Abs": np.abs, "Tanh": np.tanh,
         "Sigmoid": lambda x: 1 / (1 + np.exp(-x.astype(np.float64))),
         "LeakyRelu": lambda x: np.where(x < 0, x * 0.01, x), "Identity": lambda x: x}
REDUCED = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean}


def positions(length, begin, end, step):
    begin, end = (at + length if at < 0 else at for at in (begin, end))
    low, high = (0, length) if step > 0 else (-1, length - 1)
    return range(min(max(begin, 0), high), min(max(end, low), high), step)


def is_true(x):
    return bool(np.asarray(x).item()) # ValueError unless it is one


def check(fits):
    if not fits:
        raise ValueError


def loop(a, x, around):
    count, goes_on, states = int(x[0]), x[1] is None or is_true(x[1]), list(x[2:])
    stacked = [[] for _ in a["body"].output[1 + len(states):]]
    trip = 0
    while trip < count and goes_on:
        outs = run_graph(a["body"], [np.int64(trip), np.bool_(goes_on)] + states, around)
        goes_on = x[1] is None or is_true(outs[0])
        states = outs[1:1 + len(states)]
        for stack, value in zip(stacked, outs[1 + len(states):]):
            stack.append(value)
        trip += 1
    return states + [np.stack(stack) for stack in stacked]


def scan(a, x, around):
    read = a["num_scan_inputs"]
    states, items = list(x[:len(x) - read]), x[len(x) - read:]
    written = len(a["body"].output) - len(states)
    ways_in = a.get("scan_input_directions", [0] * read)
    ways_out = a.get("scan_output_directions", [0] * written)
    axes_out = a.get("scan_output_axes", [0] * written)
    items = [np.moveaxis(item, axis, 0) for item, axis in zip(items, a.get("scan_input_axes", [0] * read))]
    stacked = [[] for _ in range(written)]
    check(len({len(item) for item in items}) == 1 and len(items[0]) > 0)
    for at in range(len(items[0])):
        outs = run_graph(a["body"], states + [item[-1 - at if way else at] for item, way in zip(items, ways_in)], around)
        states = outs[:len(states)]
        for stack, value in zip(stacked, outs[len(states):]):
            stack.append(value)
    return states + [np.stack(stack[::-1] if way else stack, axis)
                     for stack, way, axis in zip(stacked, ways_out, axes_out)]


def sums(x, axis, is_exclusive, is_reverse):
    x = np.flip(x, axis) if is_reverse else x
    total = np.cumsum(x, axis, dtype=np.float64)
    total = total - x if is_exclusive else total
    return np.flip(total, axis) if is_reverse else total


def gathered(x, indices, axis):
    """NumPy does not look at indices into an empty array."""
    check(np.all((indices >= -x.shape[axis]) & (indices < x.shape[axis])))
    return np.take(x, indices, axis)


def compute(node, x, around):
    """The outputs of a node, whose inputs are `x`."""
    a = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    name = node.op_type
    if name in BINARY:
        return [BINARY[name](*x)]
    if name in UNARY:
        return [np.asarray(UNARY[name](x[0])).astype(x[0].dtype)]
    if name in REDUCED:
        return [REDUCED[name](x[0], axis=tuple(a["axes"]), keepdims=bool(a["keepdims"])).astype(x[0].dtype)]
    if name == "Slice":
        begin, end, axis, step = (int(value[0]) for value in x[1:])
        return [np.take(x[0], list(positions(x[0].shape[axis], begin, end, step)), axis)]
    if name == "Clip":
        low = x[0] if x[1] is None else np.maximum(x[0], x[1])
        return [np.minimum(low, x[2]) if len(x) > 2 else low]
    if name == "Split":
        check(sum(x[1]) == len(x[0]))
        return np.split(x[0], np.cumsum(x[1])[:-1])
    if name == "TopK":
        check(x[1][0] <= x[0].shape[-1])
        order = np.argsort(-x[0], axis=-1, kind="stable")[..., :int(x[1][0])]
        return [np.take_along_axis(x[0], order, -1), order]
    if name == "If":
        return run_graph(a["then_branch"] if is_true(x[0]) else a["else_branch"], [], around)
    return {
        "Constant": lambda: [numpy_helper.to_array(a["value"])],
        "Cast": lambda: [x[0].astype(DTYPES[a["to"]])],
        "Concat": lambda: [np.concatenate(x, a["axis"])],
        "Gather": lambda: [gathered(x[0], x[1], a["axis"])],
        "Transpose": lambda: [np.transpose(x[0], a["perm"])],
        "Reshape": lambda: [x[0].reshape(x[1])],
        "Unsqueeze": lambda: [np.expand_dims(x[0], int(x[1][0]))],
        "Where": lambda: [np.where(*x)],
        "Shape": lambda: [np.array(x[0].shape, np.int64)],
        "CumSum": lambda: [sums(x[0], int(x[1]), a["exclusive"], a["reverse"]).astype(x[0].dtype)],
        "MatMul": lambda: [x[0] @ x[1]],
        "Expand": lambda: [np.broadcast_to(x[0], np.broadcast_shapes(x[0].shape, tuple(x[1])))],
        "Loop": lambda: loop(a, x, around),
        "Scan": lambda: scan(a, x, around),
    }[name]()


def run_graph(graph, ins, around):
    values = dict(around)
    values.update((init.name, numpy_helper.to_array(init)) for init in graph.initializer)
    values.update(zip((value.name for value in graph.input), ins))
    for node in graph.node:
        outs = compute(node, [values[name] if name else None for name in node.input], values)
        values.update((name, np.asarray(out)) for name, out in zip(node.output, outs) if name)
    return [values[out.name] for out in graph.output]


# ---- Models ----

class Value:
    def __init__(self, name, kind, shape):
        self.name, self.kind, self.shape = name, kind, tuple(shape)


class Part:
    """A graph that is being made: what it has computed, and what it may read of the graphs around it."""

    def __init__(self, around=(), ins=(), depth=0):
        self.around, self.own, self.depth = list(around), list(ins), depth
        self.nodes, self.inits = [], []


class Maker:
    def __init__(self, seed):
        self.random, self.number = random.Random(seed), 0
        self.is_open = self.random.random() < 0.5
        self.numbers = np.random.RandomState(seed % 2**32)
        self.makers = [self.binary] * 3 + [
            self.unary, self.clip, self.cast, self.concat, self.reduce, self.gather, self.slice, self.transpose, self.reshape,
            self.where, self.move, self.compare, self.cumsum, self.matmul, self.topk, self.split, self.expand, self.condition]
        self.runners = [self.branch, self.loop, self.scan]

    def name(self):
        self.number += 1
        return f"t{self.number}"

    def some(self, kind, shape):
        return np.asarray(self.numbers.randn(*shape) if kind == "f" else self.numbers.randint(0, 2, size=shape)).astype(
            TYPES[kind][1])

    def constant(self, part, array):
        name = self.name()
        if self.random.random() < 0.5:
            part.inits.append(numpy_helper.from_array(array, name))
        else:
            part.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        return name

    def integers(self, part, *numbers):
        return self.constant(part, np.array(numbers, np.int64))

    def pick(self, values, kinds="fib", fits=lambda value: True):
        found = [value for value in values if value.kind in kinds and fits(value)]
        return self.random.choice(found) if found else None

    def node(self, part, op, ins, kind, shape, **attributes):
        name = self.name()
        part.nodes.append(helper.make_node(op, ins, [name], **attributes))
        return [Value(name, kind, shape)]

    # Each of these takes what there is and returns what it has made, or nothing where nothing fits.

    def binary(self, part, values):
        a = self.pick(values, self.random.choice("fi"))
        if not a:
            return []
        b = self.pick(values, a.kind, lambda value: value.shape in (a.shape, (), (1,)))
        ops = ["Add", "Sub", "Max", "Min"] + (["Mul"] if a.kind == "f" else [])
        ins = [a.name, b.name]
        self.random.shuffle(ins)
        return self.node(part, self.random.choice(ops), ins, a.kind, np.broadcast_shapes(a.shape, b.shape))

    def unary(self, part, values):
        a = self.pick(values, "f")
        return self.node(part, self.random.choice(sorted(UNARY)), [a.name], "f", a.shape) if a else []

    def clip(self, part, values):
        a = self.pick(values, "f")
        if not a:
            return []
        low, high = (self.constant(part, np.float32(x)) for x in (-1.5, 1.5))
        return self.node(part, "Clip", self.random.choice([[a.name, low], [a.name, "", high]]), "f", a.shape)

    def cast(self, part, values):
        a, kind = self.pick(values), self.random.choice("fib")
        return self.node(part, "Cast", [a.name], kind, a.shape, to=TYPES[kind][0])

    def concat(self, part, values):
        a = self.pick(values, fits=lambda value: value.shape)
        if not a:
            return []
        axis = self.random.randrange(len(a.shape))
        rest = [value for value in values if value.kind == a.kind and len(value.shape) == len(a.shape) and all(
            d == axis or value.shape[d] == a.shape[d] for d in range(len(a.shape)))]
        joined = [self.random.choice(rest) for _ in range(self.random.randint(1, 3))]
        shape = list(a.shape)
        shape[axis] = sum(value.shape[axis] for value in joined)
        if shape[axis] > 40:
            return []
        return self.node(part, "Concat", [value.name for value in joined], a.kind, shape,
                         axis=self.random.choice([axis, axis - len(shape)]))

    def reduce(self, part, values):
        a = self.pick(values, "fi", lambda value: value.shape and 0 not in value.shape)
        if not a:
            return []
        axis, keeps = self.random.randrange(len(a.shape)), self.random.randint(0, 1)
        shape = a.shape[:axis] + (1,) * keeps + a.shape[axis + 1:]
        op = self.random.choice(sorted(REDUCED) if a.kind == "f" else ["ReduceMax", "ReduceMin"])
        return self.node(part, op, [a.name], a.kind, shape, axes=[axis], keepdims=keeps)

    def gather(self, part, values):
        a = self.pick(values, fits=lambda value: value.shape and 0 not in value.shape)
        if not a:
            return []
        axis = self.random.randrange(len(a.shape))
        at = self.numbers.randint(-a.shape[axis], a.shape[axis], size=self.random.choice([(), (1,), (2,), (2, 2)]))
        return self.node(part, "Gather", [a.name, self.constant(part, np.asarray(at, np.int64))], a.kind,
                         a.shape[:axis] + np.shape(at) + a.shape[axis + 1:], axis=axis)

    def slice(self, part, values):
        a = self.pick(values, fits=lambda value: value.shape and 0 not in value.shape)
        if not a:
            return []
        axis, step = self.random.randrange(len(a.shape)), self.random.choice([1, 1, 2, -1])
        length = a.shape[axis]
        begin, end = (self.random.randint(-length - 1, length + 1) for _ in range(2))
        shape = list(a.shape)
        shape[axis] = len(positions(length, begin, end, step))
        ins = [self.integers(part, number) for number in (begin, end, axis, step)]
        return self.node(part, "Slice", [a.name, *ins], a.kind, shape)

    def transpose(self, part, values):
        a = self.pick(values, fits=lambda value: len(value.shape) > 1)
        if not a:
            return []
        axes = list(range(len(a.shape)))
        self.random.shuffle(axes)
        return self.node(part, "Transpose", [a.name], a.kind, [a.shape[axis] for axis in axes], perm=axes)

    def reshape(self, part, values):
        a = self.pick(values, fits=lambda value: 0 not in value.shape)
        if not a:
            return []
        if self.random.random() < 0.4:
            axis = self.random.randint(0, len(a.shape))
            return self.node(part, "Unsqueeze", [a.name, self.integers(part, axis)], a.kind,
                             a.shape[:axis] + (1,) + a.shape[axis:])
        count = int(np.prod(a.shape))
        shape = self.random.choice([[count], [1, count], [count, 1]])
        stated = [-1 if size == count and self.random.random() < 0.4 and count > 1 else size for size in shape]
        return self.node(part, "Reshape", [a.name, self.integers(part, *stated)], a.kind, shape)

    def where(self, part, values):
        a = self.pick(values, "fi")
        c = self.pick(values, "b", lambda value: a and value.shape in (a.shape, (), (1,)))
        if not c:
            return []
        b = self.pick(values, a.kind, lambda value: value.shape == a.shape)
        return self.node(part, "Where", [c.name, a.name, b.name], a.kind, np.broadcast_shapes(a.shape, c.shape))

    def move(self, part, values):
        a = self.pick(values)
        if self.random.random() < 0.5 and a.shape:
            return self.node(part, "Shape", [a.name], "i", (len(a.shape),))
        return self.node(part, "Identity", [a.name], a.kind, a.shape)

    def compare(self, part, values):
        a = self.pick(values, "fi")
        if not a:
            return []
        b = self.pick(values, a.kind, lambda value: value.shape == a.shape)
        op = self.random.choice(["Less", "Greater", "Equal", "GreaterOrEqual"])
        return self.node(part, op, [a.name, b.name], "b", a.shape)

    def cumsum(self, part, values):
        a = self.pick(values, "f", lambda value: value.shape)
        if not a:
            return []
        axis = self.constant(part, np.int64(self.random.randrange(len(a.shape))))
        return self.node(part, "CumSum", [a.name, axis], "f", a.shape, exclusive=self.random.randint(0, 1),
                         reverse=self.random.randint(0, 1))

    def matmul(self, part, values):
        a = self.pick(values, "f", lambda value: len(value.shape) == 2)
        if not a:
            return []
        b = self.some("f", (a.shape[1], self.random.randint(1, 4)))
        return self.node(part, "MatMul", [a.name, self.constant(part, b)], "f", (a.shape[0], b.shape[1]))

    def topk(self, part, values):
        a = self.pick(values, "f", lambda value: value.shape and value.shape[-1] > 0)
        if not a:
            return []
        count, name = self.random.randint(1, a.shape[-1]), self.name()
        part.nodes.append(helper.make_node("TopK", [a.name, self.integers(part, count)], [name, self.name()]))
        return [Value(name, "f", a.shape[:-1] + (count,))]

    def split(self, part, values):
        a = self.pick(values, fits=lambda value: value.shape and value.shape[0] > 1)
        if not a:
            return []
        sizes = [self.random.randint(1, a.shape[0] - 1)]
        sizes.append(a.shape[0] - sizes[0])
        outs = [Value(self.name(), a.kind, (size,) + a.shape[1:]) for size in sizes]
        part.nodes.append(helper.make_node("Split", [a.name, self.integers(part, *sizes)], [out.name for out in outs]))
        return outs

    def expand(self, part, values):
        a = self.pick(values, fits=lambda value: len(value.shape) < 3)
        if not a:
            return []
        shape = (2,) + a.shape
        return self.node(part, "Expand", [a.name, self.integers(part, *shape)], a.kind, shape)

    def condition(self, part, values):
        a = self.pick(values, "i", lambda value: value.shape == ())
        return self.node(part, "Less", [a.name, self.constant(part, np.int64(1))], "b", ()) if a else []

    # ---- Graphs ----

    def fill(self, part, count):
        for _ in range(count):
            values = part.own + (part.around if self.random.random() < 0.6 or not part.own else [])
            makers = self.makers + (self.runners * 2 if part.depth < MAX_DEPTH else [])
            made = self.random.choice(makers)(part, values) if values else []
            part.own += [value for value in made if len(value.shape) <= MAX_RANK]

    def inner(self, part, ins, count):
        inside = Part(part.around + part.own, ins, part.depth + 1)
        self.fill(inside, count)
        return inside

    def given(self, part, kind, shape):
        """A value of this kind and shape as an output: of the graph's own, of one around it, or a constant."""
        own = [value for value in part.own if value.kind == kind and value.shape == shape]
        if own and self.random.random() < 0.85:
            return self.random.choice(own[-3:])
        taken = self.pick(part.around, kind, lambda value: value.shape == shape)
        if taken and self.random.random() < 0.5:
            return self.node(part, "Identity", [taken.name], kind, shape)[0]
        name = self.name()
        part.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(self.some(kind, shape))))
        return Value(name, kind, shape)

    def info(self, value):
        stated = self.random.choice(["none", "some"] + (["all"] if not self.is_open else []))
        shape = {"all": list(value.shape), "none": None,
                 "some": [size if self.random.random() < 0.5 and not self.is_open else f"{value.name}_{axis}"
                          for axis, size in enumerate(value.shape)]}
        return helper.make_tensor_value_info(value.name, TYPES[value.kind][0], shape[stated])

    def graph(self, part, ins, outs):
        return helper.make_graph(part.nodes, "inner", [self.info(value) for value in ins], [self.info(value) for value in outs],
                                 part.inits)

    def outputs(self, part, op, ins, shapes, **attributes):
        outs = [Value(self.name(), kind, shape) for kind, shape in shapes]
        part.nodes.append(helper.make_node(op, ins, [out.name for out in outs], **attributes))
        return outs

    def branch(self, part, values):
        taken = self.pick(values, "b", lambda value: value.shape in ((), (1,)))
        cond = taken.name if taken else self.constant(part, np.bool_(self.random.random() < 0.5))
        one, other = (self.inner(part, [], self.random.randint(0, 5)) for _ in range(2))
        if not one.own:
            return []
        outs = [self.random.choice(one.own[-4:]) for _ in range(self.random.randint(1, 3))]
        graphs = [self.graph(one, [], outs),
                  self.graph(other, [], [self.given(other, out.kind, out.shape) for out in outs])]
        self.random.shuffle(graphs)
        return self.outputs(part, "If", [cond], [(out.kind, out.shape) for out in outs], then_branch=graphs[0],
                            else_branch=graphs[1])

    def loop(self, part, values):
        states = [self.pick(values) for _ in range(self.random.randint(0, 3))]
        ins = [Value(self.name(), value.kind, value.shape) for value in states]
        trip, goes_on = Value(self.name(), "i", ()), Value(self.name(), "b", ())
        body = self.inner(part, [trip, goes_on] + ins, self.random.randint(1, 6))
        count, has_cond = self.random.randint(0, 4), self.random.random() < 0.5
        ends_early = has_cond and self.random.random() < 0.5
        until = goes_on
        if ends_early:
            until = self.node(body, "Less", [trip.name, self.constant(body, np.int64(self.random.randint(0, 4)))], "b", ())[0]
        outs = [until] + [self.given(body, value.kind, value.shape) for value in ins]
        stacked = []
        if count and not ends_early:
            stacked = [self.random.choice((outs[1:] or body.own) if self.random.random() < 0.3 else body.own[-5:])
                       for _ in range(self.random.randint(0, 2))]
        if not ins and not stacked:
            return []
        body_graph = self.graph(body, [trip, goes_on] + ins, outs + stacked)
        names = [self.constant(part, np.int64(count)), self.constant(part, np.bool_(True)) if has_cond else ""]
        return self.outputs(part, "Loop", names + [value.name for value in states],
                            [(value.kind, value.shape) for value in ins] +
                            [(value.kind, (count,) + value.shape) for value in stacked], body=body_graph)

    def scan(self, part, values):
        has_axes = self.random.random() < 0.5
        first = self.pick(values, fits=lambda value: any(value.shape if has_axes else value.shape[:1]))
        if not first:
            return []
        length = self.random.choice([dim for dim in (first.shape if has_axes else first.shape[:1]) if dim])
        items = [first] + [self.pick(values, fits=lambda value: length in (value.shape if has_axes else value.shape[:1]))
                           for _ in range(self.random.randint(0, 1))]
        axes = [self.random.choice([axis for axis, dim in enumerate(item.shape) if dim == length]) if has_axes else 0
                for item in items]
        states = [self.pick(values) for _ in range(self.random.randint(0, 2))]
        ins = [Value(self.name(), value.kind, value.shape) for value in states]
        rows = [Value(self.name(), value.kind, value.shape[:axis] + value.shape[axis + 1:])
                for value, axis in zip(items, axes)]
        body = self.inner(part, ins + rows, self.random.randint(1, 5))
        outs = [self.given(body, value.kind, value.shape) for value in ins]
        stacked = [self.random.choice(body.own[-5:]) for _ in range(self.random.randint(0 if ins else 1, 3))]
        ways, axes_out = {}, [self.random.randint(0, len(value.shape)) if has_axes else 0 for value in stacked]
        if has_axes:
            ways["scan_input_axes"] = [axis - len(item.shape) * self.random.randint(0, 1) for axis, item in zip(axes, items)]
            if stacked:
                ways["scan_output_axes"] = [axis - (len(value.shape) + 1) * self.random.randint(0, 1)
                                            for axis, value in zip(axes_out, stacked)]
        if self.random.random() < 0.4:
            ways["scan_input_directions"] = [self.random.randint(0, 1) for _ in items]
        if self.random.random() < 0.4 and stacked:
            ways["scan_output_directions"] = [self.random.randint(0, 1) for _ in stacked]
        body_graph = self.graph(body, ins + rows, outs + stacked)
        return self.outputs(part, "Scan", [value.name for value in states + items],
                            [(value.kind, value.shape) for value in ins] +
                            [(value.kind, value.shape[:axis] + (length,) + value.shape[axis:])
                             for value, axis in zip(stacked, axes_out)],
                            body=body_graph, num_scan_inputs=len(items), **ways)

    def model(self):
        """The model, what it is given, the names of its outputs, and what else it may be given; None where nothing
        was made."""
        shapes = [(3,), (2, 3), (3, 2), (), (1,), (4,)]
        ins = [Value(f"in{i}", self.random.choice("ffib"), self.random.choice(shapes))
               for i in range(self.random.randint(2, 4))]
        part = Part(ins=ins)
        self.fill(part, self.random.randint(4, 10))
        made = part.own[len(ins):]
        if not made:
            return None
        outs = list({value.name: value for value in [self.random.choice(made) for _ in range(4)] + made[-2:]}.values())
        open_axes = {(value.name, axis) for value in ins for axis in range(len(value.shape))
                     if self.is_open and self.random.random() < 0.6}
        stated = [helper.make_tensor_value_info(value.name, TYPES[value.kind][0], [
            f"{value.name}_{axis}" if (value.name, axis) in open_axes else size for axis, size in enumerate(value.shape)])
            for value in ins]
        graph = helper.make_graph(part.nodes, "g", stated, [
            helper.make_tensor_value_info(value.name, TYPES[value.kind][0], None) for value in outs], part.inits)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        feeds = [{value.name: self.some(value.kind, value.shape) for value in ins}]
        for _ in range(3 if open_axes else 0):
            size = self.random.randint(1, 5)
            feeds.append({value.name: self.some(value.kind, [
                size if (value.name, axis) in open_axes else old for axis, old in enumerate(value.shape)]) for value in ins})
        return model, feeds + feeds[:1], [value.name for value in outs]


# ---- Held against each other ----

def ways_of(data, folder):
    yield "cpu", data, {}
    yield "ref", data, {"target": "ref"}
    yield "as read", data, {"as_read": True}
    source = os.path.join(folder, "in.onnx")
    with open(source, "wb") as file:
        file.write(data)
    for ending in "net", "json", "onnx":
        path = os.path.join(folder, f"again.{ending}")
        yield ending, path, {"weights": lightnetrt.convert(source, path)}


def difference(expected, got):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"is {got.dtype} {got.shape}, not {expected.dtype} {expected.shape}"
    if not np.allclose(got.astype(float), expected.astype(float), rtol=2e-4, atol=2e-5, equal_nan=True):
        return f"is {got.ravel()[:6]}, not {expected.ravel()[:6]}"
    return None


def expected_of(model, feeds, names):
    """What NumPy computes, or None where these sizes do not fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's of the mean of nothing, which is NaN
        try:
            return dict(zip(names, run_graph(model.graph, [feeds[value.name] for value in model.graph.input], {})))
        except (ValueError, IndexError):
            return None


def failure(made, folder):
    """What differs first, or None."""
    way, run = "read", 0
    model, all_feeds, names = made
    wanted = [(feeds, expected_of(model, feeds, names)) for feeds in all_feeds]
    try:
        for way, source, options in ways_of(model.SerializeToString(), folder):
            with lightnetrt.load(source, **options) as loaded:
                for run, (feeds, expected) in enumerate(wanted):
                    if expected is None:
                        continue
                    results = loaded.run(feeds)
                    for name in names:
                        found = difference(expected[name], np.asarray(results[name]))
                        if found:
                            return f"{way}, run {run}: {name} {found}"
    except lightnetrt.Error as error:
        return f"{way}, run {run}: {type(error).__name__}: {error}"
    return None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    warnings.simplefilter("error")
    tried = failed = 0
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for number in range(seed, seed + count):
            made = Maker(number).model()
            if not made:
                continue
            tried += 1
            found = failure(made, folder)
            if found:
                failed += 1
                print(f"model {number}: {found}")
    print(f"{tried} models, {failed} failures")
    return 1 if failed or tried < count // 2 else 0


sys.exit(main())
