#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls of ONNX Runtime's C ABI that go wrong, or may: the code of each status, with both libraries.

Usage: ort_codes.py THEIRS OURS, two files; ort_node_test.py calls it with the library from npm. Codes are equal but for
those in DIFFERS, each with its reason. Exits with 77 where Debian's python3-onnx is missing, which makes the models.
"""
import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

SLOTS = {name: int(number) for number, name in re.findall(
    r"[SRV]\((\d+), (\w+)\)", (Path(__file__).resolve().parent.parent.parent / "src/compat/ort/slots.inc").read_text())}
FLOAT, INT32, INT64, STRING = 1, 6, 7, 8

DIFFERS = {
    "a file without bytes": "a model that cannot be parsed, as one of other bytes is there too",
    "a node whose shapes do not fit": "the graph is invalid, whoever finds out",
    "no input": "there an operator fails inside of the run",
    "an input twice": "one of the two would be ignored",
    "a provider by its own function": "the function is not implemented",
    "options of CUDA": "there is no CUDA, which fails later there",
    "options of TensorRT": "there is no TensorRT, which fails later there",
    "the data of strings": "there they are objects of C++",
    "a map with int32 values": "such values are fine here",
    "a negative size for a symbol": "it could never fit",
}


class Client:
    def __init__(self, path):
        class Base(ctypes.Structure):
            _fields_ = [("get_api", ctypes.CFUNCTYPE(c_void_p, ctypes.c_uint32)), ("version", c_void_p)]

        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        library.OrtGetApiBase.restype = ctypes.POINTER(Base)
        self.table = (c_void_p * 426).from_address(library.OrtGetApiBase().contents.get_api(30))
        self.kept = []  # memory that values borrow
        self.env = self.make("CreateEnv", 4, b"codes")
        self.options = self.make("CreateSessionOptions")
        self.memory = self.make("CreateCpuMemoryInfo", 0, 0)
        self.allocator = self.make("GetAllocatorWithDefaultOptions")
        self.call("SetSessionLogSeverityLevel", self.options, 4)

    def call(self, name, *args):
        """The code of the status. Numbers are ints there, bytes are texts."""
        args = [c_void_p(a) if a is None else c_int(a) if isinstance(a, int) else
                c_char_p(a) if isinstance(a, bytes) else a for a in args]
        kinds = [c_void_p if not isinstance(a, (c_int, c_int64, c_size_t, c_char_p, c_void_p)) else type(a) for a in args]
        args = [ctypes.cast(a, c_void_p) if kind is c_void_p and not isinstance(a, c_void_p) else a
                for a, kind in zip(args, kinds)]
        status = ctypes.CFUNCTYPE(c_void_p, *kinds)(self.table[SLOTS[name]])(*args)
        if not status:
            return 0
        code = ctypes.CFUNCTYPE(c_int, c_void_p)(self.table[1])(status)
        ctypes.CFUNCTYPE(None, c_void_p)(self.table[93])(status)
        return code

    def make(self, name, *args):
        out = c_void_p()
        code = self.call(name, *args, byref(out))
        if code:
            raise RuntimeError(f"{name}: {code}")
        return out

    def fresh(self):
        return self.make("CloneSessionOptions", self.options)

    def tensor(self, dims, element=FLOAT, count=None, size=4):
        needed = count if count is not None else max(0, math.prod(dims))
        data, shape, out = ctypes.create_string_buffer(needed * size + 1), (c_int64 * (len(dims) + 1))(*dims), c_void_p()
        self.kept += [data, shape]
        code = self.call("CreateTensorWithDataAsOrtValue", self.memory, data, c_size_t(needed * size), shape,
                         c_size_t(len(dims)), element, byref(out))
        return code, out

    def value(self, *args, **options):
        return self.tensor(*args, **options)[1]

    def strings(self, count):
        return self.make("CreateTensorAsOrtValue", self.allocator, (c_int64 * 1)(count), c_size_t(1), STRING)

    def open(self, model):
        bytes_ = ctypes.create_string_buffer(model, len(model))
        out = c_void_p()
        self.kept.append(bytes_)
        return self.call("CreateSessionFromArray", self.env, bytes_, c_size_t(len(model)), self.options, byref(out)), out

    def run(self, session, inputs, outputs, given=None, options=None):
        names, values = (c_char_p * (len(inputs) + 1))(*[n for n, _ in inputs]), (c_void_p * (len(inputs) + 1))(
            *[v for _, v in inputs])
        wanted, results = (c_char_p * (len(outputs) + 1))(*outputs), (c_void_p * (len(outputs) + 1))(given)
        return self.call("Run", session, options, names, values, c_size_t(len(inputs)), wanted, c_size_t(len(outputs)),
                         results)

    def container(self, values, kind):
        out = c_void_p()
        items = (c_void_p * (len(values) + 1))(*values)
        return self.call("CreateValue", items, c_size_t(len(values)), kind, byref(out)), out


def sum_model(op="Add", domain="", dims=(4,)):
    from onnx import TensorProto, helper
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"], domain=domain)], "sum", [value("x", TensorProto.FLOAT, dims)],
        [value("y", TensorProto.FLOAT, dims)], [helper.make_tensor("w", TensorProto.FLOAT, [4], [1, 2, 3, 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model.SerializeToString()


def codes_of_options(c):
    c.call("AddSessionConfigEntry", c.options, b"a.b", b"value")
    short, text = c_size_t(2), ctypes.create_string_buffer(8)
    codes = {"an absent entry": c.call("GetSessionConfigEntry", c.options, b"none", None, byref(c_size_t())),
             "a short buffer for an entry": c.call("GetSessionConfigEntry", c.options, b"a.b", text, byref(short)),
             "an entry again": c.call("AddSessionConfigEntry", c.options, b"a.b", b"other"),
             "an entry without a key": c.call("AddSessionConfigEntry", c.options, b"", b"v"),
             "a negative size for a symbol": c.call("AddFreeDimensionOverrideByName", c.fresh(), b"N", c_int64(-5)),
             "inter-op threads -1": c.call("SetInterOpNumThreads", c.fresh(), -1),
             "execution mode 5": c.call("SetSessionExecutionMode", c.fresh(), 5),
             "a provider by its own function": c.call("SessionOptionsAppendExecutionProvider_CUDA", c.fresh(),
                                                      ctypes.create_string_buffer(256)),
             "options of CUDA": c.call("CreateCUDAProviderOptions", byref(c_void_p())),
             "options of TensorRT": c.call("CreateTensorRTProviderOptions", byref(c_void_p())),
             "a library of operators": c.call("RegisterCustomOpsLibrary", c.fresh(), b"/none.so", byref(c_void_p())),
             "a library of operators, second function": c.call("RegisterCustomOpsLibrary_V2", c.fresh(), b"/none.so")}
    for number in (-1, 0, 100000):
        codes[f"intra-op threads {number}"] = c.call("SetIntraOpNumThreads", c.fresh(), number)
    for level in (-1, 3, 4, 99, 100):
        codes[f"level {level}"] = c.call("SetSessionGraphOptimizationLevel", c.fresh(), level)
    for name in (b"CPU", b"CPUExecutionProvider", b"CUDA", b"CUDAExecutionProvider", b"QNN", b"XNNPACK", b"Nonsense"):
        codes[f"provider {name.decode()}"] = c.call("SessionOptionsAppendExecutionProvider", c.fresh(), name, None, None,
                                                    c_size_t(0))
    threading = c.make("CreateThreadingOptions")
    for number in (-1, 0, 4):
        codes[f"global threads {number}"] = c.call("SetGlobalIntraOpNumThreads", threading, number)
    codes["global inter-op threads -1"] = c.call("SetGlobalInterOpNumThreads", threading, -1)
    codes["spin control 7"] = c.call("SetGlobalSpinControl", threading, 7)
    for name in (b"Cpu", b"Cuda", b"CudaPinned", b"Nonsense"):
        codes[f"memory {name.decode()}"] = c.call("CreateMemoryInfo", name, 0, 0, 0, byref(c_void_p()))
    return codes


def codes_of_models(c, folder):
    codes = {"no such file": c.call("CreateSession", c.env, f"{folder}/none.onnx".encode(), c.options, byref(c_void_p())),
             "a folder": c.call("CreateSession", c.env, folder.encode(), c.options, byref(c_void_p()))}
    for name, data in (("a page of HTML", b"<html>not a model</html>"), ("a file without bytes", b""),
                       ("a file that was cut", sum_model()[:-9])):
        (Path(folder) / "model.onnx").write_bytes(data)
        codes[name] = c.call("CreateSession", c.env, f"{folder}/model.onnx".encode(), c.options, byref(c_void_p()))
    codes["an unknown operator"] = c.open(sum_model("Ad"))[0]
    codes["an unknown domain"] = c.open(sum_model("Add", "my.own"))[0]
    codes["a node whose shapes do not fit"] = c.open(sum_model("MatMul", dims=(3,)))[0]
    codes["no bytes"] = c.open(b"")[0]
    return codes


def codes_of_runs(c, session):
    x, y = c.value([4]), [b"y"]
    ended = c.make("CreateRunOptions")
    c.call("RunOptionsSetTerminate", ended)
    return {
        "a run": c.run(session, [(b"x", x)], y), "no input": c.run(session, [], y),
        "an unknown input": c.run(session, [(b"x", x), (b"q", x)], y),
        "an unknown input alone": c.run(session, [(b"q", x)], y),
        "an unknown output": c.run(session, [(b"x", x)], [b"z"]), "no output": c.run(session, [(b"x", x)], []),
        "an input twice": c.run(session, [(b"x", x), (b"x", x)], y), "an output twice": c.run(session, [(b"x", x)], y + y),
        "a value of another rank": c.run(session, [(b"x", c.value([1, 4]))], y),
        "a value of another size": c.run(session, [(b"x", c.value([3]))], y),
        "a value of another type": c.run(session, [(b"x", c.value([4], INT32))], y),
        "strings for floats": c.run(session, [(b"x", c.strings(4))], y),
        "a result of another size": c.run(session, [(b"x", x)], y, c.value([3])),
        "a result of another rank": c.run(session, [(b"x", x)], y, c.value([2, 2])),
        "a result of another type": c.run(session, [(b"x", x)], y, c.value([4], INT32)),
        "no value": c.run(session, [(b"x", None)], y),
        "an initializer as input": c.run(session, [(b"x", x), (b"w", x)], y),
        "a run that was ended": c.run(session, [(b"x", x)], y, options=ended),
    }


def codes_of_bindings(c, session):
    x, out = c.value([4]), c_void_p()
    binding, other = c.make("CreateIoBinding", session), c.make("CreateIoBinding", session)
    codes = {"an unknown input bound": c.call("BindInput", binding, b"q", x),
             "an unknown output bound": c.call("BindOutput", binding, b"q", x),
             "an unknown output bound to a device": c.call("BindOutputToDevice", binding, b"q", c.memory),
             "a run of nothing bound": c.call("RunWithBinding", session, None, other),
             "no bound values": c.call("GetBoundOutputValues", other, c.allocator, byref(out), byref(c_size_t())),
             "no bound names": c.call("GetBoundOutputNames", other, c.allocator, byref(out), byref(c_void_p()),
                                      byref(c_size_t()))}
    c.call("BindInput", binding, b"x", x)
    c.call("BindInput", other, b"x", x)
    codes["a run of an unknown output bound"] = c.call("RunWithBinding", session, None, binding)
    codes["a run without an output bound"] = c.call("RunWithBinding", session, None, other)
    codes["a value of another type bound"] = c.call("BindInput", other, b"x", c.value([4], INT32))
    return codes


def codes_of_values(c, session):
    x, out, text = c.value([4]), c_void_p(), ctypes.create_string_buffer(8)
    strings, words, offsets = c.strings(3), (c_char_p * 2)(b"a", b"b"), (c_size_t * 3)()
    c.call("FillStringTensorElement", strings, b"long", c_size_t(0))
    keys, sequence = c.value([4], INT64, size=8), c.container([x, x], 2)[1]
    kind = c.make("SessionGetInputTypeInfo", session, c_size_t(0))
    metadata = c.make("SessionGetModelMetadata", session)
    return {
        "a small buffer": c.tensor([4], count=3)[0], "a large buffer": c.tensor([4], count=9)[0],
        "a negative size": c.tensor([-1], count=4)[0], "element type 99": c.tensor([4], 99)[0],
        "element type 0": c.tensor([4], 0)[0], "no elements": c.tensor([0, 4])[0], "a scalar": c.tensor([])[0],
        "strings in memory of the caller": c.tensor([4], STRING)[0],
        "too few strings": c.call("FillStringTensor", strings, words, c_size_t(2)),
        "string 7 of 3": c.call("FillStringTensorElement", strings, b"x", c_size_t(7)),
        "the length of string 7": c.call("GetStringTensorElementLength", strings, c_size_t(7), byref(c_size_t())),
        "a short buffer for a string": c.call("GetStringTensorElement", strings, c_size_t(2), c_size_t(0), text),
        "a short buffer for strings": c.call("GetStringTensorContent", strings, text, c_size_t(2), offsets, c_size_t(3)),
        "too few offsets": c.call("GetStringTensorContent", strings, text, c_size_t(8), offsets, c_size_t(2)),
        "the data of strings": c.call("GetTensorMutableData", strings, byref(out)),
        "strings of floats": c.call("GetStringTensorDataLength", x, byref(c_size_t())),
        "floats filled with strings": c.call("FillStringTensor", x, words, c_size_t(2)),
        "items of a tensor": c.call("GetValueCount", x, byref(c_size_t())),
        "an item of a tensor": c.call("GetValue", x, 0, c.allocator, byref(out)),
        "item 9 of a sequence": c.call("GetValue", sequence, 9, c.allocator, byref(out)),
        "item -1 of a sequence": c.call("GetValue", sequence, -1, c.allocator, byref(out)),
        "an empty sequence": c.container([], 2)[0], "a sequence": c.container([x, x], 2)[0],
        "a sequence of two types": c.container([x, c.value([4], INT32)], 2)[0],
        "a sequence of a sequence": c.container([sequence], 2)[0], "a map": c.container([keys, x], 3)[0],
        "a map of keys alone": c.container([keys], 3)[0], "a map with keys of floats": c.container([x, x], 3)[0],
        "a map with fewer values": c.container([keys, c.value([3])], 3)[0],
        "a map with int32 values": c.container([keys, c.value([4], INT32)], 3)[0],
        "a value of kind 1": c.container([x], 1)[0],
        "element 9 of 4": c.call("TensorAt", x, (c_int64 * 1)(9), c_size_t(1), byref(out)),
        "no index": c.call("TensorAt", x, (c_int64 * 1)(), c_size_t(0), byref(out)),
        "the map of a tensor's type": c.call("CastTypeInfoToMapTypeInfo", kind, byref(out)),
        "the name of input 5": c.call("SessionGetInputName", session, c_size_t(5), c.allocator, byref(out)),
        "the type of output 5": c.call("SessionGetOutputTypeInfo", session, c_size_t(5), byref(out)),
        "absent metadata": c.call("ModelMetadataLookupCustomMetadataMap", metadata, c.allocator, b"none", byref(out)),
    }


def codes_of(path):
    c = Client(path)
    session = c.open(sum_model())[1]
    with tempfile.TemporaryDirectory() as folder:
        return {**codes_of_options(c), **codes_of_models(c, folder), **codes_of_runs(c, session),
                **codes_of_bindings(c, session), **codes_of_values(c, session)}


def main():
    try:
        import onnx  # noqa: F401
    except ImportError:
        print("skipped: there is no python3-onnx")
        sys.exit(77)
    if len(sys.argv) == 2:
        print(json.dumps(codes_of(sys.argv[1])))
        return 0
    # A process each: the library's functions have the same names.
    theirs, ours = (json.loads(subprocess.run([sys.executable, __file__, path], check=True, text=True,
                                              stdout=subprocess.PIPE).stdout) for path in sys.argv[1:3])
    wrong = [name for name in theirs if (ours[name] != theirs[name]) != (name in DIFFERS)]
    for name in wrong:
        print(f"{name}: {ours[name]}, there {theirs[name]}{'; listed as different' if name in DIFFERS else ''}")
    print(f"codes: {sum(ours[n] == theirs[n] for n in theirs)} of {len(theirs)} equal, {len(DIFFERS)} differ for a reason")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
