#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged TensorFlow Lite models that are still FlatBuffers for the most part: each offset, count and number of the seeds
is given hostile values. Each is read and run, or refused with a message; none ends the command otherwise.

Usage: hostile_test.py FOLDER-OF-THE-COMMANDS [COUNT]     COUNT models, 120 by default, chosen by a fixed seed
"""
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make_seeds
import tflite_file as tf

# How a table's field is read: number of a format, list of numbers, text, table, list of tables.
QUANT = {2: "list f", 3: "list q", 6: "i"}
TENSOR = {0: "list i", 1: "b", 2: "I", 3: "text", 4: QUANT, 5: "B", 7: "list i"}
OP = {0: "I", 1: "list i", 2: "list i", 4: "options", 5: "text"}
GRAPH = {0: [TENSOR], 1: "list i", 2: "list i", 3: [OP], 4: "text"}
SIGNATURE = {0: [{0: "text", 1: "I"}], 1: [{0: "text", 1: "I"}], 2: "text", 4: "I"}
MODEL = {0: "I", 1: [{0: "b", 1: "text", 2: "i", 3: "i"}], 2: [GRAPH], 3: "text", 4: [{0: "text", 1: "Q", 2: "Q"}],
         6: [{0: "text", 1: "I"}], 7: [SIGNATURE]}

NUMBERS = (-2**31, -129, -3, -2, -1, 0, 1, 2, 5, 17, 255, 65536, 2**24, 2**31 - 1)
COUNTS = (0, 1, 2, 2**16, 2**28, 2**31 - 1, 2**31, 2**32 - 1)
REALS = (0.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))


def places(data):
    """[(offset, format, kind)] of what can be changed."""
    found = []

    def follow(at):
        found.append((at, "I", "offset"))
        return at + struct.unpack_from("<I", data, at)[0]

    def numbers(at, fmt):
        at = follow(at)
        count = struct.unpack_from("<I", data, at)[0]
        found.append((at, "I", "count"))
        found.extend((at + 4 + struct.calcsize("<" + fmt) * i, fmt, "number") for i in range(min(count, 8)))

    def table(at, fields):
        t = tf.Table(data, at)
        size = struct.unpack_from("<H", data, t.vtable)[0]
        found.append((at, "i", "vtable"))
        found.append((t.vtable, "H", "size"))
        found.append((t.vtable + 2, "H", "size"))
        for field in range((size - 4) // 2):
            found.append((t.vtable + 4 + 2 * field, "H", "size"))
        if fields == "options":
            found.extend((t.field(f), fmt, "number") for f in range((size - 4) // 2) if t.field(f) for fmt in ("b", "i"))
            return
        for field, kind in fields.items():
            place = t.field(field)
            if not place:
                continue
            if kind == "text":
                numbers(place, "B")
            elif kind == "options" or isinstance(kind, dict):
                table(follow(place), kind)
            elif isinstance(kind, list):
                first = follow(place)
                count = struct.unpack_from("<I", data, first)[0]
                found.append((first, "I", "count"))
                for i in range(min(count, 40)):
                    table(follow(first + 4 + 4 * i), kind[0])
            elif kind.startswith("list"):
                numbers(place, kind[-1])
            else:
                found.append((place, kind, "number"))

    table(follow(0), MODEL)
    return found


def changed(rng, data, found):
    """A copy with one to three places changed."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, fmt, kind = rng.choice(found)
        size = struct.calcsize("<" + fmt)
        if kind == "offset":  # elsewhere, to where another leads, or around to what is before it
            other = rng.choice([f[0] for f in found if f[2] == "offset"])
            value = rng.choice((0, 1, 4, len(data), 2**31, 2**32 - 4, (other - at) % 2**32,
                                (other + struct.unpack_from("<I", data, other)[0] - at) % 2**32))
        elif kind == "count":
            value = rng.choice((*COUNTS, struct.unpack_from("<I", data, at)[0] + rng.choice((-1, 1))))
        elif fmt == "f":
            struct.pack_into("<f", data, at, rng.choice(REALS))
            continue
        else:
            value = rng.choice(NUMBERS)
        data[at:at + size] = (value % 2**(8 * size)).to_bytes(size, "little")
    return bytes(data)


def main():
    lightnet, count = pathlib.Path(sys.argv[1]).resolve() / "lightnet", int(sys.argv[2]) if len(sys.argv) > 2 else 120
    rng, names, ran = random.Random(count), sorted(make_seeds.SEEDS), 0
    seeds = {name: make_seeds.SEEDS[name]() for name in names}
    found = {name: places(seeds[name]) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m.tflite")
        for i in range(count):
            name = names[i % len(names)]
            path.write_bytes(changed(rng, seeds[name], found[name]))
            for command in (["inspect"], ["run", "--zero", "--top=2", "--budget=67108864"]):
                done = subprocess.run([lightnet, *command, path], capture_output=True, text=True, errors="replace",
                                      stdin=subprocess.DEVNULL, timeout=60, check=False)
                said = done.stderr
                is_fine = done.returncode == 0 or (done.returncode == 1 and ("error: " in said or "cannot run" in done.stdout) and "defect" not in said)
                if not is_fine:
                    kept = pathlib.Path(tempfile.gettempdir(), f"hostile_{name}_{i}.tflite")
                    kept.write_bytes(path.read_bytes())
                    sys.exit(f"{command} of {kept}: exit {done.returncode}\n{done.stdout[-2000:]}\n{said[-4000:]}")
                ran += command[0] == "run" and done.returncode == 0
    print(count, "models,", ran, "of which run")
    assert count // 10 < ran < count, ran


if __name__ == "__main__":
    main()
