#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators on integers: LightNet against fixed_recurrent.py, to the bit.

Usage: recurrent_test.py FOLDER-OF-THE-COMMANDS [-k WORD]
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fixed_recurrent as fixed
import tflite_file as tf
from cases_test import Given, Grid, Quant, Variable, case, integers, verify

RNG = np.random.default_rng(12)


def zeros(shape, dtype, scale, zero=0):
    """What a variable is before the first run."""
    return Quant(np.full(shape, zero, dtype), scale, zero)


def as_variable(state):
    return Variable(*state.values.shape, dtype=state.values.dtype.name, scale=state.scale, zero=state.zero)


def random(dtype, *shape, scale, zero=0, run=False, low=None, high=None):
    info = np.iinfo(dtype)
    values = RNG.integers(info.min if low is None else low, info.max if high is None else high, shape, dtype, endpoint=True)
    return Quant(values, scale, zero, run=run)


def lstm_operands(dtype, x, units, hidden, cell, weight=0.0123):
    """Weights of each gate have a scale of their own."""
    inputs = x.values.shape[-1]
    w = [random("int8", units, inputs, scale=weight * (1 + k / 7), low=-127) for k in range(4)]
    r = [random("int8", units, units, scale=weight * (1 - k / 9), low=-127) for k in range(4)]
    bias = [random("int64" if dtype == "int16" else "int32", units, scale=x.scale * w[k].scale, low=-2000, high=2000) for k in range(4)]
    return [x, *w, *r, None, None, None, *bias, None, None, hidden, cell]


def add_lstm(dtype):
    x_scale, h_scale = (0.0123, 0.0071) if dtype == "int8" else (0.0123 / 256, 0.0071 / 256)
    x_zero, h_zero = (-7, 3) if dtype == "int8" else (0, 0)
    for why, cell_scale, clip, shape, is_major, weight in (
            ("2^-11", 2**-11, 0.0, (2, 5, 3), 0, 0.0123), ("2^-15 of time", 2**-15, 0.0, (5, 2, 3), 1, 0.0123), ("2^-9 of one step", 2**-9, 0.0, (3, 1, 9), 0, 0.031),
            ("2^-12 with a limit", 2**-12, 0.37, (2, 6, 3), 0, 0.031), ("2^-12 with a limit of many", 2**-12, 100.0, (1, 4, 3), 0, 0.0123),
            ("2^-13 of one row", 2**-13, 0.0, (1, 6, 20), 0, 0.0041), ("near 2^-11", 2**-11 * 1.0003, 0.0, (2, 5, 3), 0, 0.0123)):
        x = random(dtype, *shape, scale=x_scale, zero=x_zero, run=True)
        batch, units = shape[is_major], 7
        o = {"act": 4, "cell_clip": clip, "time_major": is_major}
        out = Grid(dtype, h_scale, h_zero)
        hidden, cell = zeros((batch, units), dtype, h_scale, h_zero), zeros((batch, units), "int16", cell_scale)
        ins = lstm_operands(dtype, x, units, hidden, cell, weight)
        want = fixed.lstm(ins, o)[0]
        assert np.unique(want).size > 9
        case(f"{dtype} {why}", "UNIDIRECTIONAL_SEQUENCE_LSTM", ins[:18] + [as_variable(hidden), as_variable(cell)], o, Given(want, out.scale, out.zero))
        # States that come from elsewhere, with all numbers that they may have.
        hidden, cell = random(dtype, batch, units, scale=h_scale, zero=h_zero, run=True), random("int16", batch, units, scale=cell_scale, run=True)
        cell.values[0, :2] = -2**15, 2**15 - 1
        ins[18:] = hidden, cell
        case(f"{dtype} {why} from states", "UNIDIRECTIONAL_SEQUENCE_LSTM", ins, o, Given(fixed.lstm(ins, o)[0], out.scale, out.zero))
    # Weights of numbers so large that sums of 16 bits saturate.
    x = random(dtype, 2, 4, 40, scale=x_scale, zero=x_zero, run=True)
    ins = lstm_operands(dtype, x, 5, zeros((2, 5), dtype, h_scale, h_zero), zeros((2, 5), "int16", 2**-12), 0.31)
    case(f"{dtype} saturated", "UNIDIRECTIONAL_SEQUENCE_LSTM", ins[:18] + [as_variable(ins[18]), as_variable(ins[19])], {"act": 4},
         Given(fixed.lstm(ins, {})[0], h_scale, h_zero))


def svdf_operands(of_state, rank, steps, zero=0, has_bias=True):
    x = random("int8", 3, 10, scale=0.0123, zero=-7, run=True)
    features = random("int8", 8, 10, scale=0.0071, low=-127)
    state_scale = 0.00031 if of_state == "int16" else 0.031
    time = random(of_state, 8, steps, scale=0.0019 if of_state == "int8" else 0.0019 / 16, low=-100 if of_state == "int8" else -2000, high=100 if of_state == "int8" else 2000)
    bias = random("int32", 8 // rank, scale=0.0019 * state_scale, low=-40000, high=40000) if has_bias else None
    return [x, features, time, bias, zeros((3, 8 * steps), of_state, state_scale, zero)]


def add_svdf():
    for of_state, rank, steps, zero, has_bias, act in (("int16", 1, 5, 0, True, 1), ("int16", 2, 7, 0, False, 0), ("int16", 4, 1, 0, True, 1),
                                                       ("int8", 2, 5, 0, True, 1), ("int8", 1, 3, 9, False, 1)):
        ins = svdf_operands(of_state, rank, steps, zero, has_bias)
        for out in (Grid("int8", 0.0041, -128), Grid("int8", 0.00071, 5)):
            o, why = {"rank": rank, "act": act}, f"{of_state} rank {rank} of {steps} zero {zero} to {out.scale}"
            case(why, "SVDF", ins[:4] + [as_variable(ins[4])], o, Given(fixed.svdf(ins, o, out)[0], out.scale, out.zero))
            state = random(of_state, *ins[4].values.shape, scale=ins[4].scale, zero=zero, run=True)
            given = ins[:4] + [state]
            case(why + " from a state", "SVDF", given, o, Given(fixed.svdf(given, o, out)[0], out.scale, out.zero))


# ---- Numbers that are halfway between two integers where scales are multiplied and divided as floats, and are not as doubles ----

def product_pair(product):
    """Two scales whose product in float is this one, and less in double."""
    while True:
        a = np.float32(RNG.uniform(0.1, 1))
        b = np.float32(product / a)
        if a * b == np.float32(product) and np.float64(a) * np.float64(b) < product:
            return float(a), float(b)


def divisor(x, quotient):
    """A scale that x divided by is this quotient in float, and less in double."""
    at = np.float32(x / quotient)
    for _ in range(9):
        if np.float32(x) / at == np.float32(quotient) and np.float64(np.float32(x)) / np.float64(at) < quotient:
            return float(at)
        at = np.nextafter(at, np.float32(np.inf))
    return None


def halfway_lstm():
    x_scale, weight = product_pair(2.0**-13)
    x = random("int8", 2, 6, 3, scale=x_scale, zero=-7)
    ins = lstm_operands("int8", x, 4, zeros((2, 4), "int8", 0.0071, 3), zeros((2, 4), "int16", 2**-15))
    for k in range(1, 5):
        ins[k].scale, ins[k].values = weight, RNG.integers(-9, 10, ins[k].values.shape, "i1")
        ins[k + 4].values, ins[k + 11].values = ins[k + 4].values // 16, ins[k + 11].values // 16
    return ins


def halfway_svdf():
    while True:
        state, out = np.float32(RNG.uniform(0.1, 1)), None
        w = next((float(w) for w in (np.float32(0.75 * state), np.nextafter(np.float32(0.75 * state), np.float32(0)))
                  if w / state == np.float32(0.75) and np.float64(w) / np.float64(state) < 0.75), None)
        out = divisor(np.float32(state * np.float32(2.0**-9)), 0.75)
        if w and out:
            break
    ins = svdf_operands("int16", 2, 4)
    ins[0].scale, ins[1].scale, ins[2].scale, ins[4].scale = 0.5, 2 * w, 2.0**-9, float(state)
    ins[1].values, ins[2].values, ins[3].values = (RNG.integers(-2, 3, ins[i].values.shape, ins[i].values.dtype) for i in (1, 2, 3))
    return ins, Grid("int8", out, -20)


# ---- What is kept ----

def model_of(op, ins, options, y, states):
    """Inputs and states by name, constants of the others."""
    tensors, names = [], []
    for i, value in enumerate(ins):
        name = states.get(i, f"in{i}")
        names.append(name if value is not None else None)
        if value is not None:
            is_const = i > 0 and i not in states
            tensors.append(tf.tensor(name, value.values.dtype.name, value.values.shape, value.values if is_const else None, scale=value.scale,
                                     zero=value.zero, variable=i in states))
    tensors.append(tf.tensor("y", y.dtype, ins[0].values.shape[:-1] + (y.width,), scale=y.scale, zero=y.zero))
    return tf.model(tensors, [(op, names, ["y"], options)], ["in0"], ["y"])


def run(folder, work, model, inputs):
    (work / "m.tflite").write_bytes(model)
    args = []
    for name, array in inputs.items():
        np.save(work / f"{name}.npy", array)
        args += ["-i", f"{name}={work / name}.npy"]
    subprocess.run([folder / "lightnet", "run", work / "m.tflite", *args, "-o", work / "out"], check=True, capture_output=True, timeout=60)
    return {file.stem: np.load(file) for file in (work / "out").glob("*.npy")}


def check_runs(folder, why, ins, states, options, out, values, reference):
    """Run after run, each with the states of the one before."""
    given, failed = {}, 0
    with tempfile.TemporaryDirectory() as name:
        for x in values:
            ins[0] = Quant(x, ins[0].scale, ins[0].zero)
            got = run(folder, pathlib.Path(name), model_of(why, ins, options, out, states), {"in0": x, **given})
            want = dict(zip(["y"] + [f"{state}_next" for state in states.values()], reference(ins)))
            failed += any(got[key].dtype != want[key].dtype or not np.array_equal(got[key], want[key]) for key in want)
            for i, state in states.items():
                ins[i] = Quant(want[f"{state}_next"], ins[i].scale, ins[i].zero)
                given[state] = want[f"{state}_next"]
    print(why, "run after run:", "WRONG" if failed else "right")
    return failed


def check_kept(folder):
    x = random("int8", 2, 6, 3, scale=0.0123, zero=-7)
    ins = lstm_operands("int8", x, 4, zeros((2, 4), "int8", 0.0071, 3), zeros((2, 4), "int16", 2**-11))
    out = Grid("int8", 0.0071, 3)
    out.width = 4
    failed = 0
    for ins in (ins, halfway_lstm()):
        x = ins[0]
        failed += check_runs(folder, "UNIDIRECTIONAL_SEQUENCE_LSTM", ins, {18: "h", 19: "c"}, {"act": 4}, out, [x.values[:, :2], x.values[:, 2:3], x.values[:, 3:]],
                             lambda ins: fixed.lstm(ins, {}))
    for ins, out in ((svdf_operands("int16", 2, 4), Grid("int8", 0.0021, -20)), (svdf_operands("int8", 2, 4, 9), Grid("int8", 0.0021, -20)), halfway_svdf()):
        out.width = 4
        failed += check_runs(folder, "SVDF", ins, {4: "s"}, {"rank": 2, "act": 1}, out, [integers("int8", 3, 10) for _ in range(6)],
                             lambda ins: fixed.svdf(ins, {"rank": 2}, out))
    return failed


# ---- What is refused ----

def check_refused(folder):
    x = random("int8", 2, 4, 3, scale=0.0123, zero=-7)
    ins = lstm_operands("int8", x, 4, zeros((2, 4), "int8", 0.0071, 3), zeros((2, 4), "int16", 2**-11))
    row = svdf_operands("int16", 2, 4)
    out = Grid("int8", 0.0071, 3)
    out.width = 4

    def but(operands, **changed):
        return [changed.get(f"i{i}", value) for i, value in enumerate(operands)]

    wide, per_row, moved = (Quant(ins[2].values, scale, zero) for scale, zero in ((0.1, 0), ([0.1] * 4, [0] * 4), (0.1, 5)))
    wide.values = ins[2].values.astype("i2")
    lstm, failed = "UNIDIRECTIONAL_SEQUENCE_LSTM", 0
    for op, operands, options, words in (
            (lstm, but(ins, i1=None), {"act": 4}, "coupled gates on integers"), (lstm, ins, {"act": 1}, "the activation 1 of a gate"),
            (lstm, but(ins, i10=ins[12]), {"act": 4}, "peepholes on integers"), (lstm, but(ins, i16=ins[2]), {"act": 4}, "a projection on integers"),
            (lstm, but(ins, i2=wide), {"act": 4}, "'in2' is no matrix of int8 with one scale and no zero point"),
            (lstm, but(ins, i2=per_row), {"act": 4}, "'in2' is no matrix of int8 with one scale"), (lstm, but(ins, i2=moved), {"act": 4}, "no zero point"),
            (lstm, but(ins, i6=random("int8", 5, 4, scale=0.1)), {"act": 4}, "'in6' has 5 rows in place of 4"),
            (lstm, but(ins, i13=Quant(ins[13].values.astype("i8"), 0.1)), {"act": 4}, "the bias 'in13' is of INT64, not of int32"),
            (lstm, but(ins, i19=zeros((2, 4), "int16", 2**-11, 3)), {"act": 4}, "'c' is no matrix of int16"),
            (lstm, but(ins, i19=zeros((2, 4), "int16", 0.0007)), {"act": 4}, "it needs a table for the scale 0.0007, which is no power of two"),
            (lstm, but(ins, i0=random("int8", 2, 513, 3, scale=0.0123)), {"act": 4}, "has 513 steps of 2 rows; 1 to 512 are read"),
            ("SVDF", but(row, i1=Quant(row[1].values, 0.1, 5)), {"rank": 2, "act": 1}, "'in1' is no matrix of int8"),
            ("SVDF", but(row, i4=zeros((3, 32), "int8", 0.1)), {"rank": 2, "act": 1}, "'s' is no matrix of int16"),
            ("SVDF", row, {"rank": 2, "act": 4}, "the fused activation 4 is not read on integers"), ("SVDF", row, {"rank": 3, "act": 1}, "it has rank 3"),
            ("SVDF", but(row, i0=random("int16", 3, 10, scale=0.1)), {"rank": 2, "act": 1}, "only float32 and int8 are read")):
        out.dtype = operands[0].values.dtype.name
        with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
            file.write(model_of(op, operands, options, out, {18: "h", 19: "c"} if op == lstm else {4: "s"}))
            file.flush()
            done = subprocess.run([folder / "lightnet", "run", "--zero", file.name], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 1 or words not in done.stderr:
            print(op, words, "WRONG:", done.returncode, done.stderr)
            failed += 1
    return failed


def main():
    for dtype in ("int8", "int16"):
        add_lstm(dtype)
    add_svdf()
    folder, word = pathlib.Path(sys.argv[1]).resolve(), sys.argv[3] if sys.argv[2:3] == ["-k"] else ""
    failed = verify(folder, word) + check_kept(folder) + check_refused(folder)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
