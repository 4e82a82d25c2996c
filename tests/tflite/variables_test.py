#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of variables in IF, WHILE and composites: LightNet against an interpreter here, run after run.

Usage: variables_test.py FOLDER-OF-THE-COMMANDS [SEED]
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tflite_file as tf

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")
FIRST = {"v0": 5, "v1": 17, "v2": 100, "v3": 1}  # values before the first run; v4 has none
MODULUS = 1009


# ---- The interpreter ----

def interpret(graphs, index, args, variables):
    tensors, ops, ins, outs = graphs[index]
    values = {t["name"]: int(t["data"]) for t in tensors if t["data"] is not None}
    values.update(zip(ins, args))
    for op, names, results, options in ops:
        given = [values.get(n) for n in names]
        made = []
        if op in ("ADD", "SUB", "FLOOR_MOD", "LESS"):
            a, b = given
            made = [{"ADD": a + b, "SUB": a - b, "FLOOR_MOD": a % b if b else 0, "LESS": int(a < b)}[op]]
        elif op == "VAR_HANDLE":
            made = [options["name"]]
        elif op == "READ_VARIABLE":
            made = [variables[given[0]]]
        elif op == "ASSIGN_VARIABLE":
            variables[given[0]] = given[1]
        elif op == "CALL_ONCE":
            pass
        elif op == "STABLEHLO_COMPOSITE":
            made = interpret(graphs, options["subgraph"], given, variables)
        elif op == "IF":
            made = interpret(graphs, options["then" if given[0] else "else"], given[1:], variables)
        else:
            made = given
            while interpret(graphs, options["cond"], made, variables)[0]:
                made = interpret(graphs, options["body"], made, variables)
        values.update(zip(results, made))
    return [values[n] for n in outs]


# ---- The programs ----

class Graph:
    """Subgraph `index` of the file, whose operators are made one after the other."""

    def __init__(self, program, ints=(), handles=()):
        self.program, self.ops, self.serial = program, [], 0
        self.index = len(program.graphs)
        program.graphs.append(None)
        self.values, self.handles = list(ints), dict(handles)  # names of numbers; of handles -> of variables
        self.tensors = [tf.tensor(n, "int32") for n in self.values] + [tf.tensor(n, "resource") for n in self.handles]
        self.ins = [*self.values, *self.handles]

    def name(self, dtype="int32"):
        self.serial += 1
        self.tensors.append(tf.tensor(f"t{self.serial}", dtype))
        return self.tensors[-1]["name"]

    def constant(self, value):
        self.serial += 1
        self.tensors.append(tf.constant(f"k{self.serial}", np.int32(value)))
        return self.tensors[-1]["name"]

    def op(self, kind, ins, options=None, dtype="int32"):
        out = self.name(dtype)
        self.ops.append((kind, ins, [out], options))
        return out

    def any(self):
        return self.program.draw.choice(self.values)

    def handle(self):
        """One that came in, or that is made here."""
        draw = self.program.draw
        if self.handles and draw.random() < 0.6:
            return draw.choice(list(self.handles))
        variable = draw.choice(self.program.known)
        handle = self.op("VAR_HANDLE", [], {"name": variable}, "resource")
        self.handles[handle] = variable
        return handle

    def read(self):
        self.values.append(self.op("READ_VARIABLE", [self.handle()]))

    def assign(self):
        self.ops.append(("ASSIGN_VARIABLE", [self.handle(), self.any()], [], None))

    def compute(self):
        both = [self.any(), self.any() if self.program.draw.random() < 0.7 else self.constant(self.program.draw.randrange(50))]
        x = self.op(self.program.draw.choice(["ADD", "SUB"]), both, {"act": 0})
        self.values.append(self.op("FLOOR_MOD", [x, self.constant(MODULUS)]))

    def operands(self):
        """Numbers, and handles, of another graph."""
        draw = self.program.draw
        ints = [self.any() for _ in range(draw.randint(1, 3))]
        handles = draw.sample(list(self.handles), draw.randint(0, min(2, len(self.handles))))
        return ints, handles

    def inner(self, ints, handles):
        return Graph(self.program, [f"a{i}" for i in range(len(ints))], [(f"h{i}", self.handles[h]) for i, h in enumerate(handles)])

    def fill(self, depth):
        for _ in range(self.program.draw.randint(1, 5)):
            kinds = [self.read, self.read, self.assign, self.assign, self.compute]
            kinds += [self.branch, self.loop, self.composite] * (depth > 0)
            kind = self.program.draw.choice(kinds)
            kind(depth - 1) if kind in (self.branch, self.loop, self.composite) else kind()

    def end(self, outs):
        self.program.graphs[self.index] = (self.tensors, self.ops, self.ins, outs)
        return self.index

    def results(self, handles, kind, ins, options, count):
        """Of an operator that runs others: `count` numbers, then `handles`."""
        outs = [self.name() for _ in range(count)]
        for h in handles:
            out = self.name("resource")
            outs.append(out)
            self.handles[out] = self.handles[h]
        self.ops.append((kind, ins, outs, options))
        self.values += outs[:count]

    def branch(self, depth):
        ints, handles = self.operands()
        count, passed = self.program.draw.randint(1, 2), handles if self.program.draw.random() < 0.5 else []
        flag = self.op("LESS", [self.any(), self.any()], dtype="bool")
        branches = {}
        for word in ("then", "else"):
            g = self.inner(ints, handles)
            g.fill(depth)
            branches[word] = g.end([g.any() for _ in range(count)] + g.ins[len(ints):][:len(passed)])
        self.results(passed, "IF", [flag, *ints, *handles], branches, count)

    def composite(self, depth):
        ints, handles = self.operands()
        count, passed = self.program.draw.randint(1, 2), handles if self.program.draw.random() < 0.5 else []
        g = self.inner(ints, handles)
        g.fill(depth)
        index = g.end([g.any() for _ in range(count)] + g.ins[len(ints):][:len(passed)])
        self.results(passed, "STABLEHLO_COMPOSITE", [*ints, *handles], {"name": "part", "subgraph": index}, count)

    def loop(self, depth):
        """At most 4 passes, whose number a variable may decide."""
        draw = self.program.draw
        ints, handles = self.operands()
        ints = [self.constant(0), *ints]
        cond = self.inner(ints, handles)
        limit = cond.constant(draw.randrange(4))
        if draw.random() < 0.5:
            cond.read()
            limit = cond.op("FLOOR_MOD", [cond.values[-1], cond.constant(4)])
        if draw.random() < 0.2:
            cond.assign()
        of_cond = cond.end([cond.op("LESS", ["a0", limit], dtype="bool")])
        body = self.inner(ints, handles)
        body.fill(depth)
        counted = body.op("ADD", ["a0", body.constant(1)], {"act": 0})
        of_body = body.end([counted, *(body.any() for _ in ints[1:]), *body.ins[len(ints):]])
        self.results(handles, "WHILE", [*ints, *handles], {"cond": of_cond, "body": of_body}, len(ints))


class Program:
    def __init__(self, seed):
        self.draw, self.graphs, self.known = random.Random(seed), [], list(FIRST)
        main = Graph(self, ["x", "z"])
        once = Graph(self)
        for variable, value in FIRST.items():
            handle = once.op("VAR_HANDLE", [], {"name": variable}, "resource")
            once.ops.append(("ASSIGN_VARIABLE", [handle, once.constant(value)], [], None))
        main.ops.append(("CALL_ONCE", [], [], {"subgraph": once.end([])}))
        if self.draw.random() < 0.5:  # one that each run assigns before it reads
            self.known.append("v4")
            handle = main.op("VAR_HANDLE", [], {"name": "v4"}, "resource")
            main.handles[handle] = "v4"
            main.ops.append(("ASSIGN_VARIABLE", [handle, main.any()], [], None))
        main.fill(2)
        self.draw.choice([main.branch, main.loop, main.composite])(2)
        main.read()
        self.outs = list(dict.fromkeys([main.values[-1], main.any(), main.values[-2]]))
        self.outs = [n for n in self.outs if n not in ("x", "z")]
        main.end(self.outs)

    def file(self):
        return tf.model(*self.graphs[0], self.graphs[1:])


def command(*args):
    done = subprocess.run([LIGHTNET, *args], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def check(program, how, model):
    """Three runs, each of which goes on with the variables of the one before."""
    variables = dict(FIRST)
    read = re.findall(r"^default +(\w+)", command("inspect", model), re.M)  # ONNX has no constants that nothing reads
    given = {}
    for x, z in ((3, 40), (700, -12), (0, 9)):
        want = interpret(program.graphs, 0, [x, z], variables)
        args = ["run", model, *how, "-o", "out"]
        for name, value in {"x": x, "z": z, **{v: given[v] for v in given if v in read}}.items():
            np.save(f"{name}.npy", np.int32(value))
            args += ["-i", f"{name}={name}.npy"]
        for old in pathlib.Path("out").glob("*.npy"):
            old.unlink()
        command(*args)
        got = {path.stem: int(np.load(path)) for path in pathlib.Path("out").glob("*.npy")}
        assert [got[n] for n in program.outs] == want, (args, got, want)
        for variable in FIRST:
            if f"{variable}_next" in got:
                assert got[f"{variable}_next"] == variables[variable], (args, got, variables)
                given[variable] = variables[variable]
            else:
                assert variables[variable] == FIRST[variable], (args, variable, variables)
        assert "v4_next" not in got


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = {}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for i in range(seed, seed + 20):
            program = Program(i)
            pathlib.Path("m.tflite").write_bytes(program.file())
            try:
                command("convert", "m.tflite", "-o", "m.onnx")
                for how, model in ((["-t", "ref", "--rules=none"], "m.tflite"), (["-t", "cpu"], "m.tflite"), (["-t", "cpu"], "m.onnx")):
                    check(program, how, model)
            except AssertionError as error:
                raise SystemExit(f"seed {i}: {error}") from error
            for _, ops, _, _ in program.graphs[2:]:
                for op in ops:
                    counts[op[0]] = counts.get(op[0], 0) + 1
    print("in subgraphs:", *(f"{count} {op}" for op, count in sorted(counts.items())))
    assert all(counts.get(op, 0) > 10 for op in ("READ_VARIABLE", "ASSIGN_VARIABLE", "VAR_HANDLE", "IF", "WHILE", "STABLEHLO_COMPOSITE"))


if __name__ == "__main__":
    main()
