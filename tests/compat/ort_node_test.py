#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime-node from npm, as it is and with its library swapped, over the models of conformance; and their metadata,
as both libraries tell it through the C ABI.

Usage: ort_node_test.py BUILD-FOLDER [MODEL...]. Names, types, shapes and metadata are equal; numbers are within TOLERANCE of the
largest of their output, or nearer than that library's to the model as read in double precision. LN_ORT_NODE names a
folder with node_modules where the package is installed already. Exits with 77, and says why, where npm does not answer.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent.parent / "shared/conformance/models"
VERSION = "1.30"

# Both round every sum of a network of tens of layers in float32.
TOLERANCE = 2e-4


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def install(folder):
    given = os.environ.get("LN_ORT_NODE")
    if given:
        return Path(given) / "node_modules"
    if not shutil.which("node") or not shutil.which("npm"):
        skip("there is no node and npm")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"onnxruntime-node@{VERSION}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        skip("npm does not answer")
    if done.returncode != 0:
        skip("npm: " + done.stderr.strip()[-200:])
    return folder / "node_modules"


def swap(modules, folder):
    shutil.copytree(modules, folder, symlinks=True, ignore=shutil.ignore_patterns("libonnxruntime.so.1"))
    for binding in modules.glob("onnxruntime-node/bin/**/linux/*/libonnxruntime.so.1"):
        shutil.copy(BUILD / "liblightnet-ort.so.1", folder / binding.relative_to(modules))
    return folder


def ask(modules, models, work):
    """What one process says of the models."""
    answer = work / "answer.json"
    answer.unlink(missing_ok=True)
    done = subprocess.run(["node", str(HERE / "ort_node.js"), str(modules), str(answer), *map(str, models)],
                          capture_output=True, text=True, timeout=900)
    failed = {"error": f"exit {done.returncode}: {done.stderr[-200:]}"}
    return dict(zip(models, json.loads(answer.read_text()) if answer.exists() else [failed] * len(models)))


def ask_each(modules, models, work):
    answers = {}
    for model in models:  # a process each: one that dies does not take the others along
        answers.update(ask(modules, [model], work))
    return answers


def distance(a, b):
    """The largest difference, as a part of the largest number; infinite where kinds differ."""
    largest, most = max([1e-30] + [abs(x) for x in a if not isinstance(x, str)]), 0
    for x, y in zip(a, b):
        if isinstance(x, str) or isinstance(y, str):
            most = most if x == y else float("inf")
        else:
            most = max(most, abs(x - y) / largest)
    return most


def compare(ours, theirs):
    """Lines that say what differs, and the distances of outputs."""
    wrong, distances = [], {}
    for kind in ("inputs", "outputs", "metadata"):
        if ours[kind] != theirs[kind]:
            wrong.append(f"{kind} {ours[kind]}, not {theirs[kind]}")
    for name, want in theirs["results"].items():
        got = ours["results"].get(name)
        if not got or got["type"] != want["type"] or got["dims"] != want["dims"]:
            wrong.append(f"output {name}: {got and (got['type'], got['dims'])}, not {(want['type'], want['dims'])}")
        else:
            distances[name] = distance(want["data"], got["data"])
    return wrong, distances


class Library:
    """The C ABI by numbers of slots."""

    def __init__(self, path):
        class Base(ctypes.Structure):
            _fields_ = [("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)), ("version", ctypes.c_void_p)]

        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        library.OrtGetApiBase.restype = ctypes.POINTER(Base)
        self.api = (ctypes.c_void_p * 426).from_address(library.OrtGetApiBase().contents.get_api(17))
        self.env = self.make(3, ctypes.c_int(4), b"test")
        self.options = self.make(10)
        self.allocator = self.make(78)

    def call(self, slot, *args):
        status = ctypes.CFUNCTYPE(ctypes.c_void_p, *map(type, args))(self.api[slot])(*args)
        if status:
            message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(self.api[2])(status)
            raise RuntimeError(message.decode())

    def make(self, slot, *args, kind=ctypes.c_void_p):
        out = kind()
        words = [ctypes.c_char_p(a) if isinstance(a, bytes) else a for a in args]
        self.call(slot, *words, ctypes.pointer(out))
        return out

    def text(self, slot, *args):
        return ctypes.cast(self.make(slot, *args), ctypes.c_char_p).value

    def logits(self, model, numbers, entries):
        """What the model makes of 1x3x224x224 numbers, with entries of configuration."""
        options = self.make(10)
        for key, value in entries.items():
            self.call(130, options, ctypes.c_char_p(key), ctypes.c_char_p(value))
        session, memory = self.make(7, self.env, str(model).encode(), options), self.make(69, ctypes.c_int(0), ctypes.c_int(0))
        data, dims = (ctypes.c_float * len(numbers))(*numbers), (ctypes.c_int64 * 4)(1, 3, 224, 224)
        value = self.make(49, memory, ctypes.cast(data, ctypes.c_void_p), ctypes.c_size_t(ctypes.sizeof(data)),
                          ctypes.cast(dims, ctypes.c_void_p), ctypes.c_size_t(4), ctypes.c_int(1))
        result = (ctypes.c_void_p * 1)()
        self.call(9, session, ctypes.c_void_p(), (ctypes.c_char_p * 1)(b"input"), (ctypes.c_void_p * 1)(value),
                  ctypes.c_size_t(1), (ctypes.c_char_p * 1)(b"output"), ctypes.c_size_t(1), result)
        address = self.make(51, ctypes.c_void_p(result[0]))
        scores = list((ctypes.c_float * 1000).from_address(address.value))
        for slot, of in ((96, result[0]), (96, value), (94, memory), (95, session), (100, options)):
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.api[slot])(of)
        return scores

    def metadata(self, model):
        session = self.make(7, self.env, str(model).encode(), self.options)
        of = self.make(111, session)
        found = {slot: self.text(slot, of, self.allocator) for slot in (112, 113, 114, 115, 158)}
        found["version"] = self.make(117, of, kind=ctypes.c_int64).value
        keys, count = ctypes.c_void_p(), ctypes.c_int64()
        self.call(123, of, self.allocator, ctypes.pointer(keys), ctypes.pointer(count))
        names = ctypes.cast(keys, ctypes.POINTER(ctypes.c_char_p))[:count.value]
        found["map"] = {name: self.text(116, of, self.allocator, name) for name in names}
        found["overridable"] = self.make(32, session, kind=ctypes.c_size_t).value
        return found


def input_of(meta):
    """What ort_node.js makes, for inputs of float32 and known shape; None for others."""
    import numpy as np
    if meta["type"] != "float32" or not all(isinstance(d, int) and d > 0 for d in meta["shape"]):
        return None
    state, count = 12345, int(np.prod(meta["shape"]))
    numbers = np.empty(count)
    for i in range(count):
        state = (state * 1103515245 + 12345) & 0xFFFFFFFF
        numbers[i] = state / 4294967296
    return numbers.astype("float32").reshape(meta["shape"])


def widen(model, path):
    """The model with each float32 as float64, but for scales of Resize, which are never float64."""
    from onnx import TensorProto, load, numpy_helper, save
    read = load(str(model))
    kept = {name for node in read.graph.node if node.op_type == "Resize" for name in node.input[1:3]}

    def convert(tensor):
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype("float64"), tensor.name))

    for tensor in read.graph.initializer:
        if tensor.name not in kept:
            convert(tensor)
    for node in read.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t") and node.output[0] not in kept:
                convert(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for value in list(read.graph.input) + list(read.graph.output) + list(read.graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    save(read, str(path))


def in_double(model, metas, work):
    """Outputs of the model as read, each operator and each value in between in double precision; None: not known."""
    try:
        import numpy as np
        inputs = {meta["name"]: input_of(meta) for meta in metas}
        if any(x is None for x in inputs.values()):
            return None
        widen(model, work / "wide.onnx")
    except ImportError:
        return None
    command = [str(BUILD / "lightnet"), "run", "-t", "ref", "--rules=none", "-o", str(work / "wide"), str(work / "wide.onnx")]
    for i, name in enumerate(inputs):
        np.save(work / f"wide{i}.npy", inputs[name].astype("float64"))
        command += ["-i", f"{name}={work}/wide{i}.npy"]
    if subprocess.run(command, capture_output=True).returncode != 0:
        return None
    return {name: np.load(work / "wide" / entry).ravel().tolist() for name, entry in
            ((f.stem, f.name) for f in (work / "wide").glob("*.npy"))}


def judge(model, ours, theirs, distances, work):
    """Of outputs that differ: what is nearer to the model in double precision, and whether that is ours."""
    lines, is_worse = [], False
    exact = in_double(model, theirs["inputs"], work)
    for name in (n for n, d in distances.items() if d > TOLERANCE):
        mine = distance(exact[name], ours["results"][name]["data"]) if exact else float("inf")
        other = distance(exact[name], theirs["results"][name]["data"]) if exact else 0
        is_worse = is_worse or mine > min(other, TOLERANCE)
        lines.append(f"{name} differs by {distances[name]:.2g}; from double precision {mine:.2g}, theirs {other:.2g}")
    return lines, is_worse


def is_equal(model, ours, theirs, work):
    name = model.parent.name
    if "error" in ours or "error" in theirs:
        print(f"{name}: {ours.get('error', 'runs')} | {theirs.get('error', 'runs')}")
        return ("error" in ours) == ("error" in theirs)
    wrong, distances = compare(ours, theirs)
    largest = max(distances.values(), default=0)
    lines, is_worse = judge(model, ours, theirs, distances, work) if largest > TOLERANCE else ([], False)
    print(f"{name}: {largest:.2g} {'WRONG' if wrong or is_worse else ''} {'; '.join(wrong + lines)}")
    return not wrong and not is_worse


IDENTITY = """input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 224, 224]);
Identity(input=x | output=y |);
output(src=y ||);
"""


def picture(path, work):
    """The numbers that networks of ImageNet take; None without NumPy."""
    try:
        import numpy as np
    except ImportError:
        return None
    (work / "identity.net").write_text(IDENTITY)
    subprocess.run([str(BUILD / "lightnet"), "run", "--preset=imagenet", "-i", str(path), "-o", str(work / "x.npy"),
                    str(work / "identity.net")], check=True, capture_output=True)
    return np.load(work / "x.npy").ravel().tolist()


def check_exact(original, library, work):
    """An int8 network on photos: ours has the bits of ONNX Runtime's exact mode, whatever its fast mode has."""
    model = SHARED / "shufflenet-v2-12-int8/model.onnx"
    photos = sorted((SHARED.parent / "images").glob("*.jpg"))
    if not model.exists() or not photos or picture(photos[0], work) is None:
        print("skipped: photos through an int8 network")
        return True
    wrong = other_class = 0
    for photo in photos:
        numbers = picture(photo, work)
        ours = library.logits(model, numbers, {})
        exact = original.logits(model, numbers, {b"session.x64quantprecision": b"1"})
        fast = original.logits(model, numbers, {})
        wrong += ours != exact
        other_class += fast.index(max(fast)) != exact.index(max(exact))
        print(f"{photo.stem}: {'equal to' if ours == exact else 'WRONG against'} the exact mode, whose numbers the fast "
              f"mode misses {sum(a != b for a, b in zip(fast, exact))} times, by {max(abs(a - b) for a, b in zip(fast, exact)):.2g}")
    print(f"int8: {len(photos) - wrong} of {len(photos)} photos exact; ONNX Runtime's fast mode names another class in {other_class}")
    return wrong == 0


def check_codes(original):
    """What goes wrong goes wrong with the same code; ort_codes.py says where it does not, and why."""
    return subprocess.run([sys.executable, str(HERE / "ort_codes.py"), str(original),
                           str(BUILD / "liblightnet-ort.so.1")]).returncode in (0, 77)


def check_together(swapped, models, alone, work):
    """In one process, with all sessions open, each model says and computes what it does alone, to the bit."""
    together = ask(swapped, models, work)
    other = [model.parent.name for model in models if together[model] != {k: v for k, v in alone[model].items() if k != "metadata"}]
    print(f"one process: {len(models) - len(other)} of {len(models)} models as alone {' '.join(other)}")
    return not other


def digits(work):
    """The trained network of models/ as ONNX."""
    folder = HERE.parent.parent / "models/digits"
    (work / "digits").mkdir()
    subprocess.run([str(BUILD / "lightnet"), "convert", "-f", str(folder / "digits.safetensors"), "-o", str(work / "digits/model.onnx"),
                    str(folder / "digits.net")], check=True, capture_output=True)
    return work / "digits/model.onnx"


def check_load(swapped, models, work):
    """10,000 runs in one process do not make it grow, and 8 workers run at once."""
    model = next((m for m in models if m.parent.name == "mnist-8"), models[0])
    done = subprocess.run(["node", "--expose-gc", str(HERE / "ort_node_load.js"), str(swapped), str(model)],
                          capture_output=True, text=True, timeout=600, cwd=work)
    print(done.stdout.strip() or f"load: exit {done.returncode}: {done.stderr[-300:]}")
    return done.returncode == 0


def main():
    models = [Path(m).resolve() for m in sys.argv[2:]] or sorted(SHARED.glob("*/model.onnx"))
    if not models:
        skip(f"there are no models in {SHARED}")
    with tempfile.TemporaryDirectory() as work:
        modules = install(Path(work))
        swapped = swap(modules, Path(work) / "swapped" / "node_modules")
        models += [] if sys.argv[2:] else [digits(Path(work))]
        theirs, ours = ask_each(modules, models, Path(work)), ask_each(swapped, models, Path(work))
        original = Library(next(modules.glob("onnxruntime-node/bin/**/linux/x64/libonnxruntime.so.1")))
        library = Library(BUILD / "liblightnet-ort.so.1")
        for model in models:
            if "error" not in ours[model] and "error" not in theirs[model]:
                ours[model]["metadata"], theirs[model]["metadata"] = library.metadata(model), original.metadata(model)
        failed = sum(not is_equal(model, ours[model], theirs[model], Path(work)) for model in models)
        is_exact = bool(sys.argv[2:]) or check_exact(original, library, Path(work))
        has_codes = check_codes(next(modules.glob("onnxruntime-node/bin/**/linux/x64/libonnxruntime.so.1")))
        bears_load = check_load(swapped, models, work)
        is_same = check_together(swapped, models, ours, Path(work))
    print(f"{len(models) - failed} of {len(models)} models equal")
    return failed > 0 or not (is_exact and has_codes and bears_load and is_same)


if __name__ == "__main__":
    sys.exit(main())
