#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Same bits everywhere: each model has one hash of its outputs on `cpu`, whatever the instruction
set, the number of threads and the batch.

    hashes.py fast      some models in small: 1 and 2 threads, batch 1 and 3; one of them also on
                        numbers at the ends of what floats are
    hashes.py full      all models in small, and ONNX models that are beside the checkout: 1, 2 and 4
                        threads, batch 1 and 3
    hashes.py large     the models of the zoo as they are, once

    --isa=ISA           on this instruction set; exit 77, skipped, if the machine lacks it. Without it,
                        on each that the machine has; the others are named
    --write             writes what is found into hashes.txt, after a change that is meant to change
                        bits; nothing else may differ
    --build=DIR         where `lightnet` is, and room for scratch files (default: build)

Batch 3 is compared row by row: row k is what a run on that row alone gives. A NaN is a NaN: its sign
and payload, which docs/cpu.md leaves open, do not go into a hash. hashes.txt holds what
other machines have found, so that they are compared too. Weights are drawn by `lightnet genwts`,
inputs here, both in integers. Exit 77, skipped, without numpy.
"""
import argparse
import hashlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing of a test goes into the source tree
import zoo  # exits with 77 without numpy
import numpy as np
import oracle

HERE = pathlib.Path(__file__).resolve().parent
STORED = HERE / "hashes.txt"
ONNX = zoo.ROOT.parent / "shared/conformance/models"
ISAS = ("avx512", "avx2", "neon", "generic")
ROWS = 3

OWN = ("encoder", "excite", "recurrent")  # beside this file, with weights of their own
ODD = "odd"  # likewise; on odd numbers
FAST = (*OWN, "squeezenet1_1", "mobilenet_v2", "shufflenet_v2_x0_5", "resnet18")
# Detectors decode the boxes of one picture, and time comes before the batch in what is recurrent.
ONE_PICTURE = {"recurrent", "yolov3", "yolov3_tiny", "squeezedet", "squeezedet_dac", "shuffledet",
               "shuffledet_no_bn", "shuffledet_dac"}
CONFORMANCE = ("super-resolution-10", "ultraface-RFB-320", "fastestdet", "yunet-n-320",
               "silero-vad-16k-op15", "yolox-nano-80", "ppocr-v3-det-ch", "vit-tracker",
               "mp-selfie-seg-landscape", "mnist-8")


# ---- Numbers ----

def random_bits(count, seed):
    """Numbers of 64 bits: SplitMix64."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(
            0x9e3779b97f4a7c15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
        return z ^ (z >> np.uint64(31))


def draw(dims, dtype, seed):
    bits = random_bits(int(np.prod(dims, dtype=np.int64)), seed).reshape(dims)
    if dtype == "TL_UINT8":
        return (bits >> np.uint64(56)).astype(np.uint8)
    if dtype != "TL_FLOAT":
        raise zoo.Failure(f"inputs of {dtype} are not drawn")
    return ((bits >> np.uint64(40)).astype(np.float64) * 2.0**-23 - 1).astype(np.float32)


def draw_odd(dims, seed):
    """As `draw`, but one in 16 is NaN of either sign and with a payload, infinite, denormal, -0, or huge."""
    odd = np.array([0x7fc00000, 0xffc00000, 0x7f800001, 0xffd23456, 0x7f800000, 0xff800000, 0x80000000, 0x00000001,
                    0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7e967699, 0x0da24260],
                   dtype=np.uint32)
    bits = random_bits(int(np.prod(dims)), seed + 1000).reshape(dims)
    floats = draw(dims, "TL_FLOAT", seed)
    # Most of the image has finite numbers only, or little else than NaN would come out.
    where = (bits % np.uint64(16) == 0) & ((bits >> np.uint64(8)) % np.uint64(4) == 0)
    which = ((bits >> np.uint64(16)) % np.uint64(len(odd))).astype(np.int64)
    which[..., dims[-1] // 2:] = 6 + which[..., dims[-1] // 2:] % 6  # to the right, tiny ones
    return np.where(where, odd[which], floats.view(np.uint32)).view(np.float32)


def with_one_nan(array):
    if array.dtype.kind != "f" or not np.isnan(array).any():
        return array
    array = array.copy()
    array[np.isnan(array)] = np.nan
    return array


def hash_of(outputs):
    h = hashlib.sha256()
    for name, array in sorted(outputs.items()):
        array = with_one_nan(array)
        h.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()[:32]


# ---- Running ----

def run(lightnet, model, weights, inputs, isa, threads):
    """Its outputs by name."""
    os.environ["LN_CPU_ISA"] = isa
    out = pathlib.Path(tempfile.mkdtemp(dir=lightnet.scratch))
    given = []
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            np.save(out / f"{name}.npy", value)
            value = out / f"{name}.npy"
        given += ["-i", f"{name}={value}"]
    lightnet("run", "-t", "cpu", "--threads", threads, "-o", out / "o",
             *(["-f", weights] if weights else []), *given, model)
    listed = json.loads((out / "o/outputs.json").read_text())
    return {entry["name"]: np.load(out / "o" / entry["file"]) for entry in listed}


def inputs_of(ops, seed):
    return {oracle.args_of(op, "tensors_out")["dst"]: draw(
        oracle.params_of(op)["dims"], oracle.params_of(op)["dtype"], seed)
        for op in ops if op["optype"] == "input"}


def with_rows(lightnet, ops, rows):
    """The model for as many rows: what says a batch of 1 says `rows`."""
    ops = json.loads(json.dumps(ops))
    for op in ops:
        if op["optype"] not in ("input", "reshape"):
            continue
        for param in op["params"]:
            if param["arg_name"] == "dims" and param["value"][0] == 1:
                param["value"][0] = rows
    path = lightnet.scratch / "rows.json"
    path.write_text(json.dumps({"ops": ops}))
    return path


def check_hash(name, outputs, expected, what):
    found = hash_of(outputs)
    if expected and found != expected:
        raise zoo.Failure(f"{what} gives {found}, not {expected}")
    return found


def check_rows(lightnet, ops, weights, path, expected, isa):
    alone = [run(lightnet, path, weights, inputs_of(ops, k), isa, 1) for k in range(ROWS)]
    check_hash("", alone[0], expected, "another run")
    stacked = {name: np.concatenate([inputs_of(ops, k)[name] for k in range(ROWS)])
               for name in inputs_of(ops, 0)}
    model = with_rows(lightnet, ops, ROWS)
    for threads in (1, 2):
        together = run(lightnet, model, weights, stacked, isa, threads)
        for k, (name, array) in itertools.product(range(ROWS), alone[0].items()):
            rows = together[name].shape[0] // ROWS
            if not np.array_equal(together[name][k * rows:(k + 1) * rows].view(np.uint8),
                                  alone[k][name].view(np.uint8)):
                raise zoo.Failure(f"row {k} of {ROWS} of '{name}' ({isa}, {threads} threads) is not "
                                  "what a run on it alone gives")


def has_isa(lightnet, isa):
    """Whether the machine has it: the command says so where it has not, and takes the next."""
    done = subprocess.run([lightnet.command, "opt", "-o", "-", HERE / f"{ODD}.net"], capture_output=True, text=True,
                          env={**os.environ, "LN_CPU_ISA": isa}, check=True)
    return f"instruction set '{isa}'" not in done.stderr


def check_odd(lightnet, stored, ways):
    path = HERE / f"{ODD}.net"
    inputs = {name: draw_odd(array.shape, 0) for name, array in inputs_of(lightnet.ops(path), 0).items()}
    for isa, threads in ways:
        outputs = run(lightnet, path, None, inputs, isa, threads)
        for name, array in outputs.items():
            if not np.isfinite(array).any() or (name != "mean_of_all" and not np.isnan(array).any()):
                raise zoo.Failure(f"'{name}' is {'all' if np.isnan(array).any() else 'never'} NaN, which shows little")
        stored = check_hash(ODD, outputs, stored, f"{isa} with {threads} threads")
    return stored


def check_model(lightnet, path, stored, ways, has_rows):
    """Its hash."""
    ops = lightnet.ops(path)
    has_weights = any(oracle.params_of(op).get("from_file") for op in ops)
    weights = zoo.make_weights(lightnet, path) if has_weights else None
    found = stored
    for isa, threads in ways:
        outputs = run(lightnet, path, weights, inputs_of(ops, 0), isa, threads)
        for name, array in outputs.items():
            zoo.check_lively(name, array)
        found = check_hash(path, outputs, found, f"{isa} with {threads} threads")
    for isa in sorted({isa for isa, _ in ways}) if has_rows else ():
        check_rows(lightnet, ops, weights, path, found, isa)
    return found


def check_onnx(lightnet, name, stored, ways):
    data = sorted((ONNX / name / "test_data_set_0").glob("input_*.pb"))
    inputs = {path.stem.removeprefix("input_"): path for path in data}
    for isa, threads in ways:
        outputs = run(lightnet, ONNX / name / "model.onnx", None, inputs, isa, threads)
        stored = check_hash(name, outputs, stored, f"{isa} with {threads} threads")
    return stored


# ---- The models ----

def small_path(lightnet, name):
    if name in OWN:
        return HERE / f"{name}.net"
    return zoo.small_variant(lightnet, next(m for m in zoo.ZOO if m.name == name))


def tasks(lightnet, kind, isas):
    """Pairs of a line's name in hashes.txt, and a function from what is stored to what is found."""
    names = [*OWN, *(m.name for m in zoo.ZOO)] if kind == "full" else FAST
    ways = list(itertools.product(isas, {"fast": (1, 2), "full": (1, 2, 4), "large": (2,)}[kind]))
    if kind == "large":
        for model in zoo.ZOO:
            path = zoo.MODELS / f"{model.name}.net"
            yield f"large {model.name}", lambda s, p=path: check_model(
                lightnet, p, s, ways, False)
        return
    yield f"small {ODD}", lambda s: check_odd(lightnet, s, ways)
    for name in names:
        yield f"small {name}", lambda s, n=name: check_model(
            lightnet, small_path(lightnet, n), s, ways, n not in ONE_PICTURE)
    if kind != "full":
        return
    for name in CONFORMANCE:
        if (ONNX / name / "model.onnx").exists():
            yield f"onnx {name}", lambda s, n=name: check_onnx(lightnet, n, s, ways)
        else:
            print(f"skipped: {name}: it is not in {ONNX}")


def read_stored():
    lines = STORED.read_text().splitlines() if STORED.exists() else []
    return dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))


def check(lightnet, kind, isas, stored, is_new):
    """Finds the hash of each into `stored`; whether all are as they were, or may be new."""
    is_right = True
    for key, task in tasks(lightnet, kind, isas):
        start = time.monotonic()
        try:
            known = None if is_new else stored.get(key)
            stored[key] = task(known)
            note = "ok" if known or is_new else f"FAILED: not in {STORED.name}"
        except zoo.Failure as failure:
            note = f"FAILED: {failure}"
        is_right &= note == "ok"
        print(f"{key}: {note} ({time.monotonic() - start:.1f} s)", flush=True)
    return is_right


def write(stored):
    STORED.write_text("# Hashes of the outputs of models on cpu; written by tests/models/hashes.py.\n"
                      + "".join(f"{key} {value}\n" for key, value in sorted(stored.items())))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=zoo.ROOT / "build")
    parser.add_argument("kind", choices=["fast", "full", "large"])
    parser.add_argument("--isa", choices=ISAS)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.build) as scratch:
        lightnet = zoo.Lightnet(args.build, scratch)
        stored = read_stored()
        isas = [isa for isa in ([args.isa] if args.isa else ISAS) if has_isa(lightnet, isa)]
        for isa in [args.isa] if args.isa else ISAS:
            if isa not in isas:
                print(f"skipped: {isa}: this machine does not have it")
        if not isas:
            return 77
        is_right = check(lightnet, args.kind, isas, stored, args.write)
    if args.write:
        write(stored)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
