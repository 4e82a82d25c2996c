#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands on ONNX models: run, verify, compare, inspect.

Usage: onnx_test.py FOLDER-OF-THE-COMMANDS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")


def run(*args, code=0, err="", out=""):
    """Runs the command; `code` is its exit status, `err` and `out` stand in what it says."""
    done = subprocess.run([LIGHTNET, *map(str, args)], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    said = "%s\n%s%s" % (" ".join(map(str, args)), done.stdout, done.stderr)
    assert done.returncode == code, "exit %d, not %d: %s" % (done.returncode, code, said)
    assert err in done.stderr, "no %r on standard error: %s" % (err, said)
    assert out in done.stdout, "no %r on standard output: %s" % (out, said)
    return done


def write(name, content):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(ow.message(content) if isinstance(content, dict) else content)
    return name


def listed():
    return json.loads(pathlib.Path("out/outputs.json").read_text())


FLOATS = np.arange(6, dtype="f4").reshape(2, 3)
ADD = ow.model([ow.node("Add", ["x", "w"], ["y"])], [("x", ow.tensor_type("FLOAT", ["batch", 3]))],
               [("y", ow.tensor_type("FLOAT", ["batch", 3]))], [("w", np.array([10, 20, 30], "f4"))])
WANT = FLOATS + np.array([10, 20, 30], "f4")


# ---- run ----

def test_a_hub_s_cache_of_links():
    """Model and weights are links into one store; what leads elsewhere is refused."""
    weights = np.arange(3, dtype="f4")
    for folder in ("hub/blobs", "hub/snapshots/rev/onnx"):
        os.makedirs(folder, exist_ok=True)
    weights.tofile("hub/blobs/h2")
    weights.tofile("hub/secret")
    external = {1: [3], 2: ow.DTYPES["FLOAT"], 8: "w", 13: [{1: "location", 2: "model.onnx_data"}], 14: 1}
    model = {1: 8, 8: {1: "", 2: 17}, 7: {1: ow.node("Add", ["x", "w"], ["y"]), 2: "g", 5: external,
                                          11: {1: "x", 2: ow.tensor_type("FLOAT", [2, 3])},
                                          12: {1: "y", 2: ow.tensor_type("FLOAT", [2, 3])}}}
    write("hub/blobs/h1", model)
    np.save("x.npy", FLOATS)
    for name, target in (("model.onnx", "h1"), ("model.onnx_data", "h2")):
        os.symlink("../../../blobs/" + target, "hub/snapshots/rev/onnx/" + name)
    path = "hub/snapshots/rev/onnx/model.onnx"
    run("run", path, "-i", "x.npy", "-o", "out")
    assert (np.load("out/y.npy") == FLOATS + weights).all()
    os.remove("hub/snapshots/rev/onnx/model.onnx_data")
    os.symlink("../../../secret", "hub/snapshots/rev/onnx/model.onnx_data")
    run("run", path, "-i", "x.npy", code=1, err="leads out of the model's folder")


def test_initializers_that_are_inputs_are_defaults():
    """From IR version 4 on; before, all initializers are inputs, and constants."""
    def model(ir):
        return {1: ir, 8: {1: "", 2: 17},
                7: {1: [ow.node("Mul", ["x", "w"], ["a"]), ow.node("Add", ["a", "w"], ["y"])], 2: "g",
                    5: ow.tensor(np.array([1, 2, 3], "f4"), "w"),
                    11: [{1: "x", 2: ow.tensor_type("FLOAT", [2, 3])}, {1: "w", 2: ow.tensor_type("FLOAT", [3])}],
                    12: {1: "y", 2: ow.tensor_type("FLOAT", [2, 3])}}}
    write("default.onnx", model(8))
    np.save("x.npy", FLOATS)
    np.save("w.npy", np.array([5, 6, 7], "f4"))
    for given, w in (([], [1, 2, 3]), (["-i", "w=w.npy"], [5, 6, 7])):
        run("run", "default.onnx", "-i", "x=x.npy", *given, "-o", "out")
        assert (np.load("out/y.npy") == FLOATS * w + w).all()
    write("old.onnx", model(3))
    run("run", "old.onnx", "-i", "x=x.npy", "-i", "w=w.npy", code=1, err="no input 'w'")
    # In every command that takes data, and listed.
    run("inspect", "default.onnx", out="default    w float32 [3], unless -i gives another\n")
    both = ("-i", "x=x.npy", "-i", "w=w.npy")
    run("bench", "default.onnx", *both, "--runs=1", "--warmup=1", "--min-time=0")
    run("opt", "default.onnx", "--verify", *both, "-o", "opt.net")
    run("default.onnx", *both, out="y: float32 [2, 3]")
    run("blame", "default.onnx", *both)
    # A wrong rule shows with the values that are given: 1 * w is not w + w, but 2 * 2 is 2 + 2.
    write("wrong.rules", b"rule wrong [exact]\n  y = Mul(a, b)\n  => y = elew(a, b | elew_op=\"TL_SUM\")\n")
    np.save("two.npy", np.full((2, 3), 2, "f4"))
    np.save("w2.npy", np.full(3, 2, "f4"))
    for verb in ("compare", "blame"):
        run(verb, "default.onnx", "-i", "x=two.npy", "-i", "w=w2.npy", "--rules=wrong.rules")
        run(verb, "default.onnx", "-i", "x=two.npy", "--rules=wrong.rules", code=1)
        run(verb, "default.onnx", "-i", "q=x.npy", code=3 if verb == "blame" else 1, err="the model has no input 'q'")
    # Of verify, the stored inputs after those of the model.
    os.makedirs("case/test_data_set_0")
    write("case/model.onnx", model(8))
    w = np.array([5, 6, 7], "f4")
    write("case/test_data_set_0/input_0.pb", ow.tensor(FLOATS))
    write("case/test_data_set_0/input_1.pb", ow.tensor(w))
    write("case/test_data_set_0/output_0.pb", ow.tensor(FLOATS * w + w))
    run("verify", "case", out="pass   case\n")
    run("verify", "case", "--rules=none", out="pass   case\n")
    os.remove("case/test_data_set_0/input_1.pb")
    run("verify", "case", code=1, out="the model as it was read gives something else than what is stored as well")
    os.rename("case/test_data_set_0/output_0.pb", "case/test_data_set_0/input_2.pb")
    run("verify", "case", code=1, out="case/test_data_set_0/input_2.pb is there, and the model has 2 inputs")


def test_first_values_are_written_as_defaults():
    """Of inputs of other formats, and again of what was read; random ones have no form."""
    pathlib.Path("first.net").write_text("""input(| dst=x | dtype=TL_FLOAT, dims=[2]);
input(| dst=b | dtype=TL_FLOAT, dims=[2], data=[3, 4]);
input(| dst=i | dtype=TL_INT64, dims=[2], data=[1, 0]);
input(| dst=c | dtype=TL_FLOAT, dims=[2], ran=[7, 7]);
input(| dst=r | dtype=TL_FLOAT, dims=[2], ran=[1, 2]);
Add(A=x, B=b | C=xb |);
Gather(data=xb, indices=i | output=g |);
Mul(A=g, B=c | C=gc |);
Add(A=gc, B=r | C=y |);
output(src=y | |);
""")
    x, r = np.array([10, 20], "f4"), np.array([0.5, 0.25], "f4")
    np.save("x.npy", x)
    np.save("r.npy", r)
    for source, target in (("first.net", "first.onnx"), ("first.onnx", "again.onnx")):
        run("convert", source, "-o", target)
        told = json.loads(run("inspect", "--json", target).stdout)
        assert [i["name"] for i in told["inputs"]] == ["x", "r"], told["inputs"]
        for name, shape in (("b", "float32 [2]"), ("i", "int64 [2]"), ("c", "float32 [2]")):
            run("inspect", target, out="default    %s %s" % (name, shape))
        run("run", target, "-i", "x=x.npy", "-i", "r=r.npy", "-o", "out")
        assert (np.load("out/y.npy") == np.array([24, 13], "f4") * 7 + r).all()
        run("run", target, "-i", "x=x.npy", "-i", "r=r.npy", "-i", "b=x.npy", "-o", "out")
        assert (np.load("out/y.npy") == np.array([40, 20], "f4") * 7 + r).all()


def test_outputs_go_to_a_file_or_a_folder():
    write("two.onnx", ow.model([ow.node("Neg", ["x"], ["y"]), ow.node("Abs", ["x"], ["z"])],
                               [("x", ow.tensor_type("FLOAT", [2, 3]))],
                               [("y", ow.tensor_type("FLOAT", [2, 3])), ("z", ow.tensor_type("FLOAT", [2, 3]))]))
    write("one.onnx", ow.model([ow.node("Neg", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", [2, 3]))],
                               [("y", ow.tensor_type("FLOAT", [2, 3]))]))
    np.save("x.npy", FLOATS)
    before = set(os.listdir("."))
    run("run", "two.onnx", "-i", "x.npy", "-o", "z=abs.npy")
    run("run", "one.onnx", "-i", "x.npy", "-o", "neg.npy")
    assert (np.load("abs.npy") == FLOATS).all() and (np.load("neg.npy") == -FLOATS).all()
    run("run", "two.onnx", "-i", "x.npy", "-o", "y.npy", code=1, err="so say which: -o NAME=y.npy")
    run("run", "two.onnx", "-i", "x.npy", "-o", "q=y.npy", code=1, err="no output 'q'")
    for bad in ("out.txt", "y=out.json", "y=", "out.npz"):
        run("run", "one.onnx", "-i", "x.npy", "-o", bad, code=2, err="-o takes a folder, FILE.npy or NAME=FILE.npy")
    assert set(os.listdir(".")) - before == {"abs.npy", "neg.npy"}


def test_a_mean_is_that_of_numbers():
    np.save("nan.npy", np.array([[1, np.nan, 3], [np.nan, 5, 3]], "f4"))
    run("run", "one.onnx", "-i", "nan.npy", out="min -5 max -1 mean -3 (2 NaN)")


def test_what_is_not_shown_or_taken_is_told():
    write("boxes.onnx", ow.model([ow.node("Neg", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", [1, 20, 85]))],
                                 [("y", ow.tensor_type("FLOAT", [1, 20, 85]))]))
    run("run", "boxes.onnx", "--zero", "--top=3", out="not shown as classes")
    assert "not shown" not in run("run", "boxes.onnx", "--zero").stdout
    write("scalar.onnx", ow.model([ow.node("Neg", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", []))],
                                  [("y", ow.tensor_type("FLOAT", []))]))
    assert "not shown" not in run("run", "scalar.onnx", "--zero", "--top=3").stdout
    run("run", "boxes.onnx", "--zero", "-s", "batch=2", code=1, err="no dimension of an input has a symbol")
    run("boxes.onnx", "x.npy", code=2, err="are given with -i")


def test_words_of_other_engines_are_answered():
    for option, words in (("--image", "-i FILE"), ("--std=1", "--preset"), ("--device=cuda", "-t cpu"), ("--provider=x", "-t cpu"),
                          ("--shapes=x:1x3", "-s NAME"), ("--batch=4", "-s SYMBOL=N"), ("--iterations=3", "--repeat"),
                          ("--onnx=m.onnx", "lightnet run MODEL"), ("--fp16", "run as they are")):
        run("run", option, "m.onnx", code=2, err=words)


def test_inspect_prints_metadata():
    write("info.onnx", {1: 8, 2: "maker", 4: "com.example", 5: 3, 6: "finds\x1b[31m eagles\nand kites", 8: {1: "", 2: 17},
                        7: {1: ow.node("Relu", ["x"], ["y"]), 2: "g", 11: {1: "x", 2: ow.tensor_type("FLOAT", [2])},
                            12: {1: "y", 2: ow.tensor_type("FLOAT", [2])}},
                        14: [{1: "names", 2: "{0: 'eagle'}"}, {1: "long", 2: "x" * 1000}]})
    shown = run("inspect", "info.onnx", out="made by maker").stdout
    for line in ("domain     com.example\n", "version    3\n", "about      finds\\x1b[31m eagles and kites\n",
                 "property   names: {0: 'eagle'}\n", "... (1000 bytes)\n"):
        assert line in shown, shown
    assert "\x1b" not in shown


def test_symbols_that_data_bind_hold_for_zeros():
    """An input of zeros has the sizes of the symbols that the data of others tell."""
    write("state.onnx", ow.model([ow.node("Concat", ["x", "state"], ["y"], axis=1)],
                                 [("x", ow.tensor_type("FLOAT", ["batch", 3])),
                                  ("state", ow.tensor_type("FLOAT", ["batch", 2]))],
                                 [("y", ow.tensor_type("FLOAT", ["batch", 5]))]))
    np.save("x.npy", FLOATS)
    run("run", "--zero", "state.onnx", "-i", "x=x.npy", "-o", "out")
    assert (np.load("out/y.npy") == np.hstack([FLOATS, np.zeros((2, 2), "f4")])).all()
    run("run", "--zero", "state.onnx", code=1, err="zeros need a shape: -s batch=1")
    write("unnamed.onnx", ow.model([ow.node("Concat", ["x", "state"], ["y"], axis=1)],
                                   [("x", ow.tensor_type("FLOAT", ["batch", 3])),
                                    ("state", ow.tensor_type("FLOAT", ["?", 2]))],
                                   [("y", ow.tensor_type("FLOAT", ["batch", 5]))]))
    run("run", "--zero", "unnamed.onnx", "-i", "x=x.npy", code=1, err="'state' (float32 [?, 2])")


def test_values_of_onnx_are_inputs():
    write("add.onnx", ADD)
    write("x.pb", ow.tensor(FLOATS))
    for args in (["x.pb"], ["x=x.pb"], ["0=x.pb"]):
        run("run", "add.onnx", "-i", *args, "-o", "out")
        assert (np.load("out/y.npy") == WANT).all()
    assert listed() == [{"name": "y", "file": "y.npy", "dtype": "FLOAT", "shape": [2, 3]}]
    run("run", "add.onnx", "-i", write("bad.pb", b"\x08"), code=1, err="bad.pb")


def test_open_shapes_are_bound_by_data_or_words():
    write("add.onnx", ADD)
    for rows in (1, 4):
        np.save("in.npy", np.zeros((rows, 3), "f4"))
        run("run", "add.onnx", "-i", "in.npy", out="y: float32 [%d, 3]" % rows)
    np.save("in.npy", np.zeros((2, 3), "f4"))
    run("run", "add.onnx", "-i", "in.npy", "-s", "batch=2", out="y: float32 [2, 3]")
    run("run", "add.onnx", "-i", "in.npy", "-s", "x=2x3", out="y: float32 [2, 3]")
    run("run", "add.onnx", "-i", "in.npy", "-s", "batch=4", code=1, err="takes [4, 3]")
    run("run", "add.onnx", "-s", "depth=4", code=1, err="batch")
    np.save("in.npy", np.zeros((2, 4), "f4"))
    run("run", "add.onnx", "-i", "in.npy", code=1, err="has shape [2, 4], input 'x' takes [?, 3]")
    write("in.raw", FLOATS.tobytes())
    run("run", "add.onnx", "-i", "in.raw", out="y: float32 [2, 3]")
    write("in.raw", FLOATS.tobytes()[:-4])
    run("run", "add.onnx", "-i", "in.raw", code=1, err="5 elements")


def test_sequences_and_optionals_are_listed_with_their_items():
    write("seq.onnx", ow.model([ow.node("SequenceConstruct", ["x", "w"], ["s"]), ow.node("Identity", ["s"], ["t"])],
                               [("x", ow.tensor_type("FLOAT", [2, 3]))], [("t", ow.sequence_type("FLOAT"))],
                               [("w", np.array([1, 2], "f4"))]))
    np.save("in.npy", FLOATS)
    run("run", "seq.onnx", "-i", "in.npy", "-o", "out", out="t: sequence of 2")
    assert listed() == [{"name": "t", "items": [
        {"name": "t", "file": "output_0_0.npy", "dtype": "FLOAT", "shape": [2, 3]},
        {"name": "t", "file": "output_0_1.npy", "dtype": "FLOAT", "shape": [2]}]}], listed()
    assert (np.load("out/output_0_0.npy") == FLOATS).all()


def test_sequences_are_inputs():
    write("len.onnx", ow.model([ow.node("SequenceLength", ["s"], ["n"])], [("s", ow.sequence_type("FLOAT"))],
                               [("n", ow.tensor_type("INT64", []))]))
    write("s.pb", ow.sequence([FLOATS, FLOATS[0], FLOATS]))
    run("run", "len.onnx", "-i", "s.pb", "-o", "out", out="n: int64 []")
    assert np.load("out/n.npy") == 3
    np.savez("s.npz", FLOATS, FLOATS)
    run("run", "len.onnx", "-i", "s.npz", "-o", "out")
    assert np.load("out/n.npy") == 2


def test_optionals_are_what_they_hold():
    write("opt.onnx", ow.model([ow.node("OptionalHasElement", ["o"], ["b"]), ow.node("Identity", ["o"], ["p"])],
                               [("o", ow.optional_type("FLOAT"))],
                               [("b", ow.tensor_type("BOOL", [])), ("p", ow.optional_type("FLOAT"))]))
    run("run", "opt.onnx", "-i", write("o.pb", ow.optional(FLOATS)), "-o", "out")
    assert listed()[1] == {"name": "p", "file": "p.npy", "dtype": "FLOAT", "shape": [2, 3]}
    assert np.load("out/b.npy") and (np.load("out/p.npy") == FLOATS).all()
    run("run", "opt.onnx", "-i", write("o.pb", ow.optional()), "-o", "out", out="p: nothing")
    assert listed()[1] is None and not np.load("out/b.npy")
    np.save("o.npy", FLOATS)
    run("run", "opt.onnx", "-i", "o.npy", "-o", "out")
    assert np.load("out/b.npy")


def test_names_that_cannot_be_files():
    names = ["a/b", "..", "output_1", "x y", "s" * 300, "ü", "ok-1.2_3"]
    write("names.onnx", ow.model([ow.node("Identity", ["in:0/x"], [name]) for name in names],
                                 [("in:0/x", ow.tensor_type("FLOAT", [2, 3]))],
                                 [(name, ow.tensor_type("FLOAT", [2, 3])) for name in names]))
    np.save("in.npy", FLOATS)
    shutil.rmtree("out", ignore_errors=True)
    run("run", "names.onnx", "-i", "in:0/x=in.npy", "-o", "out")
    assert [entry["name"] for entry in listed()] == names
    files = [entry["file"] for entry in listed()]
    assert files == ["output_%d.npy" % i for i in range(6)] + ["ok-1.2_3.npy"], files
    assert all((np.load("out/" + file) == FLOATS).all() for file in files)


# ---- verify ----

def case(folder, want=WANT, content=ADD, sets=1):
    shutil.rmtree(folder, ignore_errors=True)
    write(folder + "/model.onnx", content)
    for k in range(sets):
        write("%s/test_data_set_%d/input_0.pb" % (folder, k), ow.tensor(FLOATS))
        write("%s/test_data_set_%d/output_0.pb" % (folder, k), ow.tensor(want))
    return folder


def test_verify_tells_what_deviates():
    run("verify", case("good", sets=3), out="pass   good")
    run("verify", "good/model.onnx", "--open", out="pass  set 2 output 0 y: float32 [2, 3]")
    wrong = WANT.copy()
    wrong[1, 2] += 1
    run("verify", case("wrong", wrong), code=1, out="35 instead of 36 at [1, 2] (off by 1, relative 0.0278")
    run("verify", "wrong", "--rtol=0.1", out="pass   wrong")
    run("verify", "wrong", "--shape-only", out="pass   wrong")
    run("verify", case("wrong", WANT.astype("f8")), code=1, out="float32 [2, 3] instead of float64 [2, 3]")
    run("verify", case("wrong", WANT[:1]), code=1, out="float32 [2, 3] instead of float32 [1, 3]")
    run("verify", "wrong", "--shape-only", code=1, out="instead of float32 [1, 3]")


def test_verify_knows_nan_and_infinity():
    odd = np.array([[0, np.nan, np.inf], [-np.inf, 1, 2]], "f4")
    identity = ow.model([ow.node("Identity", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", [2, 3]))],
                        [("y", ow.tensor_type("FLOAT", [2, 3]))])
    case("odd", odd, identity)
    write("odd/test_data_set_0/input_0.pb", ow.tensor(odd))
    run("verify", "odd", out="pass   odd")
    for at, value in (((0, 1), 0), ((0, 2), -np.inf), ((1, 1), np.nan), ((0, 2), 1e38)):
        other = odd.copy()
        other[at] = value
        write("odd/test_data_set_0/output_0.pb", ow.tensor(other))
        run("verify", "odd", code=1, out="WRONG")


def test_verify_compares_strings():
    identity = ow.model([ow.node("Identity", ["x"], ["y"])], [("x", ow.tensor_type("STRING", [2]))],
                        [("y", ow.tensor_type("STRING", [2]))])
    case("words", np.array(["a", "b"]), identity)
    write("words/test_data_set_0/input_0.pb", ow.tensor(np.array(["a", "b"])))
    run("verify", "words", out="pass   words")
    write("words/test_data_set_0/output_0.pb", ow.tensor(np.array(["a", "c"])))
    run("verify", "words", code=1, out="a string is another (element 1)")


def test_verify_of_many():
    case("good", sets=2)
    case("wrong", WANT + 1)
    case("broken", content=b"\xff\xff")
    pathlib.Path("empty").mkdir(exist_ok=True)
    write("list.txt", b"good\nwrong\trtol=1\n\nwrong\tatol=0\nwrong\tshape-only\nbroken\nempty\nmissing\n")
    for extra in ([], ["--timeout=60"]):
        done = run("verify", "--list=list.txt", "--summary", *extra, code=1)
        lines = done.stdout.splitlines()
        assert [line.split()[0] for line in lines[:-1]] == ["pass", "pass", "WRONG", "pass", "FAILED", "FAILED",
                                                            "FAILED"], lines
        assert lines[-1] == "7 models: 3 pass, 1 are wrong, 3 cannot run", lines[-1]
    write("list.txt", b"good\trtol=x\n")
    run("verify", "--list=list.txt", code=1, err="rtol")
    run("verify", code=2, err="no model")
    run("verify", case("no_data", sets=0), code=1, out="no folder test_data_set_0")


# ---- compare, inspect ----

def test_values_of_options_are_checked():
    """Those that several commands share."""
    write("any.onnx", ADD)
    for args, err in ((["compare", "--rtol=nan"], "--rtol takes a number from 0 on, not 'nan'"),
                      (["compare", "--atol=inf"], "--atol takes a number from 0 on"),
                      (["blame", "--atol="], "option --atol=X has an empty value"),
                      (["verify", "--rtol=1x"], "--rtol takes a number from 0 on"),
                      (["compare", "--seed=-1"], "--seed takes an integer from 0 to 2^64 - 1, not '-1'"),
                      (["blame", "--seed=18446744073709551616"], "--seed takes"),
                      (["opt", "--seed=x"], "--seed takes"),
                      (["run", "--repeat=0"], "--repeat takes 1 to 1000000, not '0'"),
                      (["run", "--top=1e3"], "--top takes 1 to 1000"),
                      (["run", *["-i", "x"] * 257], "more than 256 times --input"),
                      (["compare", *["-s", "x=1"] * 257], "more than 256 times --shape"),
                      (["blame", *["-i", "x"] * 257], "more than 256 times --input")):
        done = run(*args, "any.onnx", code=2, err=err)
        assert "try `lightnet %s --help`" % args[0] in done.stderr, done.stderr


def test_an_initializer_is_a_value_of_its_input():
    def model_of(dtype, shape):
        kind = {1: {1: ow.DTYPES[dtype]}} if shape is None else ow.tensor_type(dtype, shape)
        return ow.model([ow.node("Identity", ["x"], ["y"])], [("x", kind)], [("y", ow.tensor_type(dtype, ["a", "b"]))],
                        [("x", np.ones((2, 2), "f4"))])
    for shape in ([2, 2], ["n", 2], ["n", "m"], None):
        write("init.onnx", model_of("FLOAT", shape))
        run("run", "init.onnx", out="y: float32 [2, 2]")
    for dtype, shape, words in (("FLOAT", [2, 3], "the initializer 'x' has the shape [2, 2], and the input of its name [2, 3]"),
                                ("FLOAT", [2, 2, 1], "the shape [2, 2], and the input of its name [2, 2, 1]"),
                                ("INT32", [2, 2], "the initializer 'x' is float32, and the input of its name int32")):
        write("init.onnx", model_of(dtype, shape))
        for verb in ("run", "inspect"):
            run(verb, "init.onnx", code=1, err=words)


def test_compare():
    write("add.onnx", ADD)
    np.save("in.npy", FLOATS)
    run("compare", "add.onnx", "-i", "in.npy", out="0 deviate\nthe model as it was read and cpu give the same")
    run("compare", "add.onnx", "-s", "batch=2", "--all", out="same  tensor 'y'")
    run("compare", "add.onnx", code=1, err="input 'x' has an open shape")


def test_inspect_tells_what_the_file_says():
    write("add.onnx", ADD)
    done = run("inspect", "add.onnx", out="format     onnx, IR version 8, made by test")
    for line in ("opset      ai.onnx 17", "input      x FLOAT[batch, 3]", "output     y FLOAT[batch, 3]",
                 "         1 Add", "parameters 3", "give shapes with -s"):
        assert line in done.stdout, done.stdout
    done = run("inspect", "add.onnx", "-s", "batch=4", out="memory     main memory on cpu: static")
    assert "open " not in done.stdout, done.stdout


def test_inspect_of_text_has_what_the_file_states():
    """A .net made of an ONNX file has its symbols, types and producer, also where shapes are dynamic."""
    write("made.onnx", {1: 8, 2: "maker", 3: "2.1", 8: {1: "", 2: 17}, 7: {
        1: [ow.node("NonZero", ["x"], ["y"])], 2: "g", 11: {1: "x", 2: ow.tensor_type("FLOAT", ["batch", 3])},
        12: {1: "y", 2: ow.tensor_type("INT64", [2, "k"])}}})
    for made in ("made.net", "made.json"):
        run("convert", "made.onnx", "-o", made)
        out = run("inspect", made).stdout
        for line in ("made by    maker 2.1", "input      x float32 [batch, 3]", "output     y int64 [2, k]"):
            assert line in out, out
        assert "input      x float32 [4, 3]" in run("inspect", made, "-s", "batch=4").stdout
    write("plain.net", b"input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2]);\nNonZero(X=x | Y=y |);\n")
    out = run("inspect", "plain.net").stdout
    assert "input      x float32 [?, 2]" in out and "made by" not in out, out


def test_inspect_tells_every_problem():
    nodes = [ow.node("Addd", ["x", "x"], ["a"], name="first"), ow.node("Relu", ["a"], ["b"]),
             ow.node("Nothing", ["b"], ["y"], domain="com.example", name="sec\x1bond")]
    write("bad.onnx", ow.model(nodes, [("x", ow.tensor_type("FLOAT", [2]))], [("y", ow.tensor_type("FLOAT", [2]))]))
    done = run("inspect", "bad.onnx", code=1, out="cannot run 2 of 3 nodes are not supported")
    problems = [line for line in done.stdout.splitlines() if line.startswith("problem ")]
    assert len(problems) == 2 and "'first' (Addd, ai.onnx 17)" in problems[0] and "'Add'" in problems[0], problems
    assert "com.example" in problems[1] and "sec\\x1bond" in problems[1], problems


# ---- convert ----

BIG = ow.model([ow.node("Add", ["x", "w"], ["y"])], [("x", ow.tensor_type("FLOAT", ["batch", 400]))],
               [("y", ow.tensor_type("FLOAT", ["batch", 400]))], [("w", np.arange(400, dtype="f4"))])


def test_models_go_from_format_to_format_with_their_weights():
    write("big.onnx", BIG)
    np.save("in.npy", np.ones((2, 400), "f4"))
    for end in ("net", "json"):
        run("convert", "big.onnx", "-o", "big." + end, err="1 tensor in big.safetensors")
        run("run", "big." + end, "-f", "big.safetensors", "-i", "in.npy", "-o", "out")
        assert (np.load("out/y.npy") == np.arange(400) + 1).all()
    run("convert", "big.onnx", "--weights=w.params", "-o", "other.net")
    run("convert", "other.net", "-o", "none.onnx", code=1, err="'w' comes from a data file")
    for extra in ([], ["--external"]):
        run("convert", "other.net", "-f", "w.params", *extra, "-o", "back.onnx")
        assert pathlib.Path("back.onnx.data").exists() == bool(extra)
        run("run", "back.onnx", "-i", "in.npy", "-s", "batch=2", "-o", "out")
        assert (np.load("out/y.npy") == np.arange(400) + 1).all()


def test_sums_of_integers_are_written():
    """Against integers of NumPy; as many rows as columns too. A batch of weights, and a bias of rows, have no form."""
    x, b, c, z = [[3, 250, 7], [0, 9, 128]], [[1, -2, 3], [4, 5, -6], [7, 8, 9]], [10, -20, 30], [1, -1, 2]
    np.save("x.npy", np.array(x, "u1"))

    def convert(operator, **expected):
        def constant(name, dtype, dims, data):
            return "create(| dst=%s | dtype=%s, dims=%s, data=%s);\n" % (name, dtype, dims, data)
        pathlib.Path("sums.net").write_text(
            "input(| dst=x | dtype=TL_UINT8, dims=[2, 3]);\n" + constant("b", "TL_INT8", [3, 3], sum(b, []))
            + constant("batch", "TL_INT8", [1, 3, 3], sum(b, [])) + constant("c", "TL_INT32", [3], c)
            + constant("rows", "TL_INT32", [1, 3], c) + constant("z", "TL_INT8", [3], z) + operator + "output(src=y | |);\n")
        run("convert", "sums.net", "-o", "sums.onnx", **expected)

    wide, columns = np.array(x, "i8"), np.array(b, "i8") - np.array(z)
    rows = np.array(b, "i8") - np.array(z)[:, None]
    for operands, params, want in (("", "", wide @ columns), (", bias=c", "", wide @ columns + c),
                                   ("", " transB=1", wide @ rows.T), (", bias=c", " transB=1", wide @ rows.T + c)):
        convert("quant_matmul(src=x, weight=b, weight_zero=z%s | dst=y |%s);\n" % (operands, params))
        run("run", "--rules=none", "sums.onnx", "-i", "x.npy", "-o", "out")
        assert (np.load("out/y.npy") == want).all()
    for operands, params in (("weight=batch", "transB=1"), ("weight=b, bias=rows", ""), ("weight=b, bias=rows", "transB=1")):
        convert("quant_matmul(src=x, %s | dst=y | %s);\n" % (operands, params), code=1, err="has no form in ONNX")


def test_convert_says_what_does_not_go_together():
    write("big.onnx", BIG)
    run("convert", "big.onnx", "--external", "-o", "a.net", code=2, err="--external")
    run("convert", "big.onnx", "-f", "w", "-o", "a.net", code=2, err="-f is for models in ONNX")
    run("convert", "big.onnx", "--weights=w", "-o", "a.onnx", code=2, err="holds its weights")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok   " + name)
