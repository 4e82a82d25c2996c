#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lightnet plan` for people and for programs: the drawing, the JSON, the budget.

Usage: plan_test.py FOLDER-OF-THE-COMMANDS
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx_writer as ow

LIGHTNET = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")
SVG = "{http://www.w3.org/2000/svg}"

# Names that must not become markup.
MODEL = r"""{"ops": [
  {"name": "in<&>", "optype": "input", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x\"<&>'"}],
   "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [1, 4, 8, 8]}]},
  {"name": "r]]>", "optype": "relu", "tensors_in": [{"arg_name": "src", "name": "x\"<&>'"}],
   "tensors_out": [{"arg_name": "dst", "name": "\u00e9y"}], "params": []},
  {"name": "s", "optype": "reshape", "tensors_in": [{"arg_name": "src", "name": "\u00e9y"}],
   "tensors_out": [{"arg_name": "dst", "name": "z"}], "params": [{"arg_name": "dims", "value": [4, 64]}]}]}
"""


def run(*arguments, code=0):
    done = subprocess.run([LIGHTNET, "plan", *arguments], capture_output=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout, done.stderr.decode()


def facts(model):
    return json.loads(run("--json", model)[0])


def check_drawing(model):
    """One rectangle with a title for each tensor that has bytes in a run, in its place."""
    root = xml.fromstring(run("--svg", model)[0])
    titles = [t.text for t in root.iter(SVG + "title")]
    tensors = [t for t in facts(model)["tensors"] if t["bytes"] > 0 and not t["loading"]]
    assert len(titles) == len(tensors), (len(titles), len(tensors))
    for tensor in tensors:
        place = "%d bytes at %d, steps %d to %d" % (
            tensor["bytes"], tensor["offset"], tensor["first_step"], tensor["last_step"])
        assert any(place in title for title in titles), place
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(SVG + "rect"):
        if rect.get("width").endswith("%"):
            continue
        x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and w >= 0 and h >= 0 and x + w <= width and y + h <= height, rect.attrib


def check_json(model):
    plan = facts(model)
    memory = plan["memory"]["LN_MEM_CPU"]
    assert memory["static"] + memory["workspace"] == memory["peak"]
    ends = [t["offset"] + t["bytes"] for t in plan["tensors"] if not t["loading"]]
    assert max(ends) <= memory["peak"] < max(ends) + 64
    assert all(t["last_step"] < len(plan["steps"]) for t in plan["tensors"])
    return max(memory["peak"], memory["static"] + memory["loading"])


def check_budget(model, peak):
    run("--budget", str(peak), "--short", model)
    _, message = run("--budget=%d" % (peak - 1), model, code=1)
    assert "needs %d bytes" % peak in message and "the limit is %d" % (peak - 1) in message, message
    for good in ("1G", "1Gi", "1GiB", "0.5M", "2e6B"):
        run("--budget", good, model)
    for bad in ("x", "-1", "0", "1k", "1 M", "1Mib", "nan", "inf", "1e400", "1Q"):
        _, message = run("--budget", bad, model, code=2)
        assert "--budget takes a number of bytes" in message, (bad, message)


OPEN = """
input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=["N", ""]);
Relu(X=x | Y=r |);
Add(A=r, B=r | C=y |);
"""

# What a graph gives to the operator that runs it is in no plan.
GRAPH = """
input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 3, 4]);
preview_FlexAttention(Q=x, K=x, V=x | Y=y | score_mod="scores");
graph scores {
    input(| dst=s | dtype=TL_FLOAT, dims=[], open=true);
    Neg(X=s | Y=t |);
}
"""

# What an operator works in is in the plan, for its step alone: here 4 x 8 + 8 x 5 floats. Zero
# points of rows are left to `ref`.
PRODUCT = """
input(| dst=a | dtype=TL_UINT8, dims=[4, 8]);
input(| dst=b | dtype=TL_UINT8, dims=[8, 5]);
create(| dst=az | dtype=TL_UINT8, dims=[4], data=[1, 2, 3, 4]);
MatMulInteger(A=a, B=b, a_zero_point=az | Y=y |);
Neg(X=y | Y=z |);
"""


def check_scratch(folder):
    model, compiled = os.path.join(folder, "product.net"), os.path.join(folder, "product.json")
    with open(model, "w", encoding="utf-8") as f:
        f.write(PRODUCT)
    subprocess.run([LIGHTNET, "-c", "-o", compiled, model], check=True)
    for path in (model, compiled):
        plan = facts(path)
        assert plan["unplanned"] == {"tensors": 0, "operators": 0}, plan["unplanned"]
        scratch = [t for t in plan["tensors"] if t["name"].endswith("_scratch")]
        assert [t["bytes"] for t in scratch] == [128 + 192], scratch
        assert scratch[0]["first_step"] == scratch[0]["last_step"], scratch
        check_budget(path, check_json(path))
    subprocess.run([LIGHTNET, "run", "--zero", compiled], check=True, capture_output=True)


def check_range(folder):
    """One plan for all sizes, that of the largest; what a range cannot be is said."""
    path = os.path.join(folder, "range.net")
    with open(path, "w", encoding="utf-8") as f:
        f.write(OPEN)
    largest = json.loads(run("--json", "-s", "N=9", path)[0])["memory"]["LN_MEM_CPU"]["peak"]
    text = run("--short", "-s", "N=2..9", path)[0].decode()
    assert text.count("peak") == 1 and "with N=9" in text, text
    done = subprocess.run([LIGHTNET, "inspect", "-s", "N=2..9", path], capture_output=True, check=True)
    assert done.stdout.count(b"peak") == 1 and b"peak %s bytes for all shapes" % f"{largest:,}".encode() in done.stdout
    assert "peak %d bytes for each of 8 shapes (all 8 looked at)" % largest in text, text
    assert "most is needed by N=9" in text, text
    plan = json.loads(run("--json", "-s", "N=0..1000", path)[0])["range"]
    assert plan["worst"] == "N=1000" and plan["shapes"] == plan["looked_at"] == 1001, plan
    plan = json.loads(run("--json", "-s", "N=0..9999", path)[0])["range"]
    assert plan["worst"] == "N=9999" and plan["shapes"] == 10000 and plan["looked_at"] <= 64, plan
    _, message = run("--budget=%d" % (largest - 1), "-s", "N=2..9", path, code=1)
    assert "N=9" in message and "the limit is" in message, message
    for bad in ("N=9..2", "N=..2", "N=2..", "N=1..x", "N=1x2..3", "N=-1..2", "x=1..2"):
        _, message = run("-s", bad, path, code=1 if bad == "x=1..2" else 2)
        assert "range" in message or "no input has a dimension" in message, (bad, message)
    compiled = os.path.join(folder, "range.json")
    subprocess.run([LIGHTNET, "-c", "-o", compiled, "-s", "N=2..9", path], capture_output=True, check=True)
    text = run("--short", compiled)[0].decode()
    assert "peak %d bytes for each of 8 shapes" % largest in text and "most is needed by N=9" in text, text


def check_constants(folder):
    """Constants of a dynamic model count, whether they are copied or read in the model's file."""
    rng = np.random.default_rng(0)
    weights = [("w" * length, rng.random((64, 64), "f4")) for length in (1, 2, 3, 4)]
    names = ["x"] + ["h%d" % i for i in range(3)] + ["y"]
    nodes = [ow.node("MatMul", [names[i], weights[i][0]], [names[i + 1]]) for i in range(4)]
    path = os.path.join(folder, "weights.onnx")
    with open(path, "wb") as f:
        f.write(ow.model(nodes, [("x", ow.tensor_type("FLOAT", ["batch", 64]))],
                         [("y", ow.tensor_type("FLOAT", ["batch", 64]))], weights))
    plan = json.loads(run("--json", path)[0])
    statics = {t["name"]: t for t in plan["tensors"] if t["static"]}
    assert all(statics[name]["bytes"] + statics[name].get("in_file", 0) == w.nbytes for name, w in weights), statics
    in_file = sum(t.get("in_file", 0) for t in statics.values())
    assert 0 < in_file == plan["in_file"], plan
    text = run("--short", path)[0].decode()
    assert "and %d bytes of constants, read where they are in the model's file" % in_file in text, text
    done = subprocess.run([LIGHTNET, "inspect", path], capture_output=True, check=True, text=True).stdout
    assert "peak of what is fixed" in done and "in file    %s bytes" % f"{in_file:,}" in done, done


def check_unplanned(folder):
    """What a plan lacks is said, and then no budget is kept."""
    paths = []
    for name, text in (("open.net", OPEN), ("graph.net", GRAPH)):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write(text)
    dynamic, graph = paths
    for options in ((), ("--short",)):
        text = run(*options, dynamic)[0].decode()
        assert "peak of what is fixed" in text and "3 tensors (x, r, y) of a shape" in text, text
        text = run(*options, graph)[0].decode()
        assert "peak of what is fixed" in text and "1 operator (preview_FlexAttention" in text, text
        text = run(*options, "-s", "x=3x4", dynamic)[0].decode()
        assert "fixed" not in text and "not in it" not in text, text
    assert facts(dynamic)["unplanned"] == {"tensors": 3, "operators": 0}, facts(dynamic)["unplanned"]
    assert facts(graph)["unplanned"] == {"tensors": 2, "operators": 1}, facts(graph)["unplanned"]
    for model, what in ((dynamic, "3 tensors of a shape that only a run knows"), (graph, "2 tensors of a shape")):
        _, message = run("--budget=1G", model, code=1)
        assert "within the budget is not known" in message and what in message, message
    run("--budget=1G", "-s", "x=3x4", dynamic)


def main():
    digits = os.path.join(os.getcwd(), "models/digits/digits.net")
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "odd.json")
        with open(odd, "w", encoding="utf-8") as f:
            f.write(MODEL)
        for model in (digits, odd):
            assert facts(model)["unplanned"] == {"tensors": 0, "operators": 0}
            check_drawing(model)
            check_budget(model, check_json(model))
        check_scratch(folder)
        check_range(folder)
        check_constants(folder)
        check_unplanned(folder)
        assert facts(odd)["tensors"][1]["name"] == "\u00e9y"
        target = os.path.join(folder, "plan.svg")
        run("--svg", "-o", target, digits)
        with open(target, "rb") as f:
            assert f.read() == run("--svg", digits)[0]
        _, message = run("--svg", "-o", folder, digits, code=1)
        assert "cannot write" in message
        run("--svg", "--json", digits, code=2)
    print("plan: the drawing, the JSON and the budget are right")


main()
