#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stored cases of formulas are what make_formulas.py makes: text, names, types and shapes to the byte, integers as
they are, floats to the last bits in which C libraries differ, and a NaN is a NaN, whatever its sign.

Usage: formulas_test.py
"""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# The type of struct, and of the integer that orders such floats; how many floats apart two may be.
FLOATS = {"F32": ("f", "i", 1), "F64": ("d", "q", 4)}


def read(path):
    content = path.read_bytes()
    size = 8 + struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:size]), content[size:]


def steps(value, float_type, int_type):
    """A float as an integer, of which neighbours are neighbours."""
    number = struct.unpack("<" + int_type, struct.pack("<" + float_type, value))[0]
    return number if number >= 0 else -(number & (2 ** (8 * struct.calcsize(int_type) - 1) - 1))


def are_equal(old, new, dtype):
    if old == new or dtype not in FLOATS:
        return old == new
    float_type, int_type, most = FLOATS[dtype]
    count = len(old) // struct.calcsize(float_type)
    for a, b in zip(*(struct.unpack(f"<{count}{float_type}", part) for part in (old, new))):
        if math.isnan(a) or math.isnan(b):
            if not (math.isnan(a) and math.isnan(b)):
                return False
        elif a == b == 0 and math.copysign(1, a) != math.copysign(1, b):
            return False
        elif abs(steps(a, float_type, int_type) - steps(b, float_type, int_type)) > most:
            return False
    return True


def difference(stored, made):
    """What differs between two files of tensors; None: nothing."""
    (header, old), (header_made, new) = read(stored), read(made)
    if header != header_made:
        return "other tensors"
    for name, facts in header.items():
        begin, end = facts["data_offsets"]
        if not are_equal(old[begin:end], new[begin:end], facts["dtype"]):
            return f"tensor {name}, {facts['dtype']}"
    return None


def check_the_comparison():
    pack = struct.pack
    nan, minus_nan = b"\0\0\xc0\x7f", b"\0\0\xc0\xff"
    assert are_equal(nan, minus_nan, "F32") and not are_equal(nan, pack("<f", math.inf), "F32")
    assert are_equal(pack("<f", 1), pack("<f", 1 + 2 ** -23), "F32")
    assert not are_equal(pack("<f", 1), pack("<f", 1 + 2 ** -22), "F32")
    assert not are_equal(pack("<f", 0), pack("<f", -0.0), "F32") and not are_equal(pack("<f", 1), pack("<f", -1), "F32")
    assert are_equal(pack("<f", 0), pack("<f", 2 ** -149), "F32")
    assert not are_equal(b"\1", b"\2", "U8")


def main():
    check_the_comparison()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        subprocess.run([sys.executable, HERE / "make_formulas.py", folder], check=True, stdout=subprocess.DEVNULL)
        names = {path.name for path in made.iterdir()}
        stored = {path.name for path in (HERE / "formulas").iterdir()}
        problems += [f"{name}: not made by make_formulas.py" for name in sorted(stored - names)]
        problems += [f"{name}: made, but not stored" for name in sorted(names - stored)]
        for name in sorted(names & stored):
            old, new = HERE / "formulas" / name, made / name
            if name.endswith(".net"):
                problem = None if old.read_bytes() == new.read_bytes() else "another text"
            else:
                problem = difference(old, new)
            if problem:
                problems.append(f"{name}: {problem}")
    for problem in problems[:20]:
        print(problem)
    print(f"{len(stored)} files, {len(problems)} differ" + ("; write them with make_formulas.py" if problems else ""))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
