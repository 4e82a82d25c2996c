#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite files with the command: what is said of them, written from them, and refused.

Usage: files_test.py FOLDER-OF-THE-COMMANDS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import make_seeds
import fixed_point as fixed
import tflite_file as tf
from formulas import FORMULAS

ROOT = HERE.parent.parent
LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")


def run(*args, code=0, err="", out="", stdin=os.devnull):
    with open(stdin, "rb") as file:
        done = subprocess.run([LIGHTNET, *map(str, args)], capture_output=True, text=True, errors="replace",
                              stdin=file, timeout=120, check=False)
    said = "%s\n%s%s" % (" ".join(map(str, args)), done.stdout, done.stderr)
    assert done.returncode == code, "exit %d, not %d: %s" % (done.returncode, code, said)
    for word in [err] if isinstance(err, str) else err:
        assert word in done.stderr, "no %r on standard error: %s" % (word, said)
    for word in [out] if isinstance(out, str) else out:
        assert word in done.stdout, "no %r on standard output: %s" % (word, said)
    return done


def write(name, data):
    pathlib.Path(name).write_bytes(data)
    return name


def relu(**more):
    t = [tf.tensor("x", "float32", (2,), **more), tf.tensor("y", "float32", (2,))]
    return t, [("RELU", ["x"], ["y"], None)], ["x"], ["y"]


# ---- What is said ----

def test_metadata_signatures_and_packed_files_are_shown():
    write("m.tflite", make_seeds.described())
    run("inspect", "m.tflite", out=["format     tflite, schema version 3", "input      x FLOAT32[2]", "what it does", "name: namer", "version: v1",
                                    "signature serve: in=x -> out=y", "files: labels.txt",
                                    "labels y: labels.txt", "normalization x: mean=127.5 std=127.5",
                                    "pictures   --mean=127.5 --scale=0.00784313725"])


def classifier(info, tail=b"", dtype="float32", shape=(1, 1, 1, 3)):
    quant = {} if dtype == "float32" else {"scale": 1.0, "zero": 0}
    t = [tf.tensor(name, dtype, shape, **quant) for name in "xyz"]
    ops = [("MAXIMUM", ["x", "x"], ["y"], None), ("MINIMUM", ["y", "y"], ["z"], None)]
    return write("m.tflite", tf.model(t, ops, ["x"], ["y", "z"], **info) + tail)


def test_classes_have_the_names_that_are_packed_in_the_model():
    np.save("x.npy", np.float32([1, 3, 2]).reshape(1, 1, 1, 3))
    given = ["run", "m.tflite", "-i", "x.npy"]
    names, long = "cat\ndog\ncow\n", "cat\ndog\n" + "cow" * 100 + "\n"
    said = "labels.txt in m.tflite"
    for why, info, tail, shown in (
            ("stored, offsets from the archive", make_seeds.metadata([], [[("labels.txt", None)]]), make_seeds.packed(labels=names), "dog"),
            ("deflated", make_seeds.metadata([], [[("labels.txt", None)]]), make_seeds.packed(labels=long), "cow" * 100),
            ("one of two files", make_seeds.metadata([], [[], [("labels.txt", None)]]), make_seeds.packed(other="a\nb\nc", labels=names), "dog"),
            ("one of two languages", make_seeds.metadata([], [[("fr.txt", "fr"), ("labels.txt", None)]]),
             make_seeds.packed(fr="chat\nchien\nvache", labels=names), "dog"),
            ("two languages", make_seeds.metadata([], [[("labels.txt", "en"), ("fr.txt", "fr")]]),
             make_seeds.packed(fr="chat\nchien\nvache", labels=names), "dog"),
            ("no metadata", {}, make_seeds.packed(labels=names), "dog")):
        classifier(info, tail)
        done = run(*given, err=said, out=shown)
        assert done.stdout.index(shown) > 0 and "chien" not in done.stdout, why
        run("m.tflite", "-i", "x.npy", err=said, out=shown)
        facts = json.loads(run(*given, "--json=-").stdout)["outputs"][0]["top"][0]
        assert facts[0]["class"] == 1 and facts[0]["label"] == "dog", facts
    # Offsets from the start of the file, as tools write that append to a model.
    classifier(make_seeds.metadata([], [[("labels.txt", None)]]))
    with zipfile.ZipFile("m.tflite", "a") as archive:
        archive.writestr("labels.txt", names)
    run(*given, err=said, out="dog")
    write("mine.txt", b"un\ndeux\ntrois\n")
    done = run(*given, "--labels=mine.txt", out="deux")
    assert "dog" not in done.stdout and said not in done.stderr
    assert len(re.findall("dog|cow", run(*given, "--top=1").stdout)) == 2  # of each output the first
    # Which list is whose is not known, or it is not there, or damaged: numbers alone.
    whole = make_seeds.packed(labels=names)
    for why, info, tail in (
            ("two lists", make_seeds.metadata([], [[("a.txt", None)], [("b.txt", None)]]), make_seeds.packed(a=names, b=names)),
            ("a list that is not there", make_seeds.metadata([], [[("a.txt", None)]]), whole),
            ("another sum", make_seeds.metadata([], [[("labels.txt", None)]]), whole.replace(b"dog", b"fog", 1)),
            ("an end cut off", make_seeds.metadata([], [[("labels.txt", None)]]), whole[:-3]),
            ("another file", {}, make_seeds.packed(readme=names))):
        classifier(info, tail)
        done = run(*given)
        assert "dog" not in done.stdout and "in m.tflite" not in done.stderr and "y: float32" in done.stdout, why
    classifier(make_seeds.metadata([], [[("labels.txt", None)]]), make_seeds.packed(labels="one\ntwo"))
    assert "one" not in run(*given).stdout  # of another number of classes


def test_the_normalization_that_metadata_states_is_told_with_its_options():
    write("p.ppm", b"P6 2 2 255\n" + b"\x40\x80\xff" * 4)
    for mean, std, options in (([127.5], [127.5], "--mean=127.5 --scale=0.00784313725"), ([1, 2, 4], [2, 0.5, 8], "--mean=1,2,4 --scale=0.5,2,0.125")):
        classifier(make_seeds.metadata([(mean, std)]), shape=(1, 2, 2, 3))
        run("inspect", "m.tflite", out="pictures   " + options)
        run("run", "m.tflite", "-i", "p.ppm", err=f"the model states that it takes {options}")
        assert "states" not in run("run", "m.tflite", "-i", "p.ppm", "-o", "out", *options.split()).stderr
        want = (np.float32([0x40, 0x80, 0xff]) - np.float32(mean)) / np.float32(std)
        assert np.allclose(outputs("out")["y.npy"], np.broadcast_to(want, (1, 2, 2, 3))), mean
    for why, given, dtype in (("bytes", ([127.5], [127.5]), "uint8"), ("no deviation", ([1.0], []), "float32"), ("by zero", ([1.0], [0.0]), "float32"),
                              ("four channels", ([1, 2, 3, 4.0], [1.0]), "float32")):
        classifier(make_seeds.metadata([given]), dtype=dtype)
        assert "pictures " not in run("inspect", "m.tflite").stdout, why


def test_open_dimensions_have_no_size_until_one_is_given():
    write("m.tflite", make_seeds.half())
    for given, batch in ([], None), (["-s", "x=4x3"], 4):
        done = subprocess.run([LIGHTNET, "inspect", "--json", *given, "m.tflite"], capture_output=True, check=True)
        found = json.loads(done.stdout)
        ends = [(end["type"], end["shape"]) for end in found["inputs"] + found["outputs"]]
        assert ends == [("FLOAT32[?, 3]", [batch, 3]), ("FLOAT32[?, 2]", [batch, 2])], ends


def test_data_replace_the_size_that_an_open_dimension_has_by_default():
    write("m.tflite", make_seeds.half())
    w = make_seeds.ramp("f2", 2, 3).astype("f4")
    for batch in (4, 1, 2):
        x = np.float32(np.arange(3 * batch).reshape(batch, 3)) - 4
        np.save("x.npy", x)
        run("run", "m.tflite", "-i", "x.npy", "-o", "out")
        assert np.array_equal(outputs("out")["y.npy"], np.maximum(x @ w.T, 0)), batch
    for given in ("--zero", "-ix=fill:1"):
        run("run", "m.tflite", given, "-o", "out")
        assert outputs("out")["y.npy"].shape == (1, 2), given
    run("inspect", "m.tflite", out=["x FLOAT32[?, 3]\n", "y FLOAT32[?, 2]\n"])
    np.save("wide.npy", np.ones((4, 5), "f4"))
    run("run", "m.tflite", "-i", "wide.npy", code=1, err=["wide.npy has shape [4, 5], input 'x' takes [?, 3]"])
    # A compiled file is for one size.
    run("m.tflite", "-o", "m.json", "--zero")
    run("inspect", "m.json", out=["x float32 [1, 3]\n", "y float32 [1, 2]\n"])
    np.save("x.npy", np.ones((4, 3), "f4"))
    run("run", "m.json", "-i", "x.npy", code=1, err=["x.npy has shape [4, 3], input 'x' takes [1, 3]"])


def test_a_size_by_default_that_no_operator_takes_is_none():
    w = np.random.default_rng(1).normal(size=(2, 1, 8, 1)).astype("f4")
    t = [tf.tensor("x", "float32", (1, 1, 1, 1), signature=(1, 1, -1, 1)), tf.constant("w", w),
         tf.tensor("y", "float32", (1, 1, 1, 2), signature=(1, 1, -1, 2))]
    write("m.tflite", tf.model(t, [("CONV_2D", ["x", "w", None], ["y"], {"padding": 1, "stride_h": 1, "stride_w": 4})], ["x"], ["y"]))
    run("inspect", "m.tflite", out=["x FLOAT32[1, 1, ?, 1]\n", "work       not known: shapes are dynamic; give them with -s\n"])
    run("inspect", "m.tflite", "-s", "1x1x21x1", out="work       64 multiply-accumulates a run\n")
    for count in (21, 8):
        x = np.random.default_rng(count).normal(size=(1, 1, count, 1)).astype("f4")
        np.save("x.npy", x)
        run("run", "m.tflite", "-i", "x.npy", "-o", "out")
        want = [[x[0, 0, at:at + 8, 0] @ w[c, 0, :, 0] for c in (0, 1)] for at in range(0, count - 7, 4)]
        np.testing.assert_allclose(outputs("out")["y.npy"][0, 0], want, rtol=1e-5, atol=1e-5)
    run("run", "m.tflite", "--zero", code=1, err="input 'x' (float32 [1, 1, ?, 1]) is not given")
    run("run", "m.tflite", "-s", "1x1x7x1", "--zero", code=1, err="size 8, dilation 1 does not fit axis 3 of 7 elements")
    # What fits no size is refused as before.
    t[1] = tf.constant("w", np.zeros((2, 2, 8, 1), "f4"))
    write("m.tflite", tf.model(t, [("CONV_2D", ["x", "w", None], ["y"], {"padding": 1, "stride_h": 1, "stride_w": 4})], ["x"], ["y"]))
    run("run", "m.tflite", "-s", "1x1x21x1", "--zero", code=1, err="size 2, dilation 1 does not fit axis 2 of 1 elements")


def test_slices_of_one_axis_are_no_work_of_ref():
    t = [tf.tensor("x", "int8", (1, 5, 1, 6), scale=0.5, zero=0, signature=(-1, 5, 1, 6)),
         tf.constant("zeros", np.int32([0, 0, 0, 0])), tf.constant("ones", np.int32([1, 1, 1, 1])),
         tf.constant("last", np.int32([0, -3, 0, 0])), tf.constant("end", np.int32([1, 4, 1, 6])), tf.constant("size", np.int32([-1, -1, -1, 2])),
         tf.constant("from", np.int32([0, 0, 0, 3])), tf.constant("steps", np.int32([1, 2, 1, 1]))] + [
             tf.tensor(name, "int8", shape, scale=0.5, zero=0, signature=(-1, *shape[1:]))
             for name, shape in (("a", (1, 3, 1, 6)), ("b", (1, 5, 1, 2)), ("c", (1, 5, 1, 6)), ("d", (1, 4, 1, 6)), ("e", (1, 3, 1, 6)))]
    ops = [("STRIDED_SLICE", ["x", "last", "zeros", "ones"], ["a"], {"begin_mask": 13, "end_mask": 15}),
           ("SLICE", ["x", "from", "size"], ["b"], None),
           ("STRIDED_SLICE", ["x", "zeros", "zeros", "ones"], ["c"], {"begin_mask": 15, "end_mask": 15}),
           ("STRIDED_SLICE", ["x", "zeros", "end", "ones"], ["d"], {"end_mask": 12})]
    write("m.tflite", tf.model(t, ops, ["x"], ["a", "b", "c", "d"]))
    said = run("inspect", "m.tflite").stdout
    assert "on ref" not in said, said
    ops.append(("STRIDED_SLICE", ["x", "zeros", "zeros", "steps"], ["e"], {"begin_mask": 15, "end_mask": 15}))
    write("m.tflite", tf.model(t, ops, ["x"], ["a", "b", "c", "d", "e"]))
    # Starts, ends, axes and steps of four slices of one axis, and of one of two.
    lengths = re.findall(r"dims=\[(\d)\], data=", run("opt", "--rules=none", "m.tflite").stdout)
    assert sorted(lengths) == ["1"] * 16 + ["2"] * 4, lengths
    # An end that is written cuts, whatever the file says that there is.
    for count in (1, 3):
        x = np.random.default_rng(count).integers(-128, 128, (count, 5, 1, 6)).astype("i1")
        np.save("x.npy", x)
        run("run", "m.tflite", "-i", "x.npy", "-o", "out")
        got = outputs("out")
        for name, want in {"a": x[:, -3:], "b": x[..., 3:5], "c": x, "d": x[:1, :4], "e": x[:, ::2]}.items():
            assert np.array_equal(got[f"{name}.npy"], want), (name, count)


def test_an_operator_that_runs_graphs_is_not_named_as_one_without_a_kernel():
    write("m.tflite", make_seeds.loop())
    for command in (["inspect"], ["run", "--zero"]):
        done = run(*command, "m.tflite")
        assert "on ref" not in done.stdout + done.stderr, done
    assert json.loads(run("inspect", "--json", "m.tflite").stdout)["on_ref"] == 0


def test_verify_takes_data_of_other_sizes():
    folder = pathlib.Path("sizes")
    w = make_seeds.ramp("f2", 2, 3).astype("f4")
    for number, batch in enumerate((4, 1, 2)):
        data = folder / f"test_data_set_{number}"
        data.mkdir(parents=True, exist_ok=True)
        x = np.float32(np.arange(3 * batch).reshape(batch, 3)) - 4
        np.save(data / "input_0.npy", x)
        np.save(data / "output_0.npy", np.maximum(x @ w.T, 0))
    write("sizes/model.tflite", make_seeds.half())
    for options in ([], ["--compiled"], ["--through=il"], ["--through=ir"], ["--through=onnx"], ["--open"]):
        run("verify", "sizes/model.tflite", *options, out=["pass  set 0", "pass  set 1", "pass  set 2"])
    np.save(folder / "test_data_set_1/output_0.npy", np.full((1, 2), 9, "f4"))
    said = run("verify", "sizes/model.tflite", code=1, out=["pass  set 0", "pass  set 2"])
    assert "pass  set 1" not in said.stdout


def test_functions_of_int16_are_tables_that_are_shared_and_bounded():
    """300 scales, each for two operators, and two SOFTMAX."""
    scales = [0.0003 + i * 1e-6 for i in range(300)]
    t, ops = [tf.tensor("x", "int16", (1024,), scale=0.0003, zero=0)], []
    for i, scale in enumerate(scales):
        t += [tf.tensor(f"x{i}", "int16", (1024,), scale=scale, zero=0), *(tf.tensor(f"y{i}_{k}", "int16", (1024,), scale=2.0 ** -15, zero=0) for k in (0, 1))]
        ops += [("RESHAPE", ["x"], [f"x{i}"], {"new_shape": [1024]}), *(("LOGISTIC", [f"x{i}"], [f"y{i}_{k}"], None) for k in (0, 1))]
    for k in (0, 1):
        t.append(tf.tensor(f"s{k}", "int16", (1024,), scale=2.0 ** -15, zero=0))
        ops.insert(k, ("SOFTMAX", ["x"], [f"s{k}"], {"beta": 1}))
    write("m.tflite", tf.model(t, ops, ["x"], ["y0_0", "y0_1", "y253_0", "y254_0", "x254", "x253", "s1"]))
    run("convert", "m.tflite", "-o", "m.net")
    tables = re.findall(r"dtype=TL_INT16, dims=\[65536\]", pathlib.Path("m.net").read_text())
    assert len(tables) == 256, len(tables)
    x = np.random.default_rng(3).integers(-2**15, 2**15, 1024).astype("i2")
    np.save("x.npy", x)
    run("run", "m.tflite", "-i", "x.npy", "-o", "out")
    got = outputs("out")
    assert np.array_equal(got["s1.npy"], fixed.softmax(x[None], scales[0], 1)[0])
    assert np.array_equal(got["y0_0.npy"], fixed.logistic(x, scales[0])) and np.array_equal(got["y0_0.npy"], got["y0_1.npy"])
    for i, is_exact in ((253, True), (254, False)):
        off = got[f"y{i}_0.npy"].astype(int) - fixed.logistic(got[f"x{i}.npy"], scales[i])
        assert off.any() != is_exact and abs(off).max() < 9, (i, abs(off).max())


def test_functions_of_int16_share_a_table_where_both_scales_are_equal():
    grids, ops = [(0.0003, 0.001), (0.0003, 0.001), (0.0003, 0.002), (0.0004, 0.001)], []
    t = [tf.tensor("x", "int16", (1024,), scale=0.0003, zero=0), tf.tensor("w", "int16", (1024,), scale=0.0004, zero=0)]
    forms = [("EXP", None, fixed.exp_of), ("GELU", {"approximate": 0}, fixed.gelu_of), ("GELU", {"approximate": 1}, fixed.gelu_tanh_of)]
    for k, (op, options, _) in enumerate(forms):
        for i, (scale, out) in enumerate(grids):
            t.append(tf.tensor(f"y{k}{i}", "int16", (1024,), scale=out, zero=0))
            ops.append((op, ["x" if scale == 0.0003 else "w"], [f"y{k}{i}"], options))
    write("m.tflite", tf.model(t, ops, ["x", "w"], [name for _, _, (name,), _ in ops]))
    run("convert", "m.tflite", "-o", "m.net")
    assert pathlib.Path("m.net").read_text().count("dtype=TL_INT16, dims=[65536]") == 9
    x = np.arange(-2**15, 2**15, 64).astype("i2")
    np.save("x.npy", x)
    run("run", "m.tflite", "-i", "x=x.npy", "-i", "w=x.npy", "-o", "out")
    got = outputs("out")
    for k, (_, _, function) in enumerate(forms):
        for i, (scale, out) in enumerate(grids):
            assert np.array_equal(got[f"y{k}{i}.npy"], fixed.on_float_lines(x, scale, out, function)), (k, i)


def test_signatures_of_other_subgraphs_are_told_apart():
    write("m.tflite", make_seeds.entries())
    run("inspect", "m.tflite", out=["signature encode: in=x -> out=y\n", "signature decode: in=0 -> out=4 (subgraph 1)", "shape_signature x: -1,2\n",
                                    "shape_signature y: -1,2"])
    assert "shape_signature" not in run("inspect", write("n.tflite", make_seeds.conv())).stdout


def test_a_rounding_is_chosen():
    write("m.tflite", make_seeds.quantized())
    for rounding, word, other in (("float", "QuantizeLinear", "rescale"), ("reference", "rounding=q31", "QuantizeLinear")):
        run("convert", "m.tflite", f"--rounding={rounding}", "-o", "m.net")
        text = pathlib.Path("m.net").read_text()
        assert word in text and other not in text, (rounding, text)
    run("run", "m.tflite", "--rounding=reference", "--zero")
    run("run", "-", "--rounding=reference", "--zero", stdin="m.tflite")
    run("compare", "m.tflite", "--rounding=reference", out="")
    run("inspect", "m.tflite", "--rounding=reference", "--verbose", err="quant_conv_nhwc_rescaled")
    run("run", "m.tflite", "--rounding=nearest", "--zero", code=2, err="--rounding takes float or reference, not 'nearest'")
    run("run", "m.net", "--rounding=float", "--zero", code=1, err="a model of format 'il' has one rounding; leave 'float' out")


def test_sizes_that_a_file_states_are_opened():
    w = np.random.default_rng(3).normal(size=(3, 1, 1, 2)).astype("f4")
    t = [tf.tensor("x", "float32", (1, 4, 4, 2)), tf.constant("w", w), tf.tensor("y", "float32", (1, 2, 2, 3))]
    write("m.tflite", tf.model(t, [("CONV_2D", ["x", "w", None], ["y"], {"padding": 1, "stride_h": 2, "stride_w": 2})], ["x"], ["y"]))
    x = np.random.default_rng(4).normal(size=(2, 9, 7, 2)).astype("f4")
    np.save("x.npy", x)
    np.save("narrow.npy", x[..., :1])
    run("run", "m.tflite", "-i", "x.npy", code=1, err="x")
    run("run", "m.tflite", "--resizable", "-i", "narrow.npy", code=1, err="x")
    run("convert", "m.tflite", "--resizable", "-o", "open.onnx")
    for model, *options in (["m.tflite", "--resizable"], ["open.onnx"]):
        run("run", model, *options, "-i", "x.npy", "-o", "out.npy")
        np.testing.assert_allclose(np.load("out.npy"), x[:, ::2, ::2] @ w[:, 0, 0].T, rtol=1e-5, atol=1e-6)
    run("run", "m.tflite", "--resizable", "--zero", out="[1, 2, 2, 3]")
    write("shaped.tflite", make_seeds.conv())
    run("run", "shaped.tflite", "--resizable", "--zero")
    run("run", "shaped.tflite", "--resizable", "-i", "x.npy", code=1, err="48 elements do not fit a shape of 8")
    run("convert", "m.tflite", "-o", "m.net")
    run("run", "m.net", "--resizable", "--zero", code=1, err="a model of format 'il' has the sizes that it states; leave out that it is resizable")


def test_a_signature_is_read_by_its_name():
    write("m.tflite", make_seeds.entries())
    x = np.float32([[6, -8], [3, 5]])
    np.save("x.npy", x)
    for name, want in (("encode", x * [2, 4]), ("decode", -x / [2, 4])):
        options = ["m.tflite", f"--signature={name}"]
        run("run", *options, "-i", "x.npy", "-o", f"out_{name}")
        (got,) = outputs(f"out_{name}").values()
        assert np.array_equal(got, want.astype("f4")), (name, got)
        run("run", "-", f"--signature={name}", "-i", "x.npy", "-o", "again", stdin="m.tflite")
        assert [np.array_equal(y, got) for y in outputs("again").values()] == [True]
        run("convert", *options, "-o", f"{name}.onnx")
        run("run", f"{name}.onnx", "-i", "x.npy", "-o", f"onnx_{name}")
        assert [np.array_equal(y, got) for y in outputs(f"onnx_{name}").values()] == [True]
    run("inspect", "m.tflite", "--signature=decode", out=["signature encode: in=0 -> out=2 (subgraph 0)", "signature decode: in=code -> out=whole\n",
                                                          "input      code float32", "shape_signature whole: -1,2"])
    told = json.loads(run("inspect", "m.tflite", "--signature=decode", "--json").stdout)
    assert [i["name"] for i in told["inputs"]] == ["code"], told["inputs"]

    def signature(name, x, y, subgraph=None):
        return {"name": name, "subgraph": subgraph, "inputs": [{"name": "in", "tensor": x}], "outputs": [{"name": "out", "tensor": y}]}
    assert told["signatures"] == [signature("encode", None, None, 0), signature("decode", "code", "whole")], told["signatures"]
    told = json.loads(run("inspect", "m.tflite", "--json").stdout)
    assert told["signatures"] == [signature("encode", "x", "y"), signature("decode", None, None, 1)], told["signatures"]
    told = json.loads(run("inspect", write("n.tflite", make_seeds.described()), "--json").stdout)
    assert told["signatures"] == [{"name": "serve", "subgraph": None, "inputs": [{"name": "in", "tensor": "x"}],
                                   "outputs": [{"name": "out", "tensor": "y"}]}], told["signatures"]
    told = json.loads(run("inspect", write("n.tflite", make_seeds.conv()), "--json").stdout)
    assert told["signatures"] == [], told["signatures"]
    t = [tf.tensor(name, "float32", (2,)) for name in ("a", "b", "c", "d")]
    ops = [("ADD", ["a", "b"], ["c"], {"act": 0}), ("SUB", ["a", "b"], ["d"], {"act": 0})]
    ends = {0: [{0: name, 1: tf.Number("I", i)} for i, name in enumerate("xy")], 1: [{0: name, 1: tf.Number("I", i)} for i, name in enumerate(("sum", "rest"), 2)], 2: "two"}
    told = json.loads(run("inspect", write("n.tflite", tf.model(t, ops, ["a", "b"], ["c", "d"], **{"7": [ends]})), "--json").stdout)
    assert told["signatures"] == [{"name": "two", "subgraph": None, "inputs": [{"name": "x", "tensor": "a"}, {"name": "y", "tensor": "b"}],
                                   "outputs": [{"name": "sum", "tensor": "c"}, {"name": "rest", "tensor": "d"}]}], told["signatures"]
    odd = ["a, b=1", "x -> y", "\\x2c (subgraph 3)", "(>=,\\"]
    t = [tf.tensor(name, "float32", (2,)) for name in odd]
    ops = [("ADD", odd[:2], odd[2:3], {"act": 0}), ("SUB", odd[:2], odd[3:], {"act": 0})]
    ends = {0: [{0: odd[3 - i], 1: tf.Number("I", i)} for i in (0, 1)], 1: [{0: odd[3 - i], 1: tf.Number("I", i)} for i in (2, 3)], 2: "a -> b, c"}
    told = json.loads(run("inspect", write("n.tflite", tf.model(t, ops, odd[:2], odd[2:], **{"7": [ends]})), "--json").stdout)
    assert told["signatures"] == [{"name": "a -> b, c", "subgraph": None, "inputs": [{"name": odd[3 - i], "tensor": odd[i]} for i in (0, 1)],
                                   "outputs": [{"name": odd[3 - i], "tensor": odd[i]} for i in (2, 3)]}], told["signatures"]
    data = pathlib.Path("signed/test_data_set_0")
    data.mkdir(parents=True)
    write("signed/model.tflite", make_seeds.entries())
    np.save(data / "input_0.npy", x[:1])
    np.save(data / "output_0.npy", -x[:1] / np.float32([2, 4]))
    for more in ([], ["--through=il"]):
        run("verify", "signed/model.tflite", "--signature=decode", *more, out="pass  set 0")
    run("verify", "signed/model.tflite", code=1)
    run("run", "m.tflite", "--signature=code", code=1, err="the model has no signature 'code'; it has 'encode', 'decode'")
    run("run", write("n.tflite", make_seeds.conv()), "--signature=x", code=1, err="the model has no signature 'x'")
    run("convert", "m.tflite", "-o", "m.net")
    run("run", "m.net", "--signature=encode", code=1, err="m.net: a model of format 'il' has no signature 'encode'")
    graph = ([*(tf.tensor(n, "float32", (1, 2)) for n in "xy")], [("NEG", ["x"], ["y"], None)], ["x"], ["y"])
    far = {0: [{0: "in", 1: tf.Number("I", 0)}], 1: [{0: "out", 1: tf.Number("I", 1)}], 2: "far", 4: tf.Number("I", 5)}
    run("run", write("far.tflite", tf.model(*graph, **{"7": [far]})), "--signature=far", code=1, err="signature 'far' is of subgraph 5 of 1")


def test_content_says_the_format_whatever_the_name():
    write("model.bin", make_seeds.half())
    run("inspect", "model.bin", out="format     tflite")
    write("text.tflite", b"no model at all")
    run("inspect", "text.tflite", code=1, err=["text.tflite: byte 4", "TFL3"])


def test_other_forms_compute_the_same():
    for name, make in make_seeds.SEEDS.items():
        source = write(f"{name}.tflite", make())
        shape = {"half": ["-s", "x=4x3"], "entries": ["-s", "x=4x2"]}.get(name, [])
        want = run("run", source, "--zero", "-o", "want", *shape) and outputs("want")
        for form in ("onnx", "json", "net"):
            run("convert", source, "-o", f"{name}.{form}")
            weights = ["-f", f"{name}.safetensors"] if form != "onnx" and os.path.exists(f"{name}.safetensors") else []
            run("run", f"{name}.{form}", "--zero", "-o", form, *weights, *shape)
            got = outputs(form)
            assert want.keys() == got.keys() and all(np.array_equal(want[k], got[k]) for k in want), (name, form)


def outputs(folder):
    found = {p.name: np.load(p) for p in pathlib.Path(folder).glob("*.npy")}
    assert found
    for name in found:
        os.remove(pathlib.Path(folder, name))
    return found


def test_inner_transposes_go():
    """A stack of convolutions on channels last keeps its input and output as they are in the file."""
    t, ops = [tf.tensor("x0", "float32", (1, 16, 16, 8))], []
    for i in range(4):
        kind = "DEPTHWISE_CONV_2D" if i % 2 else "CONV_2D"
        w = np.ones((1, 3, 3, 8) if i % 2 else (8, 1, 1, 8), "f4")
        t += [tf.constant(f"w{i}", w * (i + 1)), tf.constant(f"b{i}", np.ones(8, "f4")),
              tf.tensor(f"x{i + 1}", "float32", (1, 16, 16, 8))]
        ops.append((kind, [f"x{i}", f"w{i}", f"b{i}"], [f"x{i + 1}"],
                    {"padding": 0, "stride_h": 1, "stride_w": 1, "act": 3, **({"multiplier": 1} if i % 2 else {})}))
    t.append(tf.tensor("y", "float32", (1, 16, 16, 8)))
    ops.append(("ADD", ["x2", "x4"], ["y"], {"act": 0}))
    write("stack.tflite", tf.model(t, ops, ["x0"], ["y"]))
    text = run("opt", "stack.tflite", "-o", "-").stdout
    of_images = [line for line in text.splitlines() if "transpose" in line and not re.search(r"src=w\d", line)]
    assert "conv2d_nhwc" in text and not of_images, of_images


def test_a_batch_may_be_open():
    write("m.tflite", make_seeds.half())
    np.save("x.npy", np.float32([[1, 2, 3], [4, 5, 6], [-1, -2, -3], [0, 0, 0]]))
    run("run", "m.tflite", "-i", "x.npy", "-s", "x=4x3", "-o", "out")
    w = make_seeds.ramp("f2", 2, 3).astype("f4")
    assert np.array_equal(outputs("out")["y.npy"], np.maximum(np.load("x.npy") @ w.T, 0))


def test_an_open_batch_has_the_file_s_size_until_another_is_given():
    write("m.tflite", make_seeds.half())
    run("inspect", "m.tflite", out=["x FLOAT32[?, 3]", "6 multiply-accumulates a run"])
    run("inspect", "m.tflite", "-s", "x=5x3", out="30 multiply-accumulates a run")


def test_tensors_may_share_names_and_have_strange_ones():
    t = [tf.tensor("a", "float32", (2,)), tf.tensor("a", "float32", (2,)), tf.tensor("", "float32", (2,)),
         tf.tensor("b\x01\x7f", "float32", (2,))]
    ops = [("RELU", [0], [1], None), ("NEG", [1], [2], None), ("ABS", [2], [3], None)]
    write("m.tflite", tf.model(t, ops, [0], [3]))
    np.save("x.npy", np.float32([-3, 4]))
    run("run", "m.tflite", "-i", "x.npy", "-o", "out")
    assert np.array_equal(list(outputs("out").values())[0], np.float32([0, 4]))


# ---- What is kept between runs ----

def test_a_variable_is_an_input_with_a_default_and_an_output():
    """Its first value without it, and the one of the run before where it is given."""
    write("m.tflite", make_seeds.variables())
    np.save("x.npy", np.float32([10, 20]))
    run("inspect", "m.tflite", out=["total"])
    run("run", "m.tflite", "-i", "x=x.npy", "-o", "out")
    first = outputs("out")
    assert first["y.npy"].tolist() == [11, 22] and first["total_next.npy"].tolist() == [11, 22], first
    np.save("total.npy", first["total_next.npy"])
    run("run", "m.tflite", "-i", "x=x.npy", "-i", "total=total.npy", "-o", "out")
    assert outputs("out")["y.npy"].tolist() == [21, 42]


def test_a_sequence_goes_on_where_the_last_one_ended():
    """Half by half, with the states between, as the formula computes the whole."""
    rng = np.random.default_rng(3)
    for options in ({}, {"cell_clip": 0.3}):
        model = make_seeds.lstm(**options)
        write("m.tflite", model)
        x = rng.normal(size=(1, 4, 3)).astype("f4")
        tensors, ops, _, _ = tf.read(model)
        ins = [None if i == -1 else tensors[i]["data"] for i in ops[0][1]]
        ins[0], ins[18], ins[19] = x, np.zeros((1, 4)), np.zeros((1, 4))
        want = FORMULAS["UNIDIRECTIONAL_SEQUENCE_LSTM"](ins, {"act": 4, **options})
        np.save("x.npy", x[:, :2])
        run("run", "m.tflite", "-i", "x=x.npy", "-o", "out")
        first = outputs("out")
        for name in "hc":
            np.save(f"{name}.npy", first[f"{name}_next.npy"])
        np.save("x.npy", x[:, 2:])
        run("run", "m.tflite", "-i", "x=x.npy", "-i", "h=h.npy", "-i", "c=c.npy", "-o", "out")
        got = np.concatenate([first["y.npy"], outputs("out")["y.npy"]], 1)
        assert np.allclose(got, want, rtol=1e-5, atol=1e-5), abs(got - want).max()


# ---- Names ----

def test_long_names_that_differ_at_their_end_are_told_apart():
    """Converters join the names of the operators that a convolution was made of."""
    long = "bn/FusedBatchNormV3;" * 20
    rng, t, ops = np.random.default_rng(4), [tf.tensor("x", "int8", (1, 6, 6, 16), scale=0.5, zero=3)], []
    y = rng.integers(-128, 128, (1, 6, 6, 16), "i1")
    np.save("x.npy", y)
    for i in range(4):
        w = rng.integers(-9, 10, (16, 3, 3, 16), "i1")
        t += [tf.constant(f"w{i}", w, scale=0.5), tf.tensor(f"{long}{i}", "int8", (1, 6, 6, 16), scale=8.0 if i == 0 else 16.0, zero=3)]
        ops.append(("CONV_2D", [t[-3]["name"], f"w{i}", None], [f"{long}{i}"], {"padding": 0, "stride_h": 1, "stride_w": 1}))
        real = FORMULAS["CONV_2D"]([(y.astype("f8") - 3) * t[-3]["scale"], w * 0.5, None], {"padding": 0, "stride_h": 1, "stride_w": 1, "act": 0})
        y = np.clip(np.rint(real / t[-1]["scale"]) + 3, -128, 127).astype("i1")
    write("m.tflite", tf.model(t, ops, ["x"], [f"{long}3"]))
    for target in ("cpu", "ref"):
        run("run", "m.tflite", "-i", "x=x.npy", "-t", target, "-o", "out.npy")
        assert np.array_equal(np.load("out.npy"), y), target


# ---- What is refused ----

def test_all_that_is_not_read_is_named_at_once():
    t = [tf.tensor(n, "float32", (2,)) for n in "abcde"]
    ops = [("CUSTOM Mine", ["a"], ["b"], None), (10, ["b"], ["c"], None), ("RELU", ["c"], ["d"], None),
           ("ADD", ["d", "a"], ["e"], {"act": 5})]
    write("m.tflite", tf.model(t, ops, ["a"], ["e"]))
    for command in (["run", "--zero"], ["inspect"]):
        done = run(*command, "m.tflite", code=1)
        for words in ("CUSTOM Mine", "HASHTABLE_LOOKUP", "operator 1", "fused activation 5", "operator 3"):
            assert words in done.stderr + done.stdout, (words, done.stderr, done.stdout)


def options(**more):
    return {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.25,
            "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, **more}


def detector(custom):
    t = [tf.tensor("x", "float32", (1, 4, 4)), tf.tensor("s", "float32", (1, 4, 3)), tf.constant("a", np.ones((4, 4), "f4"))]
    t += [tf.tensor(n, "float32", shape) for n, shape in (("b", (1, 3, 4)), ("c", (1, 3)), ("d", (1, 3)), ("e", (1,)))]
    return tf.model(t, [("CUSTOM TFLite_Detection_PostProcess", ["x", "s", "a"], ["b", "c", "d", "e"], custom)], ["x", "s"],
                    ["b", "c", "d", "e"])


def test_a_fault_of_no_operator_counts_no_operators():
    tensors = [tf.tensor(name, dtype, (2,)) for name, dtype in (("s", "string"), ("x", "float32"), ("y", "float32"))]
    for inputs, operator, said in ((["s", "x"], "RELU", "cannot run because of the problems above\n"), (["s", "x"], "CUSTOM Mine", "cannot run 1 of 1 nodes are not supported\n"),
                                   (["x"], "RELU", None)):
        write("m.tflite", tf.model(tensors, [(operator, ["x"], ["y"], b"" if "CUSTOM" in operator else None)], inputs, ["y"]))
        done = run("inspect", "m.tflite", code=1 if said else 0)
        assert ("cannot run" in done.stdout) == bool(said) and (not said or done.stdout.endswith(said)), done


def test_what_was_made_for_another_runtime_is_named():
    tensors = [tf.tensor(name, "uint8", (2,), scale=1, zero=0) for name in "xy"]
    for name, said in (("edgetpu-custom-op", "it is compiled for an Edge TPU; take the model that it was compiled from\n"), ("edgetpu-custom-op2", "this operator is not read; docs"),
                       ("FlexTensorListReserve", "it is an operator of TensorFlow itself; convert the model without SELECT_TF_OPS\n"),
                       ("flexible", "this operator is not read; docs"), ("Flood", "this operator is not read; docs"), ("MyFlexOp", "this operator is not read; docs")):
        write("m.tflite", tf.model(tensors, [("CUSTOM " + name, ["x"], ["y"], b"")], ["x"], ["y"]))
        run("inspect", "m.tflite", code=1, out=f"node 'y' (CUSTOM {name}, tflite 1): {said}")


def test_faults_are_named_with_place_and_value():
    f = "float32"
    x, y = tf.tensor("x", f, (2,)), tf.tensor("y", f, (2,))
    small = tf.constant("k", np.float32([1, 2]))
    small["shape"] = [3]
    scaled = tf.tensor("q", "int8", (2,), scale=[0.5, 0.25, 1], zero=[0, 0, 0])
    far = tf.tensor("q", "int8", (2,), scale=[0.5], zero=[200])
    for why, data, words in (
            ("a string", tf.model([tf.tensor("s", "string", (2,)), y], [("RELU", ["s"], ["y"], None)], ["s"], ["y"]),
             "input 's' has elements of type STRING"),
            ("a tensor of no list", tf.model([x, y], [("RELU", [7], ["y"], None)], ["x"], ["y"]),
             "operator 0 (RELU 'y'): input 0 is tensor 7 of 2"),
            ("cells within a limit, of relu", make_seeds.lstm(act=1, cell_clip=2.0), "it keeps its cells within 2, which is read with gates i, f, c and o, tanh, and no peepholes"),
            ("nobody makes it", tf.model([x, tf.tensor("z", f, (2,)), y], [("RELU", ["z"], ["y"], None)], ["x"], ["y"]),
             "it reads 'z', which no operator before it makes"),
            ("made twice", tf.model([x, y], [("RELU", ["x"], ["y"], None), ("NEG", ["x"], ["y"], None)], ["x"], ["y"]),
             "operator 1 (NEG 'y'): output 'y' is there before it"),
            ("a missing input", tf.model([x, y], [("ADD", ["x"], ["y"], None)], ["x"], ["y"]), "its input 1 is missing"),
            ("an output of nobody", tf.model([x, y], [], ["x"], ["y"]), "output 'y' is made by no operator"),
            ("a short constant", tf.model([x, small, y], [("ADD", ["x", "k"], ["y"], None)], ["x"], ["y"]),
             "the constant 'k' has 8 bytes"),
            ("too many scales", tf.model([scaled, y], [("DEQUANTIZE", ["q"], ["y"], None)], ["q"], ["y"]),
             "'q' has 3 scales for axis 0 of rank 1"),
            ("a zero point", tf.model([far, y], [("DEQUANTIZE", ["q"], ["y"], None)], ["q"], ["y"]), "zero point 200"),
            ("a variable", tf.model([x, tf.tensor("v", f, (2,), variable=True), y], [("ADD", ["x", "v"], ["y"], None)],
                                    ["x"], ["y"]), "it reads the variable 'v'"),
            ("an input twice", tf.model([x, y], [("RELU", ["x"], ["y"], None)], ["x", "x"], ["y"]),
             "'x' is an input twice"),
            ("a dimension", tf.model([tf.tensor("x", f, (-5,)), y], [("RELU", ["x"], ["y"], None)], ["x"], ["y"]),
             "dimension 0 of tensor 'x' is -5"),
            ("a factor", tf.model(
                [tf.tensor("x", "int16", (2,), scale=[1e30], zero=[0]), tf.tensor("y", "int16", (2,), scale=[1e-30], zero=[0])],
                [("LEAKY_RELU", ["x"], ["y"], {"alpha": 0.5})], ["x"], ["y"]), "its scales make a factor of"),
            ("an axis", tf.model([x, tf.constant("a", np.int32(3)), y], [("ARG_MAX", ["x", "a"], ["y"], None)], ["x"],
                                 ["y"]), "axis 3 is outside of rank 1"),
            ("a rank", tf.model([x, y], [("MAX_POOL_2D", ["x"], ["y"], {"stride_h": 1, "stride_w": 1})], ["x"], ["y"]),
             "'x' has rank 1 in place of 4"),
            ("options of no map", detector(b"\x01\x02\x03"), "its options are max_detections 0"),
            ("no options", detector(None), "its options are max_detections 0"),
            ("more classes than scores", detector(tf.flex_map(options(num_classes=9))), "num_classes 9 of 3"),
            ("a scale of 0", detector(tf.flex_map(options(h_scale=0.0))), "its option h_scale is 0"),
            ("soft suppression", tf.model(
                [tf.tensor("x", f, (4, 4)), tf.tensor("s", f, (4,)), tf.constant("n", np.int32(2)), tf.constant("h", np.float32(0.5)),
                 tf.tensor("i", "int32", (2,)), tf.tensor("t", f, (2,)), tf.tensor("c", "int32", ())],
                [("NON_MAX_SUPPRESSION_V5", ["x", "s", "n", "h", "h", "h"], ["i", "t", "c"], None)], ["x", "s"], ["i"]),
             "sigma is not 0"),
            ("a window that is too large", tf.model(
                [x, tf.tensor("w", f, (3,)), tf.constant("at", np.int32([0])), y],
                [("DYNAMIC_UPDATE_SLICE", ["x", "w", "at"], ["y"], None)], ["x", "w"], ["y"]), "'w' is no window of known size"),
            ("other sizes of bits", tf.model([x, tf.tensor("y", "int8", (8,))], [("BITCAST", ["x"], ["y"], None)], ["x"], ["y"]),
             "it reads FLOAT32 as INT8"),
            ("a graph that is run once and computes", tf.model(
                [x, y], [("CALL_ONCE", [], [], {"subgraph": 1}), ("RELU", ["x"], ["y"], None)], ["x"], ["y"],
                [([x, y], [("RELU", ["x"], ["y"], None)], ["x"], ["y"])]), "it is in a subgraph that is run once"),
            ("a graph that runs itself once", tf.model(
                [x, y], [("CALL_ONCE", [], [], {"subgraph": 0}), ("RELU", ["x"], ["y"], None)], ["x"], ["y"]),
             "it runs subgraph 0, of which it is a part"),
            ("a graph that is not there", tf.model(
                [x, y], [("CALL_ONCE", [], [], {"subgraph": 7}), ("RELU", ["x"], ["y"], None)], ["x"], ["y"]),
             "it runs subgraph 7 of 1"),
            ("a graph in a circle", tf.model(
                [x, y], [("CALL_ONCE", [], [], {"subgraph": 1}), ("RELU", ["x"], ["y"], None)], ["x"], ["y"],
                [([x, y], [("CALL_ONCE", [], [], {"subgraph": 1})], [], [])]), "only VAR_HANDLE"),
            ("a variable without a value", tf.model(
                [x, tf.tensor("h", "resource"), y],
                [("VAR_HANDLE", [], ["h"], {"name": "v"}), ("READ_VARIABLE", ["h"], ["y"], None)], ["x"], ["y"]),
             "the variable 'v' has no value before it is read"),
            ("a handle of nothing", tf.model([x, y], [("READ_VARIABLE", ["x"], ["y"], None)], ["x"], ["y"]),
             "'x' is the handle of no variable"),
            ("a projection", tf.model(
                [tf.tensor("x", f, (1, 2, 3)), tf.tensor("w", f, (4, 3)), tf.tensor("y", f, (1, 2, 4))],
                [("UNIDIRECTIONAL_SEQUENCE_LSTM", ["x"] + ["w"] * 8 + [None] * 3 + ["w"] * 8, ["y"], {"act": 4})], ["x", "w"],
                ["y"]), "it has a projection"),
            *(("blocks that do not fit", tf.model(
                [tf.tensor("x", f, shape), tf.constant("b", np.int32(block)), tf.constant("e", np.int32(edges)), y], [(op, ["x", "b", "e"], ["y"], None)], ["x"], ["y"]),
               words) for op, shape, block, edges, words in (
                   ("SPACE_TO_BATCH_ND", (4, 4, 5, 1), [2, 2], [[1, 1], [0, 0]], "5 rows of axis 2 are no blocks of 2"),
                   ("SPACE_TO_BATCH_ND", (2, 4, 4, 1), [2, 2], [[1, 0], [0, 0]], "5 rows of axis 1 are no blocks of 2"),
                   ("SPACE_TO_BATCH_ND", (1, 4, 4, 1), [0, 2], [[0, 0], [0, 0]], "its blocks do not fit 'x', of rank 4"),
                   ("SPACE_TO_BATCH_ND", (1, 4, 4, 1), [2, 2], [[0, -2], [0, 0]], "its blocks do not fit 'x', of rank 4"),
                   ("SPACE_TO_BATCH_ND", (1, 4, 4, 1), [2, 2], [0, 0], "its blocks do not fit 'x', of rank 4"),
                   ("BATCH_TO_SPACE_ND", (4, 2, 2, 1), [2, 2], [[0, 0], [3, 2]], "3 and 2 rows are cut from 4 of axis 2"),
                   ("BATCH_TO_SPACE_ND", (3, 2, 2, 1), [2, 2], [[0, 0], [0, 0]], "12 elements leave no integer for the dimension -1"))),
            ("the schema", tf.file_of({0: tf.Number("I", 2)}), "the schema has version 2 in place of 3"),
            ("no subgraph", tf.file_of({0: tf.Number("I", 3)}), "the file has no subgraph"),
            ("an end", tf.model(*relu())[:40], "byte")):
        done = run("run", "--zero", write("m.tflite", data), code=1)
        assert words in done.stderr and "m.tflite" in done.stderr, (why, done.stderr)


def if_of(yes, no, ins=("c", "x"), outs=("y",)):
    return ("IF", list(ins), list(outs), {"then": yes, "else": no})


def test_faults_of_subgraphs_are_named():
    f = "float32"
    c, x, y, n = tf.tensor("c", "bool"), tf.tensor("x", f, (2,)), tf.tensor("y", f, (2,)), tf.tensor("n", "int32")
    relus = ([x, y], [("RELU", ["x"], ["y"], None)], ["x"], ["y"])
    always = ([x, tf.constant("k", np.array(True))], [], ["x"], ["k"])
    top = [c, x, y, n]

    def branches(op, *graphs):
        return tf.model(top, [op], ["c", "x", "n"], ["y"], graphs)

    def loop(cond, body, *graphs, ins=("x",), outs=("y",)):
        return tf.model(top, [("WHILE", list(ins), list(outs), {"cond": cond, "body": body})], ["c", "x", "n"], ["y"], graphs)

    h, handle = tf.tensor("h", "resource"), ("VAR_HANDLE", [], ["h"], {"name": "v"})
    lstm = [("UNIDIRECTIONAL_SEQUENCE_RNN", ["x", "w", "w", "b", "h"], ["y"], {"act": 1})]
    of_state = ([tf.tensor("x", f, (1, 2, 2)), tf.constant("w", np.ones((2, 2), "f4")), tf.constant("b", np.ones(2, "f4")), y, tf.tensor("h", f, (1, 2), variable=True)], lstm,
                ["x"], ["y"])
    for why, data, words in (
            ("its place", branches(if_of(1, 9), relus), "subgraph 0, operator 0"),
            ("no such branch", branches(if_of(1, 9), relus), "it runs subgraph 9 of 2"),
            ("a branch below 0", branches(if_of(-1, 1), relus), "it runs subgraph -1 of 2"),
            ("no such condition", loop(5, 1, relus), "it runs subgraph 5 of 2"),
            ("no such body", loop(1, 5, always), "it runs subgraph 5 of 2"),
            ("the model as a branch", branches(if_of(0, 1), relus), "it runs subgraph 0, of which it is a part"),
            ("a branch in itself", branches(if_of(1, 1, ins=("c", "c", "x")), ([c, x, y], [if_of(1, 1, ins=("c", "c", "x"))], ["c", "x"], ["y"])),
             "it runs subgraph 1, of which it is a part"),
            ("a body in itself", loop(1, 2, always, ([x, y], [("WHILE", ["x"], ["y"], {"cond": 1, "body": 2})], ["x"], ["y"])),
             "it runs subgraph 2, of which it is a part"),
            ("a circle of two", loop(1, 2, always, ([x, y], [("WHILE", ["x"], ["y"], {"cond": 1, "body": 3})], ["x"], ["y"]),
                                     ([x, y], [("WHILE", ["x"], ["y"], {"cond": 1, "body": 2})], ["x"], ["y"])),
             "subgraph 3, operator 0"),
            ("more operands than inputs", branches(if_of(1, 1, ins=("c", "x", "x")), relus), "subgraph 1 has 1 inputs in place of 2"),
            ("fewer results than outputs", branches(if_of(1, 1), (relus[0], relus[1], ["x"], ["y", "y"])),
             "subgraph 1 has 2 outputs in place of 1"),
            ("an operand of another type", branches(if_of(1, 1, ins=("c", "n")), relus),
             "input 0 of subgraph 1, 'x_"),
            ("a result of another type", branches(if_of(1, 2), relus, ([x, tf.constant("n", np.int32(1))], [], ["x"], ["n"])),
             "output 0 of subgraph 2, 'n_"),
            ("a condition of numbers", branches(if_of(1, 1, ins=("x", "x")), relus), "its condition, 'x', is not of BOOL"),
            ("no operands", branches(("IF", [], ["y"], {"then": 1, "else": 1}), relus), "it has 0 inputs and 1 outputs"),
            ("no results", tf.model(top, [if_of(1, 1, outs=()), relus[1][0]], ["c", "x"], ["y"], [relus]), "it has 2 inputs and 0 outputs"),
            ("a loop of other results", loop(1, 2, always, relus, ins=("x", "n")), "it has 2 inputs and 1 outputs"),
            ("a loop that changes a type", loop(1, 2, always, relus, ins=("n",)), "its output 0 is of FLOAT32 in place of INT32"),
            ("a loop of numbers", loop(1, 1, relus), "output 0 of subgraph 1, 'y_"),
            ("an input twice", branches(if_of(1, 1, ins=("c", "x", "x")), (relus[0], relus[1], ["x", "x"], ["y"])), "is an input of subgraph 1 twice"),
            ("nothing makes a result", branches(if_of(1, 1), (relus[0], [], ["x"], ["y"])), "no operator makes output 0 of subgraph 1"),
            ("an end that is not there", branches(if_of(1, 1), (relus[0], relus[1], ["x"], [12])), "output 0 is tensor 12 of 2"),
            ("an operator that is not read", branches(if_of(1, 1), ([x, y], [(10, ["x"], ["y"], None)], ["x"], ["y"])), "HASHTABLE_LOOKUP"),
            ("an operator past a branch", branches(
                if_of(1, 1, ins=("c", "c", "x")),
                ([c, x, y, tf.tensor("z", f, (2,))], [if_of(2, 2), ("CUSTOM Mine", ["y"], ["z"], None)], ["c", "x"], ["z"]), relus),
             "(CUSTOM Mine, tflite 1) in subgraph 1, operator 1"),
            ("a variable that only a branch assigns", branches(if_of(1, 1), ([x, h], [handle, ("ASSIGN_VARIABLE", ["h", "x"], [], None)], ["x"], ["x"])),
             "the variable 'v' has no value before a subgraph assigns one"),
            ("a variable that a branch reads", branches(if_of(1, 1), ([x, h, y], [handle, ("READ_VARIABLE", ["h"], ["y"], None)], ["x"], ["y"])),
             "the variable 'v' has no value before it is read"),
            ("a variable of another type", tf.model(
                [*top, h], [handle, ("ASSIGN_VARIABLE", ["h", "n"], [], None), if_of(1, 1)], ["c", "x", "n"], ["y"],
                [([x, h], [handle, ("ASSIGN_VARIABLE", ["h", "x"], [], None)], ["x"], ["x"])]),
             "it gives the variable 'v' elements of FLOAT32 in place of int32"),
            ("branches that give different handles", tf.model(
                [*top, h], [if_of(1, 2, outs=("h",)), ("READ_VARIABLE", ["h"], ["y"], None)], ["c", "x", "n"], ["y"],
                [([x, h], [handle], ["x"], ["h"]), ([x, h], [("VAR_HANDLE", [], ["h"], {"name": "w"})], ["x"], ["h"])]),
             "output 0 of subgraph 2, 'h_6', is the handle of another variable"),
            ("a loop that changes a handle", tf.model(
                [*top, h, tf.tensor("g", "resource")], [handle, ("WHILE", ["h"], ["g"], {"cond": 1, "body": 2})], ["c", "x", "n"], ["x"],
                [([h, tf.constant("k", np.array(True))], [], ["h"], ["k"]),
                 ([h, tf.tensor("g", "resource")], [("VAR_HANDLE", [], ["g"], {"name": "w"})], ["h"], ["g"])]), "is the handle of another variable"),
            ("a result that is no handle", tf.model(
                [*top, h], [if_of(1, 1, outs=("h",))], ["c", "x", "n"], ["x"], [([x, h], [(136, [], ["h"], None)], ["x"], ["h"])]), "HASHTABLE"),
            ("a resource that nothing made", tf.model(
                [*top, h], [if_of(1, 1, outs=("h",))], ["c", "x", "n"], ["x"], [([x, h], [("RELU", ["x"], ["h"], None)], ["x"], ["h"])]),
             "output 0 of subgraph 1, 'h_3', is the handle of no variable"),
            ("a state in a branch", branches(if_of(1, 1), of_state), "is a variable tensor in a subgraph of another operator"),
            ("a resource as an operand", tf.model([c, h, y], [if_of(1, 1, ins=("c", "h"))], ["c"], ["y"], [relus]), "elements of type RESOURCE"),
            ("a handle in place of a number", tf.model([c, h, y], [handle, if_of(1, 1, ins=("c", "h"))], ["c"], ["y"], [relus]),
             "is of FLOAT32 in place of an unknown type"),
            ("a branch that is run once", branches(if_of(1, 1), ([x], [("CALL_ONCE", [], [], {"subgraph": 1})], ["x"], ["x"])),
             "it is in a subgraph of another operator, which may run several times")):
        done = run("run", "--zero", write("m.tflite", data), code=1)
        assert words in done.stderr and "m.tflite" in done.stderr, (why, done.stderr)


def test_a_tensor_that_branches_read_is_listed_once():
    t = [tf.tensor("c", "bool"), *(tf.tensor(n, "float32", (2,)) for n in "xyz")]
    add = ([tf.tensor(n, "float32", (2,)) for n in "abs"], [("ADD", ["a", "b"], ["s"], {"act": 0})], ["a", "b"], ["s"])
    write("m.tflite", tf.model(t, [if_of(1, 1, ["c", "x", "x"], ["y"]), if_of(1, 1, ["c", "y", "x"], ["z"])], ["c", "x"], ["z"], [add]))
    run("convert", "m.tflite", "-o", "m.net")
    text = pathlib.Path("m.net").read_text()
    assert "cond=c, capture1=x |" in text and "cond=c, capture1=y, capture2=x |" in text, text
    # A variable that both of them read.
    write("m.tflite", make_seeds.carried())
    run("convert", "m.tflite", "-o", "m.net")
    text = pathlib.Path("m.net").read_text()
    assert "capture1=" in text and "capture2=" not in text, text


def test_subgraphs_are_read_to_a_depth_and_a_number():
    """Also where few of them run each other very often: 8^14 graphs of 15 subgraphs."""
    t = [tf.tensor("c", "bool"), tf.tensor("x", "float32", (2,)), tf.tensor("y", "float32", (2,))]
    last = (t, [("RELU", ["x"], ["y"], None)], ["c", "x"], ["y"])

    def chain(depth, count):
        """Subgraph k has `count` operators that run subgraph k + 1."""
        graphs = []
        for k in range(1, depth):
            tensors = [*t[:2], *(tf.tensor(f"y{i}", "float32", (2,)) for i in range(count))]
            graphs.append((tensors, [if_of(k + 1, k + 1, ["c", "c", "x"], [f"y{i}"]) for i in range(count)], ["c", "x"], ["y0"]))
        return tf.model(t, [if_of(1, 1, ["c", "c", "x"])], ["c", "x"], ["y"], [*graphs, last])

    run("run", "--zero", write("m.tflite", chain(4, 2)))
    run("run", "--zero", write("m.tflite", chain(9, 1)))
    run("run", "--zero", write("m.tflite", chain(20, 1)), code=1, err="more than 16 subgraphs run each other")
    run("run", "--zero", write("m.tflite", chain(14, 8)), code=1, err="operators run more than 4096 subgraphs")
    wide = [*t[:2], *(tf.tensor(f"y{i}", "float32", (2,)) for i in range(2049))]
    both = (t, [], ["c", "x"], ["x"])
    for count in (2048, 2049):
        ops = [if_of(1, 1, ["c", "c", "x"], [f"y{i}"]) for i in range(count)]
        data = tf.model(wide, ops, ["c", "x"], [f"y{count - 1}"], [both])
        run("inspect", write("m.tflite", data), code=count == 2049, err="operators run more than 4096 subgraphs" if count == 2049 else "")


def test_one_table_of_many_operators_takes_bounded_time():
    """A list of operators that are all the same one, which has a long list of inputs."""
    t = [tf.tensor("x", "float32", (1,)), tf.tensor("y", "float32", (1,))]
    data = bytearray(tf.model(t, [("CONCATENATION", ["x"] * 20000, ["y"], {"axis": 0})] * 1, ["x"], ["y"]))
    w = tf.Writer()
    w.out = data
    w.pad(4)
    graph = tf.Table(bytes(data), tf.Table(bytes(data), int.from_bytes(data[:4], "little")).children(2)[0].at)
    op, at = graph.children(3)[0].at, len(data)
    count = 20000
    data += count.to_bytes(4, "little")
    for i in range(count):  # offsets are unsigned and forward, so each wraps around to the one operator
        data += ((op - len(data)) % (1 << 32)).to_bytes(4, "little")
    field = graph.field(3)
    data[field:field + 4] = (at - field).to_bytes(4, "little")
    run("inspect", write("many.tflite", bytes(data)), code=1)


# ---- The page ----

def test_the_page_lists_the_operators_that_are_read():
    rows = dict(re.findall(r"^B\(\d+, (\w+), \w+, \"(\w+)\"\)$", (ROOT / "src/serial/tflite/builtins.inc").read_text(), re.M))
    page = (ROOT / "docs/tflite.md").read_text()
    table = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.M))
    assert rows == table, (set(rows.items()) ^ set(table.items()))


def test_numbers_of_the_schema_are_those_of_the_tests():
    text = (ROOT / "src/serial/tflite/builtins.inc").read_text()
    codes = {name: int(code) for code, name in re.findall(r"^[BU]\((\d+), (\w+)", text, re.M)}
    assert all(codes[name] == code for name, code in tf.CODES.items() if name != "CUSTOM")


def test_seeds_are_what_is_made():
    for name, make in make_seeds.SEEDS.items():
        assert (ROOT / "tests/fuzz/tflite" / name).read_bytes() == make(), name


def test_scales_are_for_blocks_of_rows():
    rng = np.random.default_rng(5)
    rows, width, block = 3, 96, 32
    x, w = rng.integers(-9, 10, (2, width)).astype("f4"), rng.integers(-8, 8, (rows, width)).astype("i1")
    scales = np.float16(2.0 ** rng.integers(-6, 3, (rows, width // block)) * rng.integers(1, 8, (rows, width // block)))
    nibbles = w.reshape(-1).view("u1") & 15
    packed = (nibbles[::2] | nibbles[1::2] << 4).tobytes()

    def model(scales, size=block, zeros=None, last="y"):
        t = [tf.tensor("x", "float32", (2, width)), tf.tensor("w", "int4", (rows, width), packed, blocks=("s", zeros, size)),
             tf.constant("s", scales), tf.tensor("y", "float32", (2, rows))]
        return write("m.tflite", tf.model(t, [("FULLY_CONNECTED", ["x", "w", None], ["y"], {"act": 0})], ["x"], ["y"]))

    np.save("x.npy", x)
    want = x.astype("f8") @ (w * np.repeat(scales.astype("f8"), block, 1)).T  # exact: small integers over a power of two
    for some in (scales, scales.astype("f4")):
        for target in ("ref", "cpu"):
            run("run", model(some), "-t", target, "-i", "x.npy", "-o", "out")
            assert (np.load("out/y.npy") == want).all(), (some.dtype, target)
    for bad in ((scales, 31), (scales, 0), (scales[:2],), (scales[:, :2],), (scales.astype("i4"),)):
        run("run", model(*bad), "-i", "x.npy", code=1, err="the scales of 'w' for blocks of")
    run("run", model(scales, zeros="s"), "-i", "x.npy", code=1, err="the zero points of the blocks of 'w' are not read")


def test_sparse_constants_become_dense():
    rng = np.random.default_rng(9)

    def some(shape, dtype):
        return (rng.integers(1, 100, shape) * (rng.random(shape) < 0.3)).astype(dtype)

    def model(array, values, table, op="DENSIFY"):
        name = array.dtype.name
        t = [tf.tensor("x", name, array.shape), tf.tensor("s", name, array.shape, values, sparsity=table),
             tf.tensor("d", name, array.shape), tf.tensor("y", name, array.shape)]
        ops = [("DENSIFY", ["s"], ["d"], None), ("MAXIMUM", ["x", "d"], ["y"], None)]
        return write("m.tflite", tf.model(t, ops if op == "DENSIFY" else [("MAXIMUM", ["x", "s"], ["y"], None)], ["x"], ["y"]))

    cases = [((5, 7), "f4", (0, 1), (0, 1), ()), ((5, 7), "i4", (1, 0), (0, 1), ()), ((4, 12), "f4", (0, 1, 2), (0, 1, 0), ((1, 4),)),
             ((6, 12), "i4", (0, 1, 2, 3), (1, 1, 0, 0), ((0, 3), (1, 4))), ((6, 12), "f4", (0, 1, 3, 2), (0, 1, 0, 0), ((1, 4), (0, 3))),
             ((3, 2, 2, 5), "f4", (0, 1, 2, 3), (0, 0, 0, 1), ()), ((3, 2, 2, 5), "i4", (3, 0, 2, 1), (1, 0, 1, 1), ()), ((9,), "f4", (0,), (1,), ())]
    for i, (shape, dtype, order, formats, blocks) in enumerate(cases):
        array = some(shape, dtype)
        values, table = tf.sparse(array, order, formats, blocks, (1 + i % 3, 1 + (i + 1) % 3))
        np.save("x.npy", np.zeros(shape, dtype))
        for op in ("DENSIFY", "none"):
            run("run", model(array, values, table, op), "-i", "x.npy", "-o", "out")
            assert (np.load("out/y.npy") == array).all(), (shape, order, formats, blocks, op)

    array = np.float32([[1, 0, 2], [0, 3, 0]])
    values, table = tf.sparse(array, (0, 1), (0, 1))
    says = dict(code=1, err="the sparse constant 's' has indices that do not fit it")
    wrong = [(values[:2], table), (np.append(values, values), table), (values, {**table, 0: tf.ints((0, 0))}), (values, {**table, 0: tf.ints((0, 2))}),
             (values, {**table, 0: tf.ints((0, 1, 2)), 1: tf.ints((1,))}), (values, {**table, 2: table[2][:1]})]
    for segments, indices in (((0, 2, 4), (0, 2, 1)), ((0, 2), (0, 2, 1)), ((0, 2, 3), (0, 3, 1)), ((0, 2, 3), (2, 0, 1)), ((0, 2, 3), (0, 0, 1)),
                              ((-1, 2, 3), (0, 2, 1)), ((2, 0, 3), (0, 2, 1)), ((0, 2, 3), (0, -1, 1))):
        wrong.append((values, {**table, 2: [table[2][0], {**table[2][1], 2: tf.Number("B", 1), 3: {0: tf.ints(segments)}, 5: {0: tf.ints(indices)}}]}))
    wrong.append((values, {**table, 2: [{**table[2][0], 1: tf.Number("i", 3)}, table[2][1]]}))
    wrong.append((values, {**table, 2: [table[2][0], {**table[2][1], 2: tf.Number("B", 4)}]}))
    for data, broken in wrong:
        run("run", model(array, data, broken), "--zero", **says)
    large = [tf.tensor("s", "float32", (1 << 15, 1 << 12), values, sparsity=table), tf.tensor("d", "float32", (1 << 15, 1 << 12))]
    run("run", write("m.tflite", tf.model(large, [("DENSIFY", ["s"], ["d"], None)], [], ["d"])), **says)
    value, table = tf.sparse(np.eye(1, 16384, dtype="f4")[0], (0,), (1,))  # 64 KB each, in a file of some
    many = [tf.tensor("s%d" % i, "float32", (16384,), value, sparsity=table) for i in range(40)]
    ends = [tf.tensor("d%d" % i, "float32", (16384,)) for i in range(40)]
    ops = [("DENSIFY", ["s%d" % i], ["d%d" % i], None) for i in range(40)]
    run("run", write("m.tflite", tf.model(many + ends, ops, [], ["d%d" % i for i in range(40)])), code=1, err="has indices that do not fit it")


def test_a_scalar_is_squeezed_to_itself():
    t = [tf.tensor("x", "float32"), tf.tensor("y", "float32")]
    np.save("s.npy", np.float32(2.5))
    run("run", write("m.tflite", tf.model(t, [("SQUEEZE", ["x"], ["y"], {})], ["x"], ["y"])), "-i", "s.npy", "-o", "out")
    assert np.load("out/y.npy") == 2.5
    write("n.tflite", tf.model(t, [("SQUEEZE", ["x"], ["y"], {"dims": [0]})], ["x"], ["y"]))
    run("run", "n.tflite", "-i", "s.npy", code=1, err="it has axis 0 of a scalar")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            test()
            os.chdir("/")
    print(len(tests), "tests")


if __name__ == "__main__":
    main()
