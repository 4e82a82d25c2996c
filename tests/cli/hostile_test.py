#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file says cannot steer the terminal: hostile names and texts, in each place of a file, with each command.

Usage: hostile_test.py FOLDER-OF-THE-COMMANDS
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import onnx_writer as onnx

LIGHTNET = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")

# Control characters but for \n and \t, and what changes the direction of text.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TEXTS = {
    "C1": "a\x9b31mb",
    "override": "a\u202eb",
    "isolate": "a\u2066b\u061c",
}


def run(*arguments, env=None):
    done = subprocess.run([LIGHTNET, *arguments], capture_output=True, check=False,
                          env={**os.environ, **(env or {})})
    assert done.returncode in (0, 1, 2, 3), (arguments, done.returncode, done.stderr)
    for stream in (done.stdout, done.stderr):
        text = stream.decode("utf-8")  # fails where a byte is no text
        found = UNSAFE.search(text)
        assert not found, (arguments, found, text)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def onnx_model(where, text):
    names = {"input": "x", "node": "n", "output": "y", "dim": "d", "domain": "", "optype": "Relu", "producer": "p"}
    names[where] = text
    fields = {1: ["x"], 2: [names["output"]], 3: names["node"], 4: names["optype"], 7: names["domain"]}
    fields[1] = [names["input"]]
    graph = {1: [fields], 2: "g", 11: [{1: names["input"], 2: onnx.tensor_type("FLOAT", [names["dim"], 2])}],
             12: [{1: names["output"], 2: onnx.tensor_type("FLOAT", [names["dim"], 2])}]}
    opsets = [{1: "", 2: 17}] + ([{1: names["domain"], 2: 1}] if names["domain"] else [])
    return onnx.message({1: 8, 2: names["producer"], 7: graph, 8: opsets})


def check_names():
    """Names of a model: shown by each command, and in each text format that is written."""
    for why, text in TEXTS.items():
        for where in ("input", "node", "output", "dim", "domain", "optype", "producer"):
            write("model.onnx", onnx_model(where, text))
            size = (text if where == "dim" else "d") + "=3"
            for command in (["inspect"], ["run", "--zero", "-s", size], ["plan", "-s", size], ["opt"],
                            ["convert", "-o", "-"], ["convert", "-o", "model.net"]):
                code = run(*command, "model.onnx")[0]
                assert code == 0 or where in ("domain", "optype"), (why, where, command, code)
        write("model.onnx", onnx_model("output", text))
        shape = ["-s", "d=3"]
        for command in (["bench", "--runs=1", "--min-time=0", "--warmup=1", "--profile", *shape], ["compare", *shape],
                        ["blame"], ["plan", "--json", *shape], ["opt", "--dump-after=all"]):
            run(*command, "model.onnx")
        check_round_trip(text)


def check_round_trip(text):
    """Texts are written with escapes, and are the same when they are read again."""
    for name in ("model.json", "model.net"):
        code, _, err = run("convert", "-o", name, "model.onnx")
        assert code == 0, err
        with open(name, "rb") as file:
            written = file.read().decode("utf-8")
        assert not UNSAFE.search(written), (name, written)
        code, out, err = run("convert", "-o", "again.json", name)
        assert code == 0, err
        with open("again.json", encoding="utf-8") as file:
            names = [t["name"] for op in json.load(file)["ops"] for t in op["tensors_out"]]
        assert text in names, (name, names)


def check_stats():
    """Names of tensors in files of weights, and bytes that are no UTF-8."""
    for text in [*(t.encode() for t in TEXTS.values()), b"a\x9b\xff"]:
        header = json.dumps({"T": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        header = header.replace(b"T", text, 1)
        write("w.safetensors", struct.pack("<Q", len(header)) + header + bytes(8))
        run("stats", "w.safetensors")
        code, out, _ = run("stats", "--json", "w.safetensors")
        if code == 0:
            json.loads(out)
    run("stats", "missing\x9b.wts")


def check_printing():
    """What `print` writes, and strings that are outputs."""
    for text, shown in (("\\u001b]0;t\\u0007\\u001b[2J", "\\x1b]0;t\\x07\\x1b[2J"), ("a\\u009b\\u202e", "a\\u009b\\u202e")):
        write("model.net", 'create(| dst=x | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[1], from_file=false);\n'
                           'print(src=x | | msg="%s");\nrelu(src=x | dst=y |);\n' % text)
        code, out, err = run("run", "--zero", "model.net")
        assert code == 0 and shown in out, (out, err)


def nested_ifs(count):
    graph = {1: [onnx.node("Neg", ["x"], ["y"])], 2: "inner", 12: [{1: "y", 2: onnx.tensor_type("FLOAT", [1])}]}
    for level in range(count):
        name = "y%d" % level
        node = {1: ["c"], 2: [name], 4: "If", 5: [{1: "then_branch", 6: graph, 20: 5}, {1: "else_branch", 6: {
            1: [onnx.node("Identity", ["x"], ["e%d" % level])], 2: "e",
            12: [{1: "e%d" % level, 2: onnx.tensor_type("FLOAT", [1])}]}, 20: 5}]}
        graph = {1: [node], 2: "g%d" % level, 12: [{1: name, 2: onnx.tensor_type("FLOAT", [1])}]}
    graph[11] = [{1: "x", 2: onnx.tensor_type("FLOAT", [1])}, {1: "c", 2: onnx.tensor_type("BOOL", [])}]
    return onnx.message({1: 8, 2: "test", 7: graph, 8: {1: "", 2: 17}})


def check_nesting():
    """The limit of graphs inside each other is the one that is documented, the outermost included."""
    write("model.onnx", nested_ifs(31))
    code, _, err = run("run", "--zero", "model.onnx")
    assert code == 0, err
    write("model.onnx", nested_ifs(32))
    code, _, err = run("run", "--zero", "model.onnx")
    assert code == 1 and "more than 32 graphs and functions inside each other" in err, err


def check_environment():
    """Values of the environment that are wrong are told."""
    write("model.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
    for name, values in (("LN_THREADS", ("-1", "999999999999", "0", "two", "3 ")), ("LN_CPU_ISA", ("avx9999", "AVX2"))):
        for value in values:
            code, _, err = run("run", "--zero", "model.net", env={name: value})
            assert code == 0 and "warning: " + name in err and "'%s'" % value in err, (name, value, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_names()
        check_stats()
        check_printing()
        check_nesting()
        check_environment()
        os.chdir("/")


main()
