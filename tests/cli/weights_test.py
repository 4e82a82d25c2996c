#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that work on files of tensors, against readers and writers of our own in Python.

Usage: weights_test.py FOLDER-OF-THE-COMMANDS
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tensor_files as tf

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")
NAN, INF = math.nan, math.inf


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


def read(name):
    return pathlib.Path(name).read_bytes()


# ---- genwts: numbers in text ----

def test_numbers_become_arrays():
    write("conv1.bias.txt", "1, -2.5; [3e2] (4.) <.5>|+1E-3!{-inf},NaN\n infinity")
    write("_x2", "0x10 1 nan(3) 1e 2\n. - e5 three 1_0\n\n3")
    done = run("genwts", "-o", "a.wts", "conv1.bias.txt", "_x2",
               err="_x2: passed over 7 words that are no number: '0x10' on line 1 is the first")
    assert "bias.txt:" not in done.stderr
    got = tf.read_wts(read("a.wts"))
    assert list(got) == ["conv1", "_x2"]
    want = struct.pack("<9f", 1, -2.5, 300, 4, .5, 1e-3, -INF, NAN, INF)
    assert got["conv1"].data == want, got["conv1"]
    # nan(3) is the word nan and the number 3.
    assert repr(tf.values(got["_x2"])) == repr((1.0, NAN, 3.0, 2.0, 3.0)), tf.values(got["_x2"])


def test_the_known_file_of_the_format():
    write("wts1.txt", "1.2 1e-3 -3e-2 2e5 0")
    run("genwts", "-t", "0", "-o", "a.wts", "wts1.txt")
    assert read("a.wts") == b"1\nwts1 0 5 3f99999a 3a83126f bcf5c28f 48435000 00000000\n"


def test_numbers_as_int8():
    write("q", "1 -1 127 -128 0")
    run("genwts", "-t", "2", "-o", "a.wts", "q")
    assert read("a.wts") == b"1\nq 2 5 01 ff 7f 80 00\n"
    write("q", "300 -129 1.5\nnan 7 1e99")
    run("genwts", "-t2", "-o", "a.wts", "q",
        err="q: 5 numbers are changed to what int8 holds: '300' on line 1 is the first")
    assert read("a.wts") == b"1\nq 2 6 7f 80 01 00 07 7f\n"
    write("f", "1e39")
    run("genwts", "-o", "a.wts", "f", err="f: 1 number is changed to what float32 holds: '1e39'")


def test_files_that_cannot_be_used_are_left_out():
    write("a1.txt", "1")
    write("9a.txt", "2")
    write("b.txt", "")
    done = run("genwts", "-o", "a.wts", "a1.txt", "9a.txt", "missing", "b.txt", code=1,
               err="9a.txt is left out: its name does not begin with an identifier")
    assert "missing is left out" in done.stderr
    assert read("a.wts") == b"2\na1 0 1 3f800000\nb 0 0\n"
    write("a1.other", "1")
    run("genwts", "-o", "a.wts", "a1.txt", "a1.other", code=1, err="'a1' appears twice")
    os.remove("a.wts")
    run("genwts", "-o", "a.wts", "missing", code=1)
    assert not os.path.exists("a.wts")


def test_numbers_of_any_length_between_bytes_that_are_no_text():
    write("n", b"0" * 5000 + b"1." + b"0" * 5000 + b" 2\x013 4 \xff\xfe")
    run("genwts", "-o", "a.safetensors", "n", err="passed over 2 words that are no number")
    assert tf.values(tf.read_safetensors(read("a.safetensors"))["n"]) == (1.0, 4.0)


def test_a_file_with_a_zero_byte_is_no_text():
    write("n", b"1 2 \x003")
    write("m", b"4")
    run("genwts", "-o", "a.safetensors", "n", "m", code=1, err="n is left out: it is no text of numbers: its byte 4 is 0")
    assert list(tf.read_safetensors(read("a.safetensors"))) == ["m"]


# ---- genwts: random weights ----

MODEL = """
input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 6, 6]);
#define W(name, ...) create(| dst=name | dtype=TL_FLOAT, dims=[__VA_ARGS__], ran=[0, 0], \\
                            data=[0], from_file=true);
W(w1, 8, 2, 3, 3) W(b1, 8) W(flat, 72)
conv2d(src=x, weight=w1, bias=b1 | dst=c1 | group=2, size=[3, 3]);
W(s, 8) W(o, 8) W(m, 8) W(v, 8)
batchnorm(src=c1, scale=s, offset=o, mean=m, var=v | dst=n | epsilon=1e-5);
relu(src=n | dst=r |);
reshape(src=flat | dst=w2 | dims=[8, 1, 3, 3]);
W(b2, 2)
deconv2d(src=r, weight=w2, bias=b2 | dst=d | group=2, size=[3, 3], stride=[3, 1],
         output_dims=[0, 0, 0, 0], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1],
         autopad=NOTSET);
create(| dst=unused | dtype=TL_INT8, dims=[50], ran=[0, 0], data=[0], from_file=true);
create(| dst=own | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[7], from_file=false);
"""

MASK = (1 << 64) - 1


def splitmix(state):
    state = (state + 0x9e3779b97f4a7c15) & MASK
    z = state
    z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
    return state, z ^ z >> 31


def random_floats(seed, name, count, least, most):
    _, state = splitmix(seed)
    code = 0xcbf29ce484222325
    for byte in name.encode():
        code = ((code ^ byte) * 0x100000001b3) & MASK
    state ^= code
    got = []
    for _ in range(count):
        state, number = splitmix(state)
        got.append(least + (most - least) * (((number >> 40) + 0.5) / 2**24))
    return struct.pack("<%df" % count, *got)


def test_random_weights_are_those_of_the_seed():
    write("model.net", MODEL)
    run("genwts", "--model", "model.net", "--seed", "7", "-o", "a.safetensors")
    got = tf.read_safetensors(read("a.safetensors"))
    he = math.sqrt(6 / 18)      # 2 channels of 3 * 3, in front of a relu
    spread = math.sqrt(3 / 12)  # 4 channels of 3 * 3, one window in 3, nothing behind it
    want = {"w1": ((8, 2, 3, 3), -he, he), "b1": ((8,), -.1, .1), "flat": ((72,), -spread, spread),
            "s": ((8,), .8, 1.2), "o": ((8,), -.1, .1), "m": ((8,), -.1, .1),
            "v": ((8,), .5, 1.5), "b2": ((2,), -.1, .1)}
    for name, (shape, least, most) in want.items():
        assert got[name].shape == shape, name
        assert got[name].data == random_floats(7, name, math.prod(shape), least, most), name
    assert set(got) == set(want) | {"unused"}
    assert got["unused"].dtype == "I8" and len(set(got["unused"].data)) > 20
    run("run", "model.net", "--zero", "-f", "a.safetensors")

    for name in "b.safetensors", "c.safetensors":
        run("genwts", "-m", "model.net", "--seed", "8" if name[0] == "c" else "7", "-o", name)
    assert read("a.safetensors") == read("b.safetensors") != read("c.safetensors")
    run("genwts", "-m", "model.net", "--seed", str(2**64 - 1), "-o", "a.wts")
    assert list(tf.read_wts(read("a.wts"))) == list(got)


def test_branches_that_are_added_are_small():
    write("sum.net", """
input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 4, 4]);
create(| dst=w | dtype=TL_FLOAT, dims=[3, 3, 1, 1], ran=[0, 0], data=[0], from_file=true);
create(| dst=b | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[0], from_file=true);
conv2d(src=x, weight=w, bias=b | dst=c | size=[1, 1]);
elew(src1=x, src2=c | dst=y | elew_op=TL_SUM);
""")
    run("genwts", "-m", "sum.net", "-o", "a.safetensors")
    limit = math.sqrt(.75 / 3)
    assert tf.read_safetensors(read("a.safetensors"))["w"].data == \
        random_floats(0, "w", 9, -limit, limit)


def test_wrong_calls_of_genwts():
    write("model.net", MODEL)
    write("own.net", "create(| dst=own | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[7]);")
    write("a", "1")
    for args, err in [
            (["genwts"], "say where to write"), (["genwts", "-o", "a.wts"], "no files of numbers"),
            (["genwts", "-o", "a.wts", "-m", "model.net", "a"], "either a model or files"),
            (["genwts", "-o", "a.bin", "a"], "a.bin: the name does not end in one of"),
            (["genwts", "-t", "1", "-o", "a.wts", "a"], "--type takes 0 (float) or 2 (int8)"),
            (["genwts", "--seed", "-1", "-o", "a.wts", "-m", "model.net"], "--seed takes"),
            (["genwts", "--seed", "18446744073709551616", "-o", "a.wts", "a"], "--seed takes"),
            (["genwts", "--nonsense"], "unknown option --nonsense")]:
        run(*args, code=2, err=err)
    run("genwts", "-m", "own.net", "-o", "a.wts", code=1, err="takes no tensor from a data file")
    run("genwts", "-m", "missing.net", "-o", "a.wts", code=1, err="missing.net")
    run("genwts", "-o", "no/such/folder/a.wts", "a", code=1, err="no/such/folder")


# ---- easyjson ----

def test_easy_json():
    write("a.ej", "{ // comment\n  \"url\": \"http://x\", \"n\": 1.50,\n  \"doc\": '''\na \"b\"\nc\n''',\n}\n")
    want = '{"url": "http://x", "n": 1.50, "doc": "a \\"b\\"\\nc"}\n'
    assert run("easyjson", "a.ej").stdout == want
    run("easyjson", "-o", "a.json", "a.ej")
    assert read("a.json").decode() == want
    write("b.ej", "[1,\n 2 3]")
    run("easyjson", "b.ej", code=1, err="b.ej:2:4: ")
    run("easyjson", "missing", code=1, err="missing")
    run("easyjson", "a.ej", "b.ej", code=2, err="one file at a time")


# ---- convert ----

TENSORS = {
    "f64": tf.tensor("F64", [2], [-1e300, .1]), "f32": tf.tensor("F32", [2, 1], [1.5, -INF]),
    "i64": tf.tensor("I64", [], [-2**63]), "i32": tf.tensor("I32", [1], [-2**31]),
    "i16": tf.tensor("I16", [3, 1, 1], [1, -2, 3]), "i8": tf.tensor("I8", [0, 4], []),
    "u64": tf.tensor("U64", [1], [2**64 - 1]), "u32": tf.tensor("U32", [1], [2**32 - 1]),
    "u16": tf.tensor("U16", [1], [65535]), "u8": tf.tensor("U8", [5], [0, 1, 2, 254, 255]),
    "bool": tf.tensor("BOOL", [3], [True, False, True]), "\u00e4/\"": tf.tensor("U8", [1], [7])}
SMALL = {"a": tf.tensor("F32", [3], [1.5, NAN, -0.0]), "b.c": tf.tensor("I8", [4], [1, -1, 127, -128])}


def test_every_format_becomes_every_other():
    for tensors, formats in (TENSORS, ["safetensors", "params"]), (SMALL, list(tf.WRITERS)):
        for source in formats:
            write("in", tf.WRITERS[source](tensors))
            for target in formats:
                run("convert", "in", "-o", "out." + target)
                got = tf.READERS[target](read("out." + target))
                assert got == tensors, (source, target, got)
                assert list(got) == list(tensors)
        run("convert", "in", "-o", "again." + target)
        assert read("again." + target) == read("out." + target)


def test_the_known_dictionary():
    tensor = tf.Tensor("I32", (4,), struct.pack("<4i", -2, -1, 0, 1))
    write("a.safetensors", tf.write_safetensors({"a": tensor}))
    run("convert", "a.safetensors", "-o", "a.params")
    assert len(read("a.params")) == 105
    assert read("a.params") == bytes.fromhex(
        "b79c04054f8de5f7 0000000000000000 0100000000000000 0100000000000000 61"
        "0100000000000000 3fa1b496f0405edd 0000000000000000 01000000 00000000 01000000 00 20 0100"
        "0400000000000000 1000000000000000 feffffff ffffffff 00000000 01000000")


def test_floats_of_16_bits_become_32():
    half = tf.tensor("F16", [2, 2], [1, -2**-24, INF, 65504])
    bfloat = tf.Tensor("BF16", (2,), b"\x80\x3f\x00\xff")
    want = {"h": tf.tensor("F32", [2, 2], [1, -2**-24, INF, 65504]),
            "b": tf.Tensor("F32", (2,), b"\x00\x00\x80\x3f\x00\x00\x00\xff")}
    for source in tf.write_safetensors, tf.write_params:
        write("in", source({"h": half, "b": bfloat}))
        run("convert", "in", "-o", "out.safetensors")
        assert tf.read_safetensors(read("out.safetensors")) == want


def test_what_a_format_does_not_hold_is_said():
    write("in", tf.write_safetensors({"x": tf.tensor("F64", [1], [1])}))
    run("convert", "in", "-o", "out.wts", code=1,
        err="'x' is float64, but .wts holds float32 and int8 only; write a .safetensors or")
    assert not os.path.exists("out.wts")
    write("in", tf.write_params({"x": tf.tensor("F32", [2, 1], [1, 2])}))
    run("convert", "in", "-o", "out.wts", err="out.wts holds no shapes: 1 tensor, such as 'x', keeps")
    assert tf.read_wts(read("out.wts"))["x"].shape == (2,)
    write("in", tf.write_params({"": tf.tensor("F32", [], [1])}))
    run("convert", "in", "-o", "out.wts", code=1, err="'' cannot be a name in .wts")
    run("convert", "in", "-o", "out.json", code=1, err="in holds weights, which go to a file whose")
    write("model.net", MODEL)
    run("convert", "model.net", "-o", "out.params", code=1, err="model.net: neither a safetensors")
    run("convert", "missing", "-o", "out.params", code=1, err="missing: cannot open")
    write("in", tf.write_params(SMALL)[:-1])
    run("convert", "in", "-o", "out.wts", code=1, err="in: byte ")


def test_a_model_runs_on_weights_of_any_format():
    write("model.net", MODEL)
    run("genwts", "-m", "model.net", "-o", "w.safetensors")
    write("x.raw", struct.pack("<144f", *range(144)))
    want = run("run", "model.net", "-f", "w.safetensors", "-i", "x.raw").stdout
    for target in "wts", "params":
        run("convert", "w.safetensors", "-o", "w." + target)
        assert run("run", "model.net", "-f", "w." + target, "-i", "x.raw").stdout == want
    write("x.params", tf.write_params({"x": tf.tensor("F32", [1, 4, 6, 6], list(range(144)))}))
    assert run("run", "model.net", "-f", "w.wts", "-i", "x.params").stdout == want


# ---- stats ----

def stats_of(name):
    got = json.loads(run("stats", "--json", name).stdout)
    return got, {t["name"]: t for t in got["tensors"]}


def check_stats(got, tensor):
    numbers = tf.values(tensor)
    finite = [x for x in numbers if math.isfinite(x)]
    assert got["elements"] == len(numbers) and got["shape"] == list(tensor.shape)
    assert got["nan"] == sum(map(math.isnan, numbers)) and got["inf"] == sum(map(math.isinf, numbers))
    assert got["zeros"] == sum(x == 0 for x in finite)
    normal = 2.0 ** (-1022 if tensor.dtype == "F64" else -126)
    assert got["subnormal"] == sum(0 < abs(x) < normal for x in finite), got
    if not finite:
        assert all(got[key] is None for key in ("min", "max", "mean", "deviation"))
        return
    assert (got["min"], got["max"]) == (min(finite), max(finite)), got
    mean = math.fsum(finite) / len(finite)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite))
    # A few roundings of doubles, whatever the number of elements.
    assert abs(got["mean"] - mean) <= 1e-15 * max(map(abs, finite)), (got, mean)
    assert abs(got["deviation"] - deviation) <= 1e-12 * deviation, (got, deviation)


def test_stats_are_those_of_the_numbers():
    pick = random.Random(5)
    tensors = {
        "normal": tf.tensor("F64", [3, 2501], [pick.gauss(0, 1) for _ in range(7503)]),
        "far": tf.tensor("F64", [5000], [1e9 + pick.random() for _ in range(5000)]),
        "odd": tf.tensor("F64", [3000], [pick.choice([NAN, INF, -INF, 0, -0.0, 1, pick.random()])
                                         for _ in range(3000)]),
        "nothing finite": tf.tensor("F64", [3], [NAN, INF, -INF]),
        "empty": tf.tensor("F64", [0, 7], []),
        "scalar": tf.tensor("F64", [], [-2.5]),
        "tiny": tf.tensor("F64", [7], [5e-324, -2.0 ** -1023, 2.0 ** -1022, 1e-40, 0, -0.0, NAN]),
        "tiny f32": tf.tensor("F32", [7], [2.0 ** -149, -2.0 ** -127, 2.0 ** -126, -2.0 ** -126 - 2.0 ** -149, 0, INF, -1]),
        "tiny blocks": tf.tensor("F32", [1500], [2.0 ** -130] * 1500),
        "huge": tf.tensor("F64", [2], [1.5e308, -1.5e308])}
    floats = [struct.unpack("<f", struct.pack("<f", pick.uniform(-3, 3)))[0] for _ in range(1025)]
    tensors["f32"] = tf.tensor("F32", [1025], floats)
    for dtype, bits in ("I8", 8), ("I16", 16), ("I32", 32), ("I64", 64):
        least = -2 ** (bits - 1)
        tensors[dtype] = tf.tensor(dtype, [4], [least, -1 - least, 0, 1])
        tensors["U" + dtype[1:]] = tf.tensor("U" + dtype[1:], [3], [2 ** bits - 1, 1, 2])
    tensors["bool"] = tf.tensor("BOOL", [3], [True, False, True])
    huge = tensors.pop("huge")
    for source in tf.write_safetensors, tf.write_params:
        write("in", source(tensors))
        got, by_name = stats_of("in")
        assert got["format"] == ("params" if source is tf.write_params else "safetensors")
        assert list(by_name) == list(tensors)
        for name, tensor in tensors.items():
            check_stats(by_name[name], tensor)
        total = got["total"]
        for key in "elements", "bytes", "zeros", "nan", "inf", "subnormal":
            assert total[key] == sum(t[key] for t in by_name.values()), key
        assert abs(sum(t["share"] for t in by_name.values()) - 1) < 1e-12
        assert (by_name["bool"]["bytes"], by_name["normal"]["bytes"]) == (12, 8 * 7503)
        assert (by_name["tiny"]["subnormal"], by_name["tiny f32"]["subnormal"]) == (2, 2)
        run("stats", "in", out="\n1,504 subnormal: most processors compute many times slower with such numbers\n")
    # The sum of squares is beyond all doubles.
    write("in", tf.write_safetensors({"huge": huge}))
    assert stats_of("in")[1]["huge"]["deviation"] is None
    assert "subnormal" not in run("stats", "in").stdout

    for name, tensor in tensors.items():
        write("a.npy", tf.write_npy(tensor))
        got, by_name = stats_of("a.npy")
        assert got["format"] == "npy"
        check_stats(by_name[""], tensor)
    write("a.wts", tf.write_wts(SMALL))
    got, by_name = stats_of("a.wts")
    check_stats(by_name["b.c"], SMALL["b.c"])


def test_stats_as_text():
    write("in", tf.write_params({"w\x1b[2J": tf.tensor("F32", [2, 2], [0, 1, NAN, INF]),
                                 "q": tf.tensor("I8", [4], [1, 2, 3, -4])}))
    lines = run("stats", "in").stdout.splitlines()
    assert lines[0].split() == "type shape min max mean deviation zeros NaN inf bytes name".split()
    assert lines[1].split() == ["float32", "[2,", "2]", "0", "1", "0.5", "0.5", "1", "1", "1",
                                "80.00%", r"w\x1b[2J"], lines[1]
    assert lines[2].split()[:5] == ["int8", "[4]", "-4", "3", "0.5"], lines[2]
    assert lines[3] == "2 tensors, 8 elements, 20 bytes, 1 zeros, 1 NaN, 1 infinite"


def test_a_data_file_without_effect_is_said():
    """A model without weights takes none; one that has its own refuses those of another."""
    write("bare.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n")
    write("n", "1 2")
    run("genwts", "-o", "n.wts", "n")
    for command in (["run", "--zero"], ["bench", "--runs=1", "--min-time=0"], ["compare"], ["--zero"]):
        run(*command, "bare.net", "-f", "n.wts", err="n.wts has no effect: the model takes no weights from a file")
    done = run("run", "--zero", "bare.net", "-f", "none.wts", code=1, err="none.wts: cannot open")
    assert "no effect" not in done.stderr, done.stderr
    write("open.net", 'input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=["n"]);\nrelu(src=x | dst=y |);\n')
    done = run("run", "--zero", "open.net", "-s", "n=1..3", "-f", "n.wts", err="has no effect")
    assert done.stderr.count("no effect") == 1, done.stderr
    # Weights that rewriting finds unread are those of the model all the same.
    write("unread.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\ncreate(| dst=n | dtype=TL_FLOAT, dims=[2], "
                        "from_file=true);\nrelu(src=n | dst=z |);\nrelu(src=x | dst=y |);\noutput(src=y | |);\n")
    for command in (["run", "--zero"], ["compare"], ["run", "--zero", "--rules=none"]):
        done = run(*command, "unread.net", "-f", "n.wts")
        assert "no effect" not in done.stderr, done.stderr


def test_wrong_calls_of_stats():
    write("text", "hello")
    run("stats", "text", code=1, err="text: neither a safetensors nor a .wts file, nor a params")
    run("stats", "missing", code=1, err="missing: cannot open")
    write("cut.npy", tf.write_npy(tf.tensor("F32", [2], [1, 2]))[:-1])
    run("stats", "cut.npy", code=1, err="cut.npy holds 7 bytes of data where 8 are needed")
    run("stats", code=2, err="no file")
    run("stats", "text", "text", code=2, err="one file at a time")
    os.mkfifo("pipe")
    run("stats", "pipe", code=1, err="pipe: not a regular file")


# ---- Progress ----

def has_terminals():
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def on_terminal(*args):
    """Standard error of the command on a terminal of 60 columns, as it would be seen."""
    import fcntl
    import termios
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen([LIGHTNET, *args], stderr=slave, stdout=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    seen = b""
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:  # nobody has the other end any more
        pass
    os.close(master)
    assert process.wait() == 0, seen
    return seen.decode()


def test_what_takes_long_shows_its_progress_on_a_terminal():
    if not has_terminals():
        print("skipped: this machine has no pseudo-terminals")
        return
    write("long.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 64, 64, 64]);\n"
          "transpose(src=x | dst=y | axes=[3, 2, 1, 0]);\n")
    args = "run", "long.net", "--zero", "-t", "ref", "-n"
    count, seen = 200, ""
    while "\r" not in seen.replace("\r\n", "") and count < 1000000:
        count *= 4
        seen = on_terminal(*args, str(count))
    assert "\r\x1b[Krunning: " in seen and " of %d (1 s)\r" % count in seen, repr(seen)
    # The last line is taken away before the time is said.
    assert "\r\x1b[K\x1b[1minfo:\x1b[0m run time: median" in seen, repr(seen)
    assert all(len(line) < 60 for line in seen.split("\r\x1b[K")[1:-1])
    done = run(*args, "10")
    assert "\r" not in done.stderr and "\x1b" not in done.stderr
    assert "\r" not in on_terminal(*args, "10").replace("\r\n", "")


def main():
    failures = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
            except AssertionError as error:
                print("FAILED: %s: %s" % (name, error))
                failures += 1
        os.chdir("/")
    print("all claims hold" if failures == 0 else "%d failed" % failures)
    return failures != 0


sys.exit(main())
