# SPDX-License-Identifier: Apache-2.0
"""What `peers` and `check` have in common: programs, models, numbers."""

import json
import math
import os
import random
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)

# Of models/: what people know, small enough for a minute. Others can be named.
ZOO = ["squeezenet1_1", "mobilenet_v1", "mobilenet_v2", "shufflenet_v2_x1_0", "resnet18", "resnet50", "inception_v1",
       "densenet121", "vgg16", "yolov3_tiny"]

FORMATS = {"float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
           "uint32": "I", "int64": "q", "uint64": "Q", "bool": "?"}


class Trouble(Exception):
    """What keeps a program from its numbers."""


# ---- Programs ----

def call(arguments, cpus=None):
    """Standard output of a command that succeeds; on the processors `cpus`."""
    def pin():
        if cpus:
            os.sched_setaffinity(0, cpus)
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, preexec_fn=pin)
    except OSError as reason:
        raise Trouble("%s: %s" % (arguments[0], reason.strerror)) from reason
    if done.returncode != 0:
        said = done.stderr.strip().split("\n")
        raise Trouble("%s: exit status %d: %s" % (" ".join(arguments), done.returncode, said[-1]))
    return done.stdout


def call_json(arguments, cpus=None):
    return json.loads(call(arguments, cpus))


def tools_folder(build):
    folder = os.path.join(os.path.abspath(build), "bench")
    os.makedirs(folder, exist_ok=True)
    return folder


def make_tool(build, name, flags=("-O2",)):
    """The program `name` of this folder, compiled if its source is newer."""
    source, program = os.path.join(HERE, name + ".c"), os.path.join(tools_folder(build), name)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        call([os.environ.get("CC", "cc"), "-std=c11", *flags, source, "-o", program, "-lpthread", "-ldl"])
    return program


def find_lightnet(build):
    program = os.path.join(os.path.abspath(build), "lightnet")
    if not os.path.exists(program):
        raise Trouble("there is no %s; build it, or name another folder with --build" % program)
    return program


def first_cpus(count):
    """The first processors that this process may use; None where there are not as many."""
    cpus = sorted(os.sched_getaffinity(0))
    return set(cpus[:count]) if len(cpus) >= count else None


def probe(build):
    """{"handover_ns": ..., "state": "near" | "far" | "one"} at this moment."""
    return call_json([make_tool(build, "probe")])


# ---- Models ----

def is_newer(path, than):
    return os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(than)


def find_model(name):
    """The file of a model: `name` itself, or that of the zoo."""
    for path in (name, os.path.join(SOURCE, "models", name + ".net")):
        if os.path.isfile(path):
            return path
    raise Trouble("there is no model '%s'; of the zoo there are: %s" % (name, ", ".join(ZOO)))


def make_weights(build, model):
    """Random weights for a model in IL; the same for everybody."""
    stem = os.path.splitext(os.path.basename(model))[0]
    path = os.path.join(tools_folder(build), stem + ".safetensors")
    if not is_newer(path, model):
        call([find_lightnet(build), "genwts", "--model", model, "--seed", "1", "-o", path])
    return path


def make_onnx(build, model):
    """A model as an ONNX file with its weights: the file itself if it is one."""
    if model.endswith(".onnx"):
        return model
    stem = os.path.splitext(os.path.basename(model))[0]
    path = os.path.join(tools_folder(build), stem + ".onnx")
    if not is_newer(path, model):
        weights = make_weights(build, model)
        call([find_lightnet(build), "convert", model, "-f", weights, "-o", path])
        os.remove(weights)
    return path


def make_input(path, kind, byte_count, seed):
    """Raw numbers between -1 and 1; zeros where they may be indices."""
    numbers = random.Random(seed)
    with open(path, "wb") as f:
        if kind == "float32":
            count = byte_count // 4
            f.write(struct.pack("<%df" % count, *(2 * numbers.random() - 1 for _ in range(count))))
        else:
            f.write(bytes(byte_count))


def list_outputs(folder):
    """Name -> file of the outputs that `lightnet run -o` has written."""
    with open(os.path.join(folder, "outputs.json"), encoding="utf-8") as f:
        return {entry["name"]: entry["file"] for entry in json.load(f)}


# ---- Numbers ----

def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def read_npy(path):
    """The numbers of a .npy file of a plain type, in order."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x93NUMPY":
        raise Trouble("%s is no .npy file" % path)
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
    header = data[start:start + length].decode("latin-1")
    descr = header.split("'descr':")[1].split("'")[1]
    kinds = {"f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
             "b1": "?"}
    if descr[1:] not in kinds:
        raise Trouble("%s holds %s" % (path, descr))
    return read_numbers(data[start + length:], kinds[descr[1:]])


def read_numbers(data, code):
    count = len(data) // struct.calcsize(code)
    return struct.unpack("<%d%s" % (count, code), data[:count * struct.calcsize(code)])


def deviation(got, expected):
    """The largest difference as a share of the largest number; infinite if one is no number."""
    if len(got) != len(expected):
        raise Trouble("%d numbers instead of %d" % (len(got), len(expected)))
    largest = max((abs(x) for x in expected if x == x), default=0)
    worst = 0
    for x, y in zip(got, expected):
        if x == y or (x != x and y != y):
            continue
        worst = max(worst, abs(x - y) if abs(x - y) < math.inf else math.inf)
    return worst / largest if largest > 0 else worst


def read_reach():
    """Model -> what LightNet should reach with one thread, as a share of ONNX Runtime's time, by the lab book."""
    reach, columns = {}, []
    with open(os.path.join(HERE, "lab", "NOTES.md"), encoding="utf-8") as f:
        for line in f:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not line.startswith("|"):
                columns = []  # the table ends
            elif cells[0] == "model":
                columns = cells
            elif columns and not cells[0].startswith("-"):
                row = dict(zip(columns, cells))
                ratio = float(row["reach, 1 thread"]) / float(row["ONNX Runtime 1.30"])
                reach.update((name.strip(), ratio) for name in cells[0].split(","))
    return reach


def write_json(path, found):
    text = json.dumps(found, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
