#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--json` of run, inspect, compare and verify: one object, exact numbers, the same facts as the text.

Usage: json_test.py FOLDER-OF-THE-COMMANDS
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")

WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def run(*args, code=0):
    done = subprocess.run([LIGHTNET, *map(str, args)], capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
                          check=False)
    assert done.returncode == code, (args, done)
    return done.stdout.decode()


def no_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def no_constant(word):
    raise AssertionError("%s is not JSON" % word)


def parse(text):
    """The object, which is all of the text."""
    return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)


def facts(*args, code=0):
    return parse(run(*args, "--json", code=code))


def array_of(value):
    """The tensor of a value, as NumPy has it."""
    data = [WORDS.get(one, one) if isinstance(one, str) and value["dtype"] != "string" else one for one in value["data"]]
    dtype = {"string": "U64"}.get(value["dtype"], value["dtype"])
    return np.array(data, dtype).reshape(value["shape"])


def write(name, content):
    pathlib.Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def identity(array, dtype):
    """A model that gives its input, and the file of it."""
    model = ow.model([ow.node("Identity", ["x"], ["y"])], [("x", ow.tensor_type(dtype, list(array.shape)))],
                     [("y", ow.tensor_type(dtype, list(array.shape)))])
    write("x.pb", ow.message(ow.tensor(array)))
    return write("identity.onnx", model)


# ---- run ----

NUMBERS = {
    "f4": [0.1, -0.0, 1e-45, 3.4028235e38, 16777217, np.nan, np.inf, -np.inf, 1 / 3, -2.5e-38, 7, 1e10],
    "f8": [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2 ** 53 + 1, np.nan, np.inf, -np.inf, 1 / 3, np.pi, 7, 1e22],
    "f2": [0.1, -0.0, 6e-8, 65504, 2049, np.nan, np.inf, -np.inf, 1 / 3, -2.5, 7, 1],
    "i8": [2 ** 63 - 1, -2 ** 63, 2 ** 53 + 1, 0, 1, -1, 10, 100, 3, 4, 5, 6],
    "u8": [2 ** 64 - 1, 2 ** 63 + 1, 2 ** 53 + 1, 0, 1, 9, 10, 100, 3, 4, 5, 6],
    "i4": [2 ** 31 - 1, -2 ** 31, 16777217, 0, 1, -1, 10, 100, 3, 4, 5, 6],
    "u4": [2 ** 32 - 1, 0, 16777217, 0, 1, 8, 10, 100, 3, 4, 5, 6],
    "i2": [2 ** 15 - 1, -2 ** 15, 0, 1, -1, 10, 100, 3, 4, 5, 6, 7],
    "u2": [2 ** 16 - 1, 0, 1, 1, 10, 100, 3, 4, 5, 6, 7, 8],
    "i1": [127, -128, 0, 1, -1, 10, 100, 3, 4, 5, 6, 7],
    "u1": [255, 0, 1, 1, 10, 100, 3, 4, 5, 6, 7, 8],
    "b1": [1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0],
}


def test_numbers_of_every_type_come_back():
    for code, numbers in NUMBERS.items():
        x = np.array(numbers, "i8" if code == "i8" else "u8" if code == "u8" else "f8").astype(code).reshape(3, 4)
        found = facts("run", identity(x, ow.NUMPY[code]), "-i", "x=x.pb")
        assert list(found) == ["model", "target", "runs", "median_seconds", "best_seconds", "outputs"], found
        assert found["runs"] == 1 and found["median_seconds"] >= found["best_seconds"] >= 0, found
        y = found["outputs"][0]
        got = array_of(y)
        assert y["name"] == "y" and y["kind"] == "tensor" and got.dtype == x.dtype, y
        nan = np.isnan(x)
        assert (np.isnan(got) == nan).all() and got[~nan].tobytes() == x[~nan].tobytes(), (code, got, x)
        finite = x[np.isfinite(x)]
        assert np.array(y["min"], x.dtype) == finite.min() and np.array(y["max"], x.dtype) == finite.max(), (code, y)
        assert y["nan"] == nan.sum() and y["infinite"] == np.isinf(x).sum(), y
        if code not in ("f8", "f4", "i8", "u8"):
            assert abs(y["mean"] - finite.astype("f8").mean()) <= 1e-12 * abs(finite.astype("f8")).max(), y
        assert all(isinstance(one, bool) == (code == "b1") for one in y["data"]), y
        if code[0] == "f":
            assert all(isinstance(one, float) or one in WORDS for one in y["data"]), y
        # The text says the same.
        text = run("run", "identity.onnx", "-i", "x=x.pb")
        shown = re.match(r"y: (\S+) \[3, 4\] min (\S+) max (\S+) mean (\S+)(?: \((\d+) NaN\))?(?: \((\d+) infinite\))?\n", text)
        assert shown, text
        assert shown[1] == y["dtype"] and shown[2] == "%.6g" % y["min"] and shown[3] == "%.6g" % y["max"], (text, y)
        assert shown[4] == "%.6g" % y["mean"] and (int(shown[5] or 0), int(shown[6] or 0)) == (y["nan"], y["infinite"])


def test_values_without_elements_and_of_rank_0():
    for shape in ((), (0,), (2, 0, 3), (1,)):
        x = np.zeros(shape, "f4")
        y = facts("run", identity(x, "FLOAT"), "-i", "x=x.pb")["outputs"][0]
        assert y["shape"] == list(shape) and y["data"] == [0.0] * x.size, y
        assert (y["min"] is None) == (x.size == 0) == (y["mean"] is None), y
    y = facts("run", identity(np.array([np.nan, np.inf], "f4"), "FLOAT"), "-i", "x=x.pb")["outputs"][0]
    assert y["min"] is None and y["max"] is None and y["data"] == ["NaN", "Infinity"], y


def test_strings_are_escaped():
    texts = ['a "b" \\c', "tab\tline\nend", "\x1b[31mred", "grün 水 \U0001f600", "", "\u202eturned", "\u009bc1", "/"]
    x = np.array(texts)
    text = run("run", identity(x, "STRING"), "-i", "x=x.pb", "--json")
    assert parse(text)["outputs"][0]["data"] == texts, text
    assert "\x1b" not in text and "\u202e" not in text and "\u009b" not in text, text  # nothing steers a terminal
    name = 'we"ird\\ \x1b[1m\n.onnx'
    os.rename("identity.onnx", name)
    assert facts("run", "./" + name, "-i", "x=x.pb")["model"] == "./" + name
    assert facts("inspect", "./" + name)["model"] == "./" + name


def test_sequences_and_optionals_are_nested():
    pair = [np.array([1, 2], "f4"), np.array([[3]], "f4")]
    model = ow.model([ow.node("SequenceConstruct", ["a", "b"], ["s"]), ow.node("Optional", ["s"], ["o"])],
                     [("a", ow.tensor_type("FLOAT", [2])), ("b", ow.tensor_type("FLOAT", [1, 1]))],
                     [("s", ow.sequence_type("FLOAT"))])
    write("sequence.onnx", model)
    found = facts("run", "sequence.onnx", "-i", "a=[1,2]", "-i", "b=[[3]]")["outputs"]
    sequence = next(one for one in found if one["name"] == "s" or one["kind"] == "optional")
    while sequence["kind"] == "optional":
        sequence, = sequence["items"]
    assert sequence["kind"] == "sequence", found
    for item, want in zip(sequence["items"], pair, strict=True):
        assert "name" not in item and (array_of(item) == want).all() and item["shape"] == list(want.shape), found


def test_classes_have_scores_and_labels():
    x = np.array([[0.1, 0.7, 0.2, 0.7], [4, 3, 2, 1]], "f4")
    write("labels.txt", "cat\ndog\n\"cow\"\npig\n")
    y = facts("run", identity(x, "FLOAT"), "-i", "x=x.pb", "--labels=labels.txt", "--top=3")["outputs"][0]
    labels = ["cat", "dog", '"cow"', "pig"]
    for row, top in zip(x, y["top"], strict=True):
        order = np.argsort(-row, kind="stable")[:3]
        assert [one["class"] for one in top] == order.tolist(), y
        assert [np.float32(one["score"]) for one in top] == row[order].tolist(), y
        assert [one["label"] for one in top] == [labels[i] for i in order], y
    y = facts("run", "identity.onnx", "-i", "x=x.pb", "--top=1")["outputs"][0]
    assert [[one["label"] for one in top] for top in y["top"]] == [[None], [None]], y
    assert "top" not in facts("run", "identity.onnx", "-i", "x=x.pb")["outputs"][0]


def test_only_the_object_is_on_standard_output():
    model = write("print.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nprint(src=x | | msg=\"x is\");\n"
                               "relu(src=x | dst=y |);\noutput(src=y | |);\n")
    assert "x is" in run("run", model, "-i", "[1,-2]")
    assert facts("run", model, "-i", "[1,-2]")["outputs"][0]["data"] == [1.0, 0.0]
    # A file beside the text, which stays as it was.
    text = run("run", model, "-i", "[1,-2]")
    assert run("run", model, "-i", "[1,-2]", "--json=facts.json") == text
    assert parse(pathlib.Path("facts.json").read_text())["outputs"][0]["data"] == [1.0, 0.0]
    for verb in ("inspect", "compare"):
        assert run(verb, model, "--json=facts.json") == run(verb, model)
        assert parse(pathlib.Path("facts.json").read_text()) == facts(verb, model)
        assert not run(verb, model, "--json=missing/facts.json", code=1).startswith("{")
    # Outputs are saved as well.
    facts("run", model, "-i", "[1,-2]", "-o", "y.npy")
    assert np.load("y.npy").tolist() == [1, 0]
    assert run("run", model, "--json", "extra", code=2) == ""


def test_what_fails_has_an_object_with_the_error():
    model = write("relu.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
    for arguments, status, words in (
        (("run", model), "LN_NOT_FOUND", "input 'x' (float32 [2]) is not given"),
        (("run", model, "-i", "[1,2,3]"), "LN_INVALID", "the value has shape [3]"),
        (("run", "none.net"), "LN_IO", "none.net"),
        (("inspect", "none.net"), "LN_IO", "none.net"),
        (("inspect", model, "-s", "y=3"), "LN_NOT_FOUND", "'y'"),
        (("compare", "none.net"), "LN_IO", "none.net"),
        (("plan", "none.net"), "LN_IO", "none.net"),
        (("plan", model, "--budget=1"), "LN_LIMIT", "budget"),
        (("bench", "none.net"), "LN_IO", "none.net"),
        (("stats", "none.net"), "LN_IO", "none.net"),
        (("verify", "--list=none.txt"), "LN_IO", "none.txt"),
    ):
        done = parse(run(*arguments, "--json", code=1))
        assert set(done) == {"error"} and done["error"]["status"] == status, (arguments, done)
        assert words in done["error"]["message"], (arguments, done)
        text = run(*arguments, "--json=failed.json", code=1)
        assert parse(pathlib.Path("failed.json").read_text()) == done and "{" not in text, (arguments, text)
    # A result is an object of its own, whatever the exit status.
    assert "error" not in facts("verify", "none", code=1)


def test_a_folder_is_a_list_of_files():
    model = write("relu.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
    os.mkdir("inputs")
    np.save("inputs/a.npy", np.array([1, -2], "f4"))
    np.save("inputs/b.npy", np.zeros(3, "f4"))
    np.save("inputs/c.npy", np.array([-3, 4], "f4"))
    found = facts("run", model, "-i", "inputs/", code=1)
    assert [one["file"] for one in found["files"]] == ["a.npy", "b.npy", "c.npy"] and found["target"] == "cpu", found
    assert found["files"][0]["outputs"][0]["data"] == [1.0, 0.0], found
    assert "outputs" not in found["files"][1] and "b.npy" in found["files"][1]["error"], found
    assert found["files"][2]["outputs"][0]["data"] == [0.0, 4.0], found


# ---- inspect ----

INSPECT = ["model", "format", "ir_version", "producer", "opsets", "domain", "version", "doc", "graph", "graph_doc",
           "properties", "signatures", "inputs", "outputs", "defaults", "operators", "types", "parameters", "can_run", "not_supported", "problems",
           "more_problems", "target", "macs", "memory", "in_file", "dynamic_tensors", "refused_rewrites", "on_ref",
           "products", "on_bytes", "macs_on_bytes"]


def lines_of(text, word):
    return [line[11:] for line in text.splitlines() if line.startswith("%-11s" % word)]


def test_inspect_tells_what_the_text_tells():
    weights = np.arange(12, dtype="f4").reshape(4, 3)
    nodes = [ow.node("MatMul", ["x", "w"], ["m"]), ow.node("Relu", ["m"], ["r"]), ow.node("Relu", ["x"], ["z"])]
    content = ow.model(nodes, [("x", ow.tensor_type("FLOAT", ["batch", 4]))],
                       [("r", ow.tensor_type("FLOAT", ["batch", 3])), ("z", ow.tensor_type("FLOAT", ["batch", 4]))],
                       [("w", weights)])
    model = write("matmul.onnx", content + ow.message({5: 7, 6: 'what it "does"\n', 14: [{1: "cl\\asses", 2: "a\tb"}]}))
    found, text = facts("inspect", model, "-s", "batch=2"), run("inspect", model, "-s", "batch=2")
    assert list(found) == INSPECT, found
    assert found["format"] == "onnx" and found["ir_version"] == 8 and found["opsets"] == [{"domain": "ai.onnx", "version": 17}]
    assert found["version"] == 7 and found["doc"] == 'what it "does"\n', found
    assert found["properties"] == [{"key": "cl\\asses", "value": "a\tb"}] and found["producer"] == "test", found
    assert found["inputs"] == [{"name": "x", "type": "FLOAT[batch, 4]", "dtype": "float32", "shape": [2, 4],
                                "symbols": ["batch", None]}], found["inputs"]
    assert [(one["name"], one["shape"]) for one in found["outputs"]] == [("r", [2, 3]), ("z", [2, 4])], found
    assert {one["type"]: one["count"] for one in found["types"]} == {"MatMul": 1, "Relu": 2}, found
    assert found["operators"] == 3 and found["parameters"] == weights.size and found["macs"] == 2 * weights.size, found
    assert lines_of(text, "parameters") == ["12"] and lines_of(text, "work")[0].startswith("24 "), text
    memory, = found["memory"]
    numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", lines_of(text, "memory")[0])]
    assert numbers == [memory["static"], memory["workspace"], memory["peak"]], (text, memory)
    assert found["can_run"] is True and found["problems"] == [] and found["dynamic_tensors"] == 0, found
    # Without the size it is dynamic; with a range the worst is named.
    found = facts("inspect", model)
    assert found["inputs"][0]["shape"] == [None, 4] and found["dynamic_tensors"] > 0, found
    found = facts("inspect", model, "-s", "batch=1..32")
    assert found["memory"][0]["worst"] == "batch=32", found
    assert "peak %s bytes" % "{:,}".format(found["memory"][0]["peak"]) in run("inspect", model, "-s", "batch=1..32")
    # The same model in IL has the same keys.
    run("convert", model, "-o", "matmul.net")
    found = facts("inspect", "matmul.net")
    assert list(found) == INSPECT and found["format"] is None and found["parameters"] == 12, found
    assert [(one["type"], one["count"]) for one in found["types"] if one["type"] in ("MatMul", "Relu")] == \
        [("MatMul", 1), ("Relu", 2)], found


def test_metadata_is_kept_in_json_and_compiled_files():
    """The facts of an ONNX model, in the JSON that it becomes, plain and compiled; and what is no metadata is refused."""
    x = ow.tensor_type("FLOAT", [2])
    content = ow.model([ow.node("Add", ["x", "w"], ["y"])], [("x", x), ("w", x)], [("y", x)], [("w", np.array([1, 2], "f4"))])
    model = write("stated.onnx", content + ow.message({3: "3.1", 4: "com.example", 5: 2 ** 62 + 1, 6: "Adds.\n\"Twice\".",
                                                       14: [{1: "k", 2: "v"}, {1: "", 2: "grün"}, {1: "k", 2: "again"}]}))
    facts_of = ("producer", "domain", "version", "doc", "graph", "graph_doc", "properties")
    wanted = facts("inspect", model)
    assert wanted["producer"] == "test 3.1" and wanted["version"] == 2 ** 62 + 1 and len(wanted["properties"]) == 3, wanted
    run("convert", model, "-o", "stated.json")
    run("-c", "-o", "compiled.json", model)
    run("convert", "stated.json", "-o", "stated.net")
    run("convert", "stated.net", "-o", "again.json")
    for path in ("stated.json", "compiled.json", "stated.net", "again.json"):
        found = facts("inspect", path)
        assert [found[key] for key in facts_of] == [wanted[key] for key in facts_of], (path, found)
    assert [one["name"] for one in facts("inspect", "stated.json")["defaults"]] == ["w"]
    assert facts("run", "stated.json", "-i", "x=[1,1]", "-i", "w=[5,6]")["outputs"][0]["data"] == [6.0, 7.0]
    # A model without metadata has none of it.
    write("bare.net", b"input(| dst=x | dtype=TL_FLOAT, dims=[2]); relu(src=x | dst=y |);")
    run("convert", "bare.net", "-o", "plain.json")
    assert '"info"' not in pathlib.Path("plain.json").read_text()
    text = pathlib.Path("stated.json").read_text()
    for bad in ('[]', '{"doc": 1}', '{"version": "x"}', '{"version": 3}', '{"properties": {}}', '{"properties": [["k"]]}',
                '{"properties": [["k", 1]]}', '{"defaults": "w"}', '{"defaults": [1]}'):
        write("bad.json", re.sub(r'"info": \{.*?\},\n *"ops"', lambda _: '"info": %s, "ops"' % bad, text, flags=re.S))
        done = subprocess.run([LIGHTNET, "inspect", "bad.json"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and re.search(r"bad\.json:\d+:\d+: .*\"info\"", done.stderr), (bad, done)


def test_inspect_lists_all_problems():
    nodes = [ow.node("Addd", ["x", "x"], ["a"], name="first"), ow.node("Relu", ["a"], ["b"]),
             ow.node("Mull", ["b", "b"], ["y"], name="second", domain="other")]
    model = write("bad.onnx", ow.model(nodes, [("x", ow.tensor_type("FLOAT", [2]))], [("y", ow.tensor_type("FLOAT", [2]))]))
    found, text = facts("inspect", model, code=1), run("inspect", model, code=1)
    assert list(found) == INSPECT and found["can_run"] is False and found["not_supported"] == 2, found
    assert [(one["node"], one["type"]) for one in found["problems"]] == [("first", "Addd"), ("second", "Mull")], found
    for problem, line in zip(found["problems"], lines_of(text, "problem"), strict=True):
        assert problem["reason"] in line and (problem["help"] or "") in line, (problem, line)
    assert found["target"] is None and found["macs"] is None and found["memory"] == [], found
    assert found["inputs"][0] == {"name": "x", "type": "FLOAT[2]", "dtype": None, "shape": None, "symbols": None}, found


# ---- compare ----

def test_compare_tells_which_tensor_and_by_how_much():
    model = write("relu.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\nRelu(X=x | Y=y |);\nNeg(X=y | Y=z |);\n"
                              "output(src=z | |);\n")
    found = facts("compare", model, "--all")
    assert found["agree"] is True and found["first"] is None and found["deviating"] == 0, found
    assert found["compared"] == len(found["tensors"]) > 0 and found["a"] is None and found["b"] == "cpu", found
    assert all(one["result"] == "same" and one["wrong_elements"] == 0 for one in found["tensors"]), found
    assert "tensors" not in facts("compare", model)
    rules = write("wrong.rules", "# Wrong: numbers below 0 stay.\nrule no_relu [exact]\n  y = Relu(x)\n  => y = x\n")
    x = np.array([[1, -0.1, 3], [-7, 5, -6]], "f4")
    np.save("x.npy", x)
    arguments = ("compare", model, "-i", "x.npy", "--rules", rules)
    found, text = facts(*arguments, code=1), run(*arguments, code=1)
    first = found["first"]
    assert found["agree"] is False and first["result"] == "wrong" and first["tensor"] == "z", found
    assert first["position"] == [1, 0] and first["got"] == 7.0 and first["expected"] == 0.0, found
    assert first["wrong_elements"] == 3 and first["largest_difference"] == 7.0, found
    assert found["largest"] == first and abs(first["excess"] - 7 / (1e-5 * 5)) < 1, found
    ranks = [int(np.array(number, "f4").view("i4")) for number in (7, 0)]
    assert first["ulp"] == ranks[0] - ranks[1] and first["largest_relative"] == "Infinity", found
    assert "%s against the model as it was read: %d tensors compared, %d deviate" % \
        (found["b"], found["compared"], found["deviating"]) in text, text
    assert "tensor 'z' of operator '%s' (%s): 7 instead of -0 at [1, 0] (off by 7)" % \
        (first["operator"], first["type"]) in text, text


# ---- verify ----

def stored(folder, given, want):
    data = pathlib.Path(folder) / "test_data_set_0"
    data.mkdir(parents=True)
    model = ow.model([ow.node("Relu", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", list(given.shape)))],
                     [("y", ow.tensor_type("FLOAT", list(given.shape)))])
    write(pathlib.Path(folder) / "model.onnx", model)
    write(data / "input_0.pb", ow.message(ow.tensor(given)))
    if want is not None:
        write(data / "output_0.pb", ow.message(ow.tensor(want)))
    return folder


def test_verify_lists_models_and_their_outputs():
    x = np.array([1, -2, 3], "f4")
    right = stored("right", x, np.maximum(x, 0))
    wrong = stored("wrong", x, np.array([1, 0.5, 3], "f4"))
    bare = stored("bare", x, None)
    found = facts("verify", right)
    assert list(found) == ["models", "pass", "wrong", "failed"] and found["pass"] == 1, found
    model, = found["models"]
    output, = model["outputs"]
    assert model["path"] == "right" and model["result"] == "pass" and model["reason"] is None, found
    assert output["name"] == "y" and output["against"] == "stored" and output["result"] == "same", found
    assert output["dtype"] == "float32" and output["shape"] == [3] and output["set"] == output["index"] == 0, found

    paths = (right, wrong, bare, "missing")
    found, text = facts("verify", *paths, code=1), run("verify", *paths, code=1)
    assert (found["pass"], found["wrong"], found["failed"]) == (2, 1, 1), found
    assert text.endswith("4 models: 2 pass, 1 are wrong, 1 cannot run\n"), text
    assert [one["result"] for one in found["models"]] == ["pass", "wrong", "pass", "failed"], found
    output, = found["models"][1]["outputs"]
    assert output["result"] == "wrong" and output["position"] == [1] and output["wrong_elements"] == 1, output
    assert output["got"] == 0.0 and output["expected"] == 0.5 and output["right_as_read"] is False, output
    assert found["models"][2]["outputs"][0]["against"] == "as read", found
    assert found["models"][3]["outputs"] == [] and "missing" in found["models"][3]["reason"], found
    for model in found["models"]:
        assert model["reason"] is None or model["reason"] in text, (model, text)
    # Processes of their own tell the same.
    assert facts("verify", "--isolate", *paths, code=1) == found
    assert run("verify", "--json=facts.json", *paths, code=1) == text
    assert parse(pathlib.Path("facts.json").read_text()) == found
    write("list.txt", "right\nwrong\tatol=1\n")
    found = facts("verify", "--list", "list.txt")
    assert [one["result"] for one in found["models"]] == ["pass", "pass"] and found["pass"] == 2, found
    assert found["models"][1]["outputs"][0]["result"] == "near", found
    assert facts("verify", "--shape-only", wrong)["models"][0]["outputs"][0]["result"] == "same"
    # A rule that is wrong is told from what is stored wrongly.
    write("wrong.rules", "# Wrong.\nrule no_relu [exact]\n  y = Relu(x)\n  => y = x\n")
    found = facts("verify", "--rules=wrong.rules", right, code=1)
    assert found["models"][0]["outputs"][0]["right_as_read"] is True, found


def test_a_process_that_ends_is_an_item():
    """Ended from outside while it runs: the others, and the object, are whole."""
    x, w = np.zeros((1, 32, 256, 256), "f4"), np.ones((32, 32, 3, 3), "f4")
    model = ow.model([ow.node("Conv", ["x", "w"], ["y"])], [("x", ow.tensor_type("FLOAT", list(x.shape)))],
                     [("y", ow.tensor_type("FLOAT", [1, 32, 254, 254]))], [("w", w)])
    os.makedirs("slow/test_data_set_0")
    write("slow/model.onnx", model)
    stored("after", np.ones(2, "f4"), np.ones(2, "f4"))
    with subprocess.Popen([LIGHTNET, "verify", "--isolate", "--json", "-t", "ref", "slow", "after"],
                          stdout=subprocess.PIPE, text=True) as process:
        children = ""
        while not children:
            children = pathlib.Path("/proc/%d/task/%d/children" % (process.pid, process.pid)).read_text()
        os.kill(int(children.split()[0]), signal.SIGKILL)
        found = parse(process.stdout.read())
    assert process.returncode == 1, found
    slow, after = found["models"]
    assert slow == {"path": "slow", "result": "failed", "reason": "its process ended with signal: Killed", "outputs": []}, found
    assert after["result"] == "pass" and len(after["outputs"]) == 1 and (found["pass"], found["failed"]) == (1, 1), found


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok", name)


if __name__ == "__main__":
    main()
