#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `lightnet run` and `lightnet MODEL` need, show and write.

Usage: run_test.py FOLDER-OF-THE-COMMANDS
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

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
    pathlib.Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


WEIGHT = "create(| dst=%s | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0], from_file=true);\n"


def trained(count=1):
    """A model that adds weights from a file to its input."""
    text = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
    last = "x"
    for i in range(count):
        text += WEIGHT % ("w%d" % i)
        text += "elew(src1=%s, src2=w%d | dst=s%d | elew_op=TL_SUM);\n" % (last, i, i)
        last = "s%d" % i
    return write("trained%d.net" % count, text)


# ---- What no kernel computes ----

def test_what_loading_computes_is_no_work_of_runs():
    """Of batch norm on dynamic dimensions only scale and offset, which loading makes, are on ref."""
    model = write("folded.net", """input(| dst=x | dtype=TL_FLOAT, dims=[1, 64, 64, 64]);
create(| dst=w | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-1, 1]);
create(| dst=s | dtype=TL_FLOAT, dims=[64], ran=[1, 2]);
conv2d(src=x, weight=w, bias=s | dst=c | group=1, size=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);
batchnorm(src=c, scale=s, offset=s, mean=s, var=s | dst=y | epsilon=1e-5);
""")
    run("-c", "-o", "folded.json", "--no-weights", model)
    assert '"bn_fold_bias_ref"' in pathlib.Path("folded.json").read_text()
    assert "on ref" not in run("run", model, "--zero").stderr + run("inspect", model).stdout


# ---- Compiled files of models with dynamic inputs ----

def test_a_compiled_file_with_dynamic_inputs_takes_shapes():
    text = "".join("input(| dst=%s | dtype=TL_FLOAT, dims=[-1, 3], names=[\"n\", \"\"]);\n" % x for x in "ab")
    model = write("dynamic.net", text + "elew(src1=a, src2=b | dst=y | elew_op=TL_SUM);\n")
    run("-c", "-o", "dynamic.json", model)
    run("run", "dynamic.json", "-s", "n=2", "--zero", out="y: float32 [2, 3]")
    run("run", "dynamic.json", "-s", "a=4x3", "-s", "b=4x3", "--zero", out="y: float32 [4, 3]")
    run("dynamic.json", "-s", "n=2", "--zero", out="y: float32 [2, 3]")
    run("run", "dynamic.json", "-i", "a=[[1,2,3]]", "-i", "b=[[1,1,1]]", out="[2 3 4]")
    run("bench", "dynamic.json", "-s", "n=5", "--runs=1", out="dynamic.json on cpu")
    run("plan", "dynamic.json", "-s", "n=2", out="a [input]")
    run("inspect", "dynamic.json", "-s", "n=7", out="a float32 [7, 3]")
    run("run", "dynamic.json", "-s", "n=1..3", "--zero", code=1, err="a range is stated when a model is compiled")
    run("-c", "-o", "ranged.json", "-s", "n=1..3", model)
    run("plan", "ranged.json", out="most is needed by n=3")
    run("run", "ranged.json", "-s", "n=2", "--zero", out="y: float32 [2, 3]")
    run("run", "ranged.json", "-s", "n=4", "--zero", code=1, err="compiled for 1 to 3")
    run("run", "dynamic.json", "-s", "m=1", "--zero", code=1, err="no input and no symbolic dimension 'm'")
    run("run", "dynamic.json", "-s", "3", "--zero", code=1, err="the model has 2 inputs")
    run("run", "dynamic.json", "-s", "a=4x4", "-s", "b=4x4", "--zero", code=1, err="not [4, 4]")
    run("run", "dynamic.json", "-s", "a=x", "--zero", code=2, err="-s takes NAME=")

# ---- What is told, and once ----

def test_the_command_alone_shows_outputs_that_the_model_names():
    model = write("named.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\noutput(src=y | |);\n")
    run(model, "-i", "[1,-2]", out="y: float32 [2] min 0 max 1 mean 0.5\n[1 0]\n")

def test_compare_tells_nothing_of_zeros():
    """Weights that no file has are random in both runs."""
    done = run("compare", trained())
    assert not done.stderr, done.stderr


def test_inputs_of_a_model_that_is_only_compiled_are_named():
    model = write("only.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
    run("-c", "-o", "only.json", "-i", "q=x.npy", model, code=1, err="the model has no input 'q'; it has 'x'")
    run("-c", "-o", "only.json", "-i", "x=x.npy", model, err="-i x=x.npy is not read: -c only compiles")


def test_a_shape_without_a_name_is_that_of_the_only_input():
    model = write("open.net", "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3]);\nrelu(src=x | dst=y |);\n")
    run("run", model, "-s", "4x3", "--zero", out="y: float32 [4, 3]")
    run("run", model, "-s", "4x2", "--zero", code=1, err="not [4, 2]")
    two = write("two.net", "input(| dst=a | dtype=TL_FLOAT, dims=[-1]);\ninput(| dst=b | dtype=TL_FLOAT, dims=[-1]);\n"
                           "Add(A=a, B=b | C=y |);\n")
    run("run", two, "-s", "4", "--zero", code=1, err="the model has 2 inputs, so say which: -s a=4")


def test_operators_of_others_are_named():
    for word, here in (("Convolution", "Conv"), ("Dense", "linear"), ("InnerProduct", "linear"), ("Convv", "Conv"),
                       ("batchnormm", "batchnorm"), ("MaxPooling", "MaxPool")):
        run("ops", word, code=1, err="no operator '%s' is registered; did you mean '%s'?" % (word, here))


def test_lists_in_words_say_what_is_wrong():
    model = write("pair.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]);\nrelu(src=x | dst=y |);\n")
    for text, fault in (("[[1,2],[3]]", "lists side by side differ in length"), ("[[1,2],[3,4]", "a comma or ] is expected at the end"),
                        ("[1,[2]]", "numbers and lists stand side by side at '[2]]'"), ("[[1,2],3]", "numbers and lists stand side by side"),
                        ("[1,,2]", "a number is expected at ',2]'"), ("[]", "a number is expected at ']'"), ("[1,x]", "a number is expected at 'x]'"),
                        ("fill:[1]", "fill: takes one number"), ("fill:", "a number is expected at the end"),
                        ("[[1,2],[3,4]]x", "more follows the value at 'x'")):
        run("run", model, "-i", text, code=1, err="-i x=%s is neither a file nor a value: %s" % (text, fault))
    run("run", model, "-i", "[[1,-2],[3,4]]", out="[[1 0]")


# ---- As it was read ----

def test_rules_none_is_the_model_as_it_was_read():
    """Of all verbs that compile: two equal activations stay two, and the convolution stays without them."""
    text = ("input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 2, 2]);\n"
            "create(| dst=w | dtype=TL_FLOAT, dims=[1, 1, 1, 1], ran=[0, 0], data=[3], from_file=false);\n"
            "Conv(X=x, W=w | Y=c |);\nRelu(X=c | Y=r |);\nRelu(X=c | Y=s |);\nAdd(A=r, B=s | C=y |);\noutput(src=y | |);\n")
    model = write("as_read.net", text)
    write("x.raw", np.array([1, -2, 3, -4], "f4").tobytes())
    done = run("opt", "--rules=none", model)
    assert [line.split(": ")[1].split("(")[0] for line in done.stdout.splitlines()] == \
        ["input_ref", "create_ref", "conv_ref", "act_ref", "act_ref", "Add_ref", "output_ref"], done.stdout
    run("run", "--rules=none", model, "-i", "x.raw", out="6")
    run("plan", "--rules=none", model, out=" s\n")
    assert " s\n" not in run("plan", model).stdout  # merged with r
    run("inspect", "--rules=none", model, out="memory     main memory on ref: ")
    run("bench", "--rules=none", "--runs=1", "--warmup=1", "--min-time=0", model)
    run("--rules=none", "-c", "-o", "as_read.json", model)
    run("run", "as_read.json", "-i", "x.raw", out="6")
    run("run", "--rules=none", "as_read.json", "-i", "x.raw", code=1, err="is compiled already")
    for verb in ("run", "opt", "plan", "inspect"):
        run(verb, "--rules=none", "-t", "cpu", model, code=2, *(["--zero"] if verb == "run" else []),
            err="--rules=none is the model as it was read, which runs on ref, not on cpu")
        run(verb, "--rules=none", "--rules=some.rules", model, code=2, *(["--zero"] if verb == "run" else []),
            err="--rules=none takes no rules, and --rules=some.rules gives some")
    write("none", "rule r [exact]\n  y = Add(a, b)\n  => y = a\n")
    assert "Add_ref" not in run("opt", "--rules=./none", "-t", "ref", model).stdout


def test_compare_holds_rewrites_against_the_model_as_it_was_read():
    model = write("relu.net", "input(| dst=x | dtype=TL_FLOAT, dims=[8]);\nRelu(X=x | Y=y |);\noutput(src=y | |);\n")
    write("wrong.rules", "rule no_relu [exact]\n  y = Relu(x)\n  => y = act(x | act=\"neg\")\n")
    for target in ("ref", "cpu"):
        run("compare", "-b", target, model, out="%s against the model as it was read: " % target)
        done = run("compare", "-b", target, "--rules=wrong.rules", model, code=1, out=" 1 deviate\nfirst:   tensor 'y'")
        assert "the same" not in done.stdout
        run("compare", "-a", "ref", "-b", target, "--rules=wrong.rules", model,
            out="ref and %s give the same" % target)  # both are wrong
    run("compare", "--rules=none", model, code=2, err="--rules=none is what -b is compared with")
    run("blame", "--rules=none", model, code=2, err="--rules=none is what the other side is compared with")


# ---- What is missing ----

def test_missing_weights_are_an_error_that_names_them():
    write("x.raw", np.array([1, 2], "f4").tobytes())
    run("run", trained(), "-i", "x.raw", code=1, err="the weights 'w0' come from a data file, and none is given; "
        "give it with -f FILE, or zeros with --zero")
    run("run", trained(5), "-i", "x.raw", code=1, err="the weights 'w0', 'w1', 'w2' and 2 more come")
    run("run", trained(), "-i", "x.raw", "--zero", out="[1 2]")
    run("genwts", "-m", trained(), "-o", "w.safetensors")
    run("run", trained(), "-i", "x.raw", "-f", "w.safetensors", out="s0: float32 [2]")
    run("-c", "-o", "compiled.json", trained())
    run("run", "compiled.json", "-i", "x.raw", code=1, err="the weights 'w0'")
    run("-c", "-o", "with.json", "-f", "w.safetensors", trained())
    run("run", "with.json", "-i", "x.raw", out="s0: float32 [2]")


def test_missing_inputs_are_an_error_with_all_of_them():
    kinds = [("x", ow.tensor_type("FLOAT", ["batch", 2])), ("state", ow.tensor_type("FLOAT", [2, "batch", 4])),
             ("rate", ow.tensor_type("INT64", []))]
    write("speech.onnx", ow.model([ow.node("Add", ["x", "x"], ["y"]), ow.node("Add", ["state", "state"], ["next"]),
                                   ow.node("Identity", ["rate"], ["r"])], kinds,
                                  [("y", kinds[0][1]), ("next", kinds[1][1]), ("r", kinds[2][1])]))
    np.save("x.npy", np.ones((1, 2), "f4"))
    run("run", "speech.onnx", "-i", "x=x.npy", code=1, err="inputs 'state' (float32 [2, ?, 4]), 'rate' (int64 []) are "
        "not given; give data with -i NAME=FILE, or zeros with --zero")
    run("run", "speech.onnx", "-i", "x=x.npy", "--zero", out="next: float32 [2, 1, 4] min 0 max 0") # x tells the batch
    run("run", "speech.onnx", "--zero", code=1, err="'state' (float32 [2, ?, 4]) are not given; zeros need a shape: -s batch=1")
    run("run", "speech.onnx", "-i", "x=x.npy", "--zero", "-s", "state=2x1x4", out="next: float32 [2, 1, 4] min 0 max 0")
    run("run", "speech.onnx", "--zero", "-s", "batch=3", out="y: float32 [3, 2]")


# ---- Without a command ----

def test_the_command_alone_shows_results_and_writes_nothing():
    model = write("double.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nAdd(A=x, B=x | C=y |);\n")
    write("x.raw", np.array([1, 2], "f4").tobytes())
    before = sorted(os.listdir("."))
    run(model, "-i", "x.raw", out="y: float32 [2] min 2 max 4 mean 3\n[2 4]\n")
    run(model, "--zero", out="min 0 max 0")
    run(model, code=1, err="input 'x' (float32 [2]) is not given")
    assert sorted(os.listdir(".")) == before, os.listdir(".")
    done = run(model, "-i", "x.raw", "-o", "-", out='"format": "lightnet-compiled"')
    assert "y: TL_FLOAT" not in done.stdout
    run(model, "-i", "x.raw", "-o", "double.json", out="[2 4]")
    run("-r", "double.json", "-i", "x.raw", out="[2 4]")


# ---- What is shown ----

def identity(count, name="id.net"):
    return write(name, "input(| dst=x | dtype=TL_FLOAT, dims=[1, %d]);\nIdentity(input=x | output=y |);\n" % count)


def test_labels_that_do_not_fit_are_an_error():
    model = identity(3)
    np.save("x.npy", np.array([[0.1, 0.7, 0.2]], "f4"))
    write("three.txt", "cat\ndog\nbird\n")
    run("run", model, "-i", "x.npy", "--labels", "three.txt", "--top=1", out="1. 0.7               1  dog")
    # What the shape of an output is may be known only after the run.
    write("two.txt", "cat\ndog\n")
    late = write("late.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3]);\ninput(| dst=n | dtype=TL_INT64, dims=[2]);\n"
                             "Reshape(data=x, shape=n | reshaped=y |);\n")
    for command in (["run"], []):
        run(*command, late, "-i", "x=x.npy", "-i", "n=[1,3]", "--labels", "three.txt", "--top=1",
            out="1. 0.7               1  dog")
        run(*command, late, "-i", "x=x.npy", "-i", "n=[1,3]", "--labels", "two.txt", code=1,
            err="two.txt has 2 names of classes, but output 'y' has 3; --top without --labels")
    write("two.txt", "cat\ndog\n")
    for command in (["run"], []):
        run(*command, model, "-i", "x.npy", "--labels", "two.txt", code=1,
            err="two.txt has 2 names of classes, but output 'y' has 3; --top without --labels")
        for text in ('["cat", "dog", "bird"]', '{"0": "cat",\n"1": "dog"}', '[\n"cat",\n"dog"]'):
            write("labels.json", text)
            run(*command, model, "-i", "x.npy", "--labels", "labels.json", code=1, err="labels.json is JSON; write the "
                "names of the classes one a line")
    done = run("run", model, "-i", "x.npy", "--top=2")
    assert "1. 0.7               1\n    2. 0.2               2\n" in done.stdout, done.stdout


def test_ranges_are_those_of_finite_elements():
    for values, said in (([np.nan, np.nan], " no finite element (2 NaN)"),
                         ([np.inf, np.nan], " no finite element (1 NaN) (1 infinite)"),
                         ([1, 2], " min 1 max 2 mean 1.5\n")):
        np.save("x.npy", np.array([values], "f4"))
        run("run", identity(2), "-i", "x.npy", out=said)


def test_limits_of_work_and_time_and_what_runs_on_ref():
    model = write("det.net", "input(| dst=x | dtype=TL_FLOAT, dims=[100000, 3, 3]); Det(X=x | Y=y |);")
    said = "1 of 1 operators, 100 % of the work, have no kernel on cpu and run on ref: Det 1"
    run("run", "--zero", model, err=said)
    run("inspect", model, out="on ref     " + said)
    assert "no kernel" not in run("inspect", "-t", "ref", model).stdout
    run("run", "--zero", "--work=1e5", model, code=1, err="over the limit of 1e+05 (--work, ln_limits.work); operator")
    run("run", "--zero", "--work=5e12", "--timeout=100", model)
    run("run", "--zero", "--timeout=1e-9", model, code=1, err="s (--timeout, ln_thread_set_timeout)")
    slow = write("slow.net", "input(| dst=x | dtype=TL_FLOAT, dims=[300, 300]); MatMul(A=x, B=x | Y=y |);")
    start = time.monotonic()
    run("bench", "-t", "ref", "--timeout=1", "--runs=100000", slow, code=1, err="the limit in all is 1 s (--timeout")
    assert time.monotonic() - start < 20  # on a busy machine
    for wrong in ("--work=x", "--work=0", "--timeout=-1", "--timeout=1s"):
        run("run", wrong, model, code=2, err=wrong.split("=")[0] + " takes a number of")


def test_multiply_accumulates_are_those_of_products_alone():
    model = write("macs.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8, 6, 6]); create(| dst=w | dtype=TL_FLOAT, "
                  "dims=[4, 8, 3, 3], ran=[-1, 1], data=[0], from_file=false); create(| dst=b | dtype=TL_FLOAT, "
                  "dims=[4], ran=[-1, 1], data=[0], from_file=false); conv2d(src=x, weight=w, bias=b | dst=c | group=1, "
                  "size=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET); relu(src=c | dst=r |); "
                  "maxpool2d(src=r | dst=y | size=[2, 2], stride=[2, 2], padding=[0, 0, 0, 0], autopad=NOTSET);")
    run("inspect", model, out="work       %d multiply-accumulates a run" % (4 * 36 * 8 * 9))
    assert "on bytes" not in run("inspect", model).stdout


def test_products_on_bytes_are_counted():
    """192 of 216 multiply-accumulates are 88.9 %; beside a small one of floats all are not 100 %."""
    of_bytes = ("input(| dst=x | dtype=TL_UINT8, dims=[4, 8]); create(| dst=w | dtype=TL_UINT8, dims=[8, 6], data=[3]); MatMulInteger(A=x, B=w | Y=i |); "
                "Cast(input=i | output=f | to=1); create(| dst=k | dtype=TL_FLOAT, dims=[6, 1], data=[0.5]); MatMul(A=f, B=k | Y=y |);")
    model = write("bytes.net", of_bytes)
    run("inspect", model, out="\non bytes   1 of 2 products, 88 % of the multiply-accumulates\n")
    run("inspect", write("signed.net", of_bytes.replace("TL_UINT8, dims=[4", "TL_INT8, dims=[4")), out="\non bytes   1 of 2 products, 88 % of")
    said = json.loads(run("inspect", model, "--json").stdout)
    assert [said[key] for key in ("products", "on_bytes", "macs_on_bytes", "macs")] == [2, 1, 192, 216], said
    large = write("large.net", of_bytes.replace("4, 8", "4, 4000").replace("8, 6", "4000, 6"))
    run("inspect", large, out="on bytes   1 of 2 products, 99 % of the multiply-accumulates\n")
    model = write("floats.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]); MatMul(A=x, B=x | Y=y |); create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.5]); "
                  "QuantizeLinear(x=y, y_scale=s | y=q |);")
    run("inspect", model, out="on bytes   0 of 1 products, 0 % of the multiply-accumulates\n")
    model = write("no.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]); create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.5]); QuantizeLinear(x=x, y_scale=s | y=q |);")
    assert "on bytes" not in run("inspect", model).stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                print(name, flush=True)
                test()


main()
