#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench/peers` beside a library that only looks like ONNX Runtime.

Usage: bench_peers_test.py BUILD-FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile

from onnx_writer import model, node, tensor_type

BUILD = os.path.abspath(sys.argv[1])
PEERS = os.path.abspath("bench/peers")
FAKE = os.path.abspath("tests/cli/fake_ort.c")


def make_library(folder, name, *flags):
    path = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-shared", "-fPIC", *flags, FAKE, "-o", path], check=True)
    return path


def run(*arguments, code=0):
    done = subprocess.run([sys.executable, PEERS, "--build", BUILD, "--threads=1", "--rounds=2", "--runs=1", "--min-time=0",
                           *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "relu.onnx")
        with open(path, "wb") as f:
            f.write(model([node("Relu", ["x"], ["y"], name="r")], [("x", tensor_type("FLOAT", ["batch", 4]))],
                          [("y", tensor_type("FLOAT", ["batch", 4]))]))
        right, wrong = make_library(folder, "right.so"), make_library(folder, "wrong.so", "-DOFFSET=0.1f")

        found = json.loads(run("--lib", right, "--json=-", path)[0])["models"][0]
        assert found["model"] == "relu" and found["deviation"] == 0, found
        result = found["results"][0]
        assert result["threads"] == 1 and result["ratio"] > 0 and len(result["lightnet"]) == len(result["peer"]) == 2
        assert result["peer"][0]["version"] == "fake" and result["peer"][0]["rss_bytes"] > 0

        text, _ = run("--lib", right, path)
        assert "geometric mean of 1 models, 1 thread" in text, text
        assert "outputs differ by" in run("--lib", wrong, path, code=1)[1]
        assert "cannot open shared object" in run("--lib", "./nobody.so", path, code=1)[1]
        assert "there is no model 'nobody'" in run("--lib", right, "nobody", code=1)[1]
        run("--threads=x", code=2)


main()
