#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models rebuilt from bug reports about other engines, against results that others computed.

    field.py [--build=DIR]

Each case is a folder with model.onnx, in_NAME.npy and exp_NAME.npy, run on `cpu`, on `ref` and as it was
read. What these three do alike is seen here, as nothing of ours made the results. Exit 77 where the folder
beside the checkout is not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT.parent / "shared/review/repro/field"
WAYS = (["-t", "cpu", "--keep-halves"], ["-t", "ref"], ["--rules=none"])

# A model that is to be refused: what the message holds.
REFUSED = {
    "gather_oob": "index 9",
    "gathernd_batch_mismatch": "dimension 3",
    "loop_body_input_is_init": "2 inputs",
    # Negative paddings are outside of the standard, which says so of this operator.
    "convtranspose_neg_pad": "pads[0] = -1",
    # An input that is an initializer has its value by IR version 3, and cannot be given.
    "init_as_input": "no input 'w'",
}
# Not to be had from the folder: more than 4 GiB of weights, and links as a cache of models has them.
# qdq_half_scale's results were divided in float32; the standard divides in the type of the scale, float16.
LEFT_OUT = {"ext_over_4g", "hf_cache_symlink", "qdq_half_scale"}
# Names of tensors that are no names of files, as the results have them.
NAMES = {"in_put": "in put", "out___q": "out;\u00e9\"q"}


def is_near(expected, got):
    if expected.dtype.kind not in "fc":
        return bool((expected == got).all())
    wide = complex if expected.dtype.kind == "c" else float
    tolerance = 4e-3 if expected.dtype == np.float16 else 2e-5
    return np.allclose(expected.astype(wide), got.astype(wide), rtol=tolerance, atol=tolerance / 2,
                       equal_nan=True)


def name_of(path):
    name = path.stem.split("_", 1)[1]
    return NAMES.get(name, name)


def run(command, case, model, way):
    """The failures of one model, run in one way."""
    inputs = [arg for path in sorted(case.glob("in_*.npy")) for arg in ("-i", f"{name_of(path)}={path}")]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([command, "run", *way, model, *inputs, "-o", folder],
                              capture_output=True, text=True, errors="replace")
        if case.name in REFUSED:
            is_right = done.returncode == 1 and REFUSED[case.name] in done.stderr
            return [] if is_right else [f"is not refused as it has to be: {done.stderr.strip()[-300:]}"]
        if done.returncode != 0:
            return [done.stderr.strip()[-300:]]
        files = {entry["name"]: entry["file"]
                 for entry in json.loads(pathlib.Path(folder, "outputs.json").read_text())}
        failures = []
        for path in sorted(case.glob("exp_*.npy")):
            expected = np.load(path, allow_pickle=True)
            if name_of(path) not in files:
                failures.append(f"has no output {name_of(path)}")
                continue
            got = np.load(pathlib.Path(folder, files[name_of(path)]), allow_pickle=True)
            if got.dtype != expected.dtype or got.shape != expected.shape:
                failures.append(f"{name_of(path)} is {got.dtype} {got.shape}, not {expected.dtype} {expected.shape}")
            elif not is_near(expected, got):
                failures.append(f"{name_of(path)} is {got.ravel()[:4]}, not {expected.ravel()[:4]}")
        return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    command = pathlib.Path(parser.parse_args().build).resolve() / "lightnet"
    if not CASES.is_dir():
        print("skipped: cases of bug reports: there is no shared/review/repro/field beside the checkout")
        return 77
    failed = count = 0
    for case in sorted(path for path in CASES.iterdir() if path.is_dir() and path.name not in LEFT_OUT):
        model = case / "model.onnx"
        if not model.exists() or not (case.name in REFUSED or list(case.glob("exp_*.npy"))):
            continue
        for way in WAYS:
            count += 1
            for failure in run(command, case, model, way):
                failed += 1
                print(f"{case.name} {' '.join(way)}: {failure}")
    print(f"{count} runs, {failed} failures")
    return 1 if failed or count < 100 else 0


sys.exit(main())
