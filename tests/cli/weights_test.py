#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that work on files of tensors, against readers and writers of our own in Python.

Usage: weights_test.py FOLDER-OF-THE-COMMANDS
"""
import math
import os
import pathlib
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
        err="q: 5 numbers are changed to what TL_INT8 holds: '300' on line 1 is the first")
    assert read("a.wts") == b"1\nq 2 6 7f 80 01 00 07 7f\n"
    write("f", "1e39")
    run("genwts", "-o", "a.wts", "f", err="f: 1 number is changed to what TL_FLOAT holds: '1e39'")


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


def test_numbers_of_any_length_and_files_of_any_byte():
    write("n", b"0" * 5000 + b"1." + b"0" * 5000 + b" 2\x003 \xff\xfe")
    run("genwts", "-o", "a.safetensors", "n", err="passed over 1 word that is no number")
    assert tf.values(tf.read_safetensors(read("a.safetensors"))["n"]) == (1.0, 2.0, 3.0)


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
    run("run", "model.net", "-f", "a.safetensors")

    for name in "b.safetensors", "c.safetensors":
        run("genwts", "-m", "model.net", "-s", "8" if name[0] == "c" else "7", "-o", name)
    assert read("a.safetensors") == read("b.safetensors") != read("c.safetensors")
    run("genwts", "-m", "model.net", "-s", str(2**64 - 1), "-o", "a.wts")
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
            (["genwts", "-s", "-1", "-o", "a.wts", "-m", "model.net"], "--seed takes"),
            (["genwts", "-s", "18446744073709551616", "-o", "a.wts", "a"], "--seed takes"),
            (["genwts", "--nonsense"], "unknown option --nonsense")]:
        run(*args, code=2, err=err)
    run("genwts", "-m", "own.net", "-o", "a.wts", code=1, err="takes no tensor from a data file")
    run("genwts", "-m", "missing.net", "-o", "a.wts", code=1, err="missing.net")
    run("genwts", "-o", "no/such/folder/a.wts", "a", code=1, err="no/such/folder")


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
