#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lightnet bench` for people and for programs: the object, the profile, the trace, what it refuses.

Usage: bench_test.py FOLDER-OF-THE-COMMANDS
"""

import json
import os
import subprocess
import sys
import tempfile

from onnx_writer import model as onnx_model, node, tensor_type

LIGHTNET = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")
KEYS = ["model", "threads", "runs", "load_ms", "compile_ms", "first_ms", "median_ms", "p10_ms", "p90_ms", "gflops",
        "peak_share", "plan_bytes", "rss_bytes"]
QUICK = ["--runs=3", "--min-time=0", "--warmup=1"]

# A name that must not become markup.
MODEL = """{"ops": [
  {"name": "in", "optype": "input", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}],
   "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [1, 4, 8, 8]}]},
  {"name": "r\\"<&>", "optype": "relu", "tensors_in": [{"arg_name": "src", "name": "x"}],
   "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": []},
  {"name": "m", "optype": "maxpool2d", "tensors_in": [{"arg_name": "src", "name": "y"}],
   "tensors_out": [{"arg_name": "dst", "name": "z"}],
   "params": [{"arg_name": "size", "value": [2, 2]}, {"arg_name": "stride", "value": [2, 2]},
              {"arg_name": "padding", "value": [0, 0, 0, 0]}, {"arg_name": "autopad", "value": "NOTSET"}]}]}
"""


def run(*arguments, code=0, command="bench"):
    done = subprocess.run([LIGHTNET, command, *arguments], capture_output=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout.decode(), done.stderr.decode()


def facts(*arguments):
    return json.loads(run("--json", *QUICK, *arguments)[0])


def check_object(digits, data):
    found = facts("-f", data, digits)
    assert list(found)[:len(KEYS)] == KEYS, list(found)
    assert found["model"] == digits and found["threads"] >= 1 and found["runs"] == 3
    for key in KEYS[3:9]:
        assert found[key] > 0, key
    assert found["p10_ms"] <= found["median_ms"] <= found["p90_ms"]
    assert abs(found["gflops"] - 2e-6 * found["work"] / found["median_ms"]) < 2e-3
    assert 0 < found["peak_share"] < 2 and found["isa"] in ("generic", "avx2", "avx512")
    plan = json.loads(run("--json", digits, command="plan")[0])["memory"]["LN_MEM_CPU"]
    assert found["plan_bytes"] == plan["peak"] == found["static_bytes"] + found["workspace_bytes"]
    assert found["rss_bytes"] > found["plan_bytes"]
    assert "operators" not in found

    for threads in (1, 2):
        found = facts("--threads=%d" % threads, digits)
        assert found["threads"] == threads and found["peak_gflops"] > 0, found

    for arguments, least, most in (["--runs=7"], 7, 7), (["--runs=2", "--min-time=0.05"], 3, 1e6), (["--min-time=0"], 20, 20):
        found = json.loads(run("--json", "--warmup=1", *arguments, digits)[0])
        assert least <= found["runs"] <= most, (arguments, found["runs"])

    on_ref = facts("--target=ref", digits)
    assert on_ref["peak_share"] is None and on_ref["target"] == "ref"


def check_compiled(digits, folder):
    """What is compiled already takes no time to compile."""
    compiled = os.path.join(folder, "compiled.json")
    run("-o", compiled, digits, command="-c")
    found = facts(compiled)
    assert found["compile_ms"] == 0 and found["load_ms"] > 0


def check_files(digits, folder):
    """--json=FILE leaves the text on standard output."""
    path = os.path.join(folder, "facts.json")
    text, _ = run("--json=" + path, *QUICK, digits)
    with open(path, encoding="utf-8") as f:
        assert list(json.load(f))[:len(KEYS)] == KEYS
    for word in ("median", "GFLOP/s", "first run", "workspace", "load"):
        assert word in text, text
    for option in ("--json", "--trace"):
        _, message = run("%s=%s/no/such/folder" % (option, folder), *QUICK, digits, code=1)
        assert "cannot write" in message, message


def check_profile(digits):
    found = facts("--profile", digits)
    operators = found["operators"]
    assert abs(sum(op["share"] for op in operators) - 1) < 1e-3
    assert any(op["type"] == "conv2d_cpu" or op["type"].startswith("conv2d_nhwc") for op in operators)
    assert {op["type"] for op in operators} == {t["type"] for t in found["types"]}
    assert sum(t["count"] for t in found["types"]) == len(operators)
    for op in operators:
        assert op["ms"] >= 0 and op["kernel"] and op["name"], op
        assert op["arch"] != "cpu" or op["kernel"].endswith(found["isa"]), op

    by_run = run("--profile=run", *QUICK, digits)[0].split("\n")
    steps = [int(line.split()[0]) for line in by_run[by_run.index("") + 1:] if line.split()[1:2] and
             line.split()[0].isdigit()]
    assert steps[-len(operators):] == list(range(1, len(operators) + 1)), steps
    slowest = run("--profile", *QUICK, digits)[0].split("\n\n")[2].split("\n")[1:-1]
    times = [float(line.split()[1]) for line in slowest]
    assert len(times) == len(operators) and times == sorted(times, reverse=True), times


def check_trace(model, folder):
    path = os.path.join(folder, "trace.json")
    run("--trace", path, *QUICK, "--target=cpu,ref", model)
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    runs = [e for e in events if e.get("cat") == "run"]
    slices = [e for e in events if e.get("cat") == "operator"]
    assert len(runs) == 3 and len(slices) == 6, (len(runs), len(slices))
    assert {e["name"] for e in slices} == {'r"<&>', "m"}
    for e in slices:
        assert e["ph"] == "X" and e["dur"] >= 0 and {"type", "kernel", "shape", "bytes", "gflops"} <= set(e["args"])
        assert any(r["ts"] <= e["ts"] + 1e-3 and e["ts"] + e["dur"] <= r["ts"] + r["dur"] + 1e-2 for r in runs), e
    relu = next(e for e in slices if e["name"] == 'r"<&>')
    assert relu["args"]["bytes"] == 2 * 4 * 4 * 8 * 8 and relu["args"]["shape"] == "[1, 4, 8, 8]", relu


def check_inputs(folder):
    """What stays open is 1, and what may be an index is 0."""
    path = os.path.join(folder, "gather.onnx")
    with open(path, "wb") as f:
        f.write(onnx_model([node("Gather", ["x", "i"], ["g"], name="g"), node("Relu", ["g"], ["y"], name="r")],
                           [("x", tensor_type("FLOAT", ["rows", 2])), ("i", tensor_type("INT64", ["picks"]))],
                           [("y", tensor_type("FLOAT", ["picks", 2]))]))
    text, said = run("--json", "--profile", *QUICK, "-s", "picks=5", path)
    assert "input 'x' of the open shape [-1, 2] is taken as [1, 2]" in said and "'i'" not in said, said
    assert json.loads(text)["operators"][-1]["shape"] == "[5, 2]", text
    run("--zero", *QUICK, path)


def check_refusals(digits):
    for arguments, message in (
            ([], "no model"), ([digits, digits], "one model at a time"), (["--runs=0", digits], "--runs takes 1 to"),
            (["--runs", "x", digits], "--runs takes 1 to"), (["--min-time=-1", digits], "--min-time takes a number"),
            (["--warmup=0", digits], "--warmup takes 1 to"), (["--threads=0", digits], "--threads takes 1 to"),
            (["--profile=x", digits], "--profile takes slowest or run"), (["--seed=-1", digits], "--seed takes"),
            (["--nope", digits], "unknown option --nope"), (["--trace"], "option --trace needs a value")):
        _, text = run(*arguments, code=2)
        assert message in text and "lightnet bench --help" in text, (arguments, text)
    assert "No such file" in run("no_such_model", code=1)[1]
    assert "-s takes" in run("-s", "x", digits, code=2)[1]
    assert "Usage: lightnet bench" in run("--help")[0]


def main():
    digits = os.path.join(os.getcwd(), "models/digits/digits.net")
    data = os.path.join(os.getcwd(), "models/digits/digits.safetensors")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.json")
        with open(model, "w", encoding="utf-8") as f:
            f.write(MODEL)
        check_object(digits, data)
        check_compiled(digits, folder)
        check_files(digits, folder)
        check_profile(digits)
        check_trace(model, folder)
        check_inputs(folder)
        check_refusals(digits)


main()
