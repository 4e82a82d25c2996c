#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exit status 2: the command line is wrong whatever its files hold. 1: a file or a model is.

Each command is given wrong values of each of its options with a model that is missing: if a value were looked at after
the model, the status would be 1. An option that is not in the tables fails the test.

Usage: status_test.py FOLDER-OF-THE-COMMANDS
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")
ROW = re.compile(r"^  (?:-(?P<letter>\w), |    )--(?P<name>[\w-]+)(?P<maybe>\[?)(?P<value>=\S+)?", re.MULTILINE)

# What an option cannot be, beside empty. A list in the list is two values of it.
NUMBERS = ["x", "-1", "1e999", "nan", "1,5"]
COUNTS = ["x", "-1", "0", "1.5", "99999999999999999999"]
TARGETS = ["cuda", "cpu,", ",cpu", "cpu,,ref", "cpu ref", "CPU", "cpu:x", "cpu:1"]
PASSES = ["foldd", "fold,", ",fold", "fold,,dead", ","]
BAD = {
    "shape": ["4x3x", "batch=four", "batch=", "=4", "batch=8..2", "batch=1..", "batch=..2", "x=1x-1", "x=1*3", "x=[1,3",
              "x=99999999999", "x=1.5", "1..8", ["batch=2", "batch=3"], ["batch=2", "batch=2"], ["2x3", "2x4"]],
    "input": ["x=", "=", ["x=a.npy", "x=b.npy"], ["a.npy", "a.npy"]],
    "target": TARGETS, "a": TARGETS, "b": TARGETS,
    "device": ["gpu", "gpu,", ",a=1", "nosuch,a=1"],
    "passes": PASSES, "stop-after": PASSES + ["all", "fold,dead"], "dump-after": PASSES + ["fold,dead"],
    "why": ["no_such_rule", "conv_rleu"],
    "inputs": ["a,,b", ",", "a,"],
    "through": ["onnxx", "il,", "il,,ir", "tflite"],
    "outdir": ["y.bin", "y=y.png", "y=", "-", ".npy"],
    "skip": ["x", "0", "3-1", "1,", "1-9999999"],
    "threads": COUNTS, "repeat": COUNTS, "runs": COUNTS, "warmup": COUNTS, "top": COUNTS,
    "min-time": NUMBERS, "rtol": NUMBERS, "atol": NUMBERS,
    "seed": ["x", "-1", "1.5", "18446744073709551616"],
    "budget": ["x", "-1", "1T5", "1.5.2"], "work": ["x", "-1"], "timeout": ["x", "-1"],
    "mean": ["x", "1,2", "1,2,3,4"], "scale": ["x", "1,2"], "layout": ["chw"], "resize": ["5", "x5", "0x4"],
    "preset": ["resnet"], "crop": ["x", "2", "0"], "letterbox": ["x", "256", "-1"], "rate": ["x", "0", "-8"],
    "type": ["1", "x"], "profile": ["fastest"], "json": ["4"],
    "rules": [["none", "mine.rules"]], "rounding": ["nearest", "references"],
}
# Any word may be the name of a file or folder, or of what is in one.
FILES = {"datafile", "plugin", "model", "base", "outfile", "labels", "trace", "weights", "list", "allow-write", "dump-dir", "signature"}

# What a command needs beside its operand.
NEEDS = {"convert": "-o made.net", "genwts": "-o made.wts"}
OPERANDS = {"completion": "bash", "genwts": "numbers.txt", "ops": "", "archs": "", "formats": ""}

# The command line is wrong.
WRONG = r"""
run missing.onnx --rules=none -t cpu
run missing.onnx --crop --letterbox=0
run missing.onnx --scale=0
-c -r missing.onnx
bench missing.onnx --rules=none --keep-halves
run ""
verify ""
"" -c
missing.onnx --target=""
run --model=missing.onnx
run missing.onnx other.onnx
blame missing.onnx -i x=
convert missing.onnx -o made.xyz
plan missing.onnx -o plan.png
"""
# A file decides, or what the model says.
FILE = r"""
run missing.onnx
run relu.net --plugin=missing.so
run relu.net --zero --plugin=relu.net
run relu.net -i y=x.npy
run relu.net -i missing.npy
run relu.net -i x:x.npy
run relu.net --zero -s n=2
run relu.net --zero -s y=2x3
run relu.net --zero -f missing.wts
run relu.net --zero -o z=z.npy
run relu.net --zero --labels=missing.txt
run relu.net --zero --signature=serve
run relu.net --zero --allow-write=missing
run relu.net --zero --rules=missing.rules
run relu.net --zero -t cuda --plugin=missing.so
opt relu.net --why=no_such_rule --rules=missing.rules
opt relu.net --inputs=q
verify missing.onnx
verify --list=missing.txt
verify --list=bad.txt
compare missing.onnx
inspect missing.onnx
plan missing.onnx
bench missing.onnx
opt missing.onnx
stats missing.wts
easyjson missing.json
gen-op missing.op
convert missing.onnx -o made.net
convert numbers.wts -o made.net
genwts -o made.wts missing.txt
genwts -o made.wts --model=missing.onnx
missing.onnx
-c missing.onnx
"""


def status(words):
    done = subprocess.run([LIGHTNET, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def rows(command):
    """The options of a command that take a value."""
    _, text = status(["help"] + ([command] if command else []))
    return [row for row in ROW.finditer(text) if row["value"]]


def lines_of(command, seen):
    """Command lines of one command that are wrong: all for an option that is new, else one of each kind."""
    for row in rows(command):
        name = row["name"]
        assert name in FILES or BAD.get(name), "--%s of %s is in no table of this test" % (name, command)
        bad = BAD.get(name, [])
        for value in [""] + (bad[:1] if name in seen else bad):
            values = value if isinstance(value, list) else [value]
            words = ["--%s=%s" % (name, value) for value in values]
            has_needed = name in ("outfile", "datafile") and command in NEEDS
            yield [*([command] if command else []), *words, *([] if has_needed else shlex.split(NEEDS.get(command, ""))),
                   *shlex.split(OPERANDS.get(command, "missing.onnx"))]
        seen.add(name)


def main():
    _, text = status(["help"])
    commands = [""] + re.findall(r"^  ([a-z0-9-]+)  +\S", text.split("Commands")[1], re.MULTILINE)
    assert len(commands) > 15, commands
    faults, count, seen = [], 0, set()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("relu.net").write_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
        pathlib.Path("bad.txt").write_text("relu.net\tzzz=1\n")
        pathlib.Path("numbers.txt").write_text("1 2 3\n")
        assert status(["genwts", "-o", "numbers.wts", "numbers.txt"])[0] == 0
        cases = [(2, words) for command in commands for words in lines_of(command, seen)]
        cases += [(2, shlex.split(line)) for line in WRONG.strip().split("\n")]
        cases += [(3 if line.startswith("blame") else 1, shlex.split(line)) for line in FILE.strip().split("\n")]
        cases += [(3, ["blame", "missing.onnx"]), (3, ["blame", "relu.net", "--plugin=missing.so"])]
        for code, words in cases:
            count += 1
            got, text = status(words)
            if got != code or "error: " not in text and "FAILED" not in text:
                faults.append("%s: status %d instead of %d: %s" % (shlex.join(words), got, code, text))
        os.chdir("/")
    print("\n".join(faults))
    print("%d command lines, %d with another exit status" % (count, len(faults)))
    return 1 if faults or count < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
