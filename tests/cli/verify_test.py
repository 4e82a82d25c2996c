#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `lightnet verify` calls right and wrong, by type and largest number, and real models with their stored outputs.

Usage: verify_test.py FOLDER-OF-THE-COMMANDS [real]

real: the models beside the checkout; skipped (77) where there are none.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")
MODELS = pathlib.Path(__file__).resolve().parents[3] / "shared/conformance/models"


def verify(folder, *args):
    """Whether it passes, and what is printed."""
    done = subprocess.run([LIGHTNET, "verify", str(folder), *args], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1) and not done.stderr, done
    return done.returncode == 0, done.stdout


def case(given, want, dtype, operator="Identity", inputs=()):
    """A model of one operator whose input is `given` and whose stored output is `want`."""
    shutil.rmtree("case", ignore_errors=True)
    data = pathlib.Path("case/test_data_set_0")
    data.mkdir(parents=True)
    model = ow.model([ow.node(operator, ["x"] + [name for name, _ in inputs], ["y"])],
                     [("x", ow.tensor_type(ow.NUMPY[given.dtype.str[1:]], list(given.shape)))],
                     [("y", ow.tensor_type(dtype, list(want.shape)))], inputs)
    pathlib.Path("case/model.onnx").write_bytes(model)
    (data / "input_0.pb").write_bytes(ow.message(ow.tensor(given)))
    (data / "output_0.pb").write_bytes(ow.message(ow.tensor(want)))
    return "case"


def test_floats_are_judged_by_the_largest():
    numbers = np.array([1000, 1, 1e-6, 0, -300], "f4")
    for offset, is_right in (((0, 0, 0, 9e-3, 0), True), ((0, 0, 0, 1.1e-2, 0), False), ((0, 0, -9e-3, 0, 0), True),
                             ((0.1, 0, 0, 0, 0), True), ((0.12, 0, 0, 0, 0), False), ((10, 0, 0, 0, 0), False),
                             ((0, 0, 0, 0, 10), False), ((0, np.nan, 0, 0, 0), False), ((0, 0, np.inf, 0, 0), False)):
        folder = case(numbers, (numbers + np.array(offset, "f4")).astype("f4"), "FLOAT")
        assert verify(folder)[0] == is_right, offset
    for dtype in ("f2", "f8"):
        numbers = np.array([1000, 1, 0, -300], dtype)
        near = 1.5 if dtype == "f2" else 5e-3
        for offset, is_right in ((near, True), (10, False), (np.nan, False)):
            for at in range(4):
                want = numbers.copy()
                want[at] += offset
                assert verify(case(numbers, want, ow.NUMPY[dtype]))[0] == is_right, (dtype, offset, at)


def test_what_the_options_say_counts():
    numbers = np.array([1000, 0], "f4")
    folder = case(numbers, np.array([1000, 5e-3], "f4"), "FLOAT")
    assert verify(folder)[0]
    assert verify(folder, "--rtol=1")[0]
    assert not verify(folder, "--atol=0")[0]
    assert not verify(folder, "--rtol=1e-3", "--atol=1e-7")[0]
    assert verify(folder, "--rtol=0", "--atol=6e-3")[0]


def test_integers_are_exact():
    for dtype in ("i1", "u1", "i2", "i4", "i8", "u8"):
        numbers = np.array([100, 0, 3], dtype)
        assert verify(case(numbers, numbers, ow.NUMPY[dtype]))[0]
        other = numbers.copy()
        other[0] += 1
        assert not verify(case(numbers, other, ow.NUMPY[dtype]))[0], dtype
        assert verify("case", "--atol=1")[0], dtype
    large = np.array([2**60, 1], "i8")
    right, said = verify(case(large, large + np.array([1, 0], "i8"), "INT64"))
    assert not right and "digits that a double does not hold" in said, said


def test_quantized_elements_may_be_off_by_one():
    scale = [("s", np.array(1, "f4")), ("z", np.array(0, "i1"))]
    numbers = np.array([5, -7], "f4")
    for want, is_right in (([5, -7], True), ([6, -8], True), ([7, -7], False)):
        assert verify(case(numbers, np.array(want, "i1"), "INT8", "QuantizeLinear", scale))[0] == is_right, want


def test_the_model_as_it_was_read_tells_a_wrong_rewrite_from_a_wrong_operator():
    numbers = np.array([3, -2, 5], "f4")
    folder = case(numbers, np.maximum(numbers, 0), "FLOAT", "Relu")
    pathlib.Path("wrong.rules").write_text("rule no_relu [exact]\n  y = Relu(x)\n  => y = act(x | act=\"neg\")\n")
    assert verify(folder)[0] and verify(folder, "--rules=none")[0]
    right, said = verify(folder, "--rules=wrong.rules")
    assert not right and "gives what is stored: a rewrite or a kernel for cpu is wrong" in said, said
    # The command that comes next finds the rule, on the same data.
    line = next(line for line in said.splitlines() if "what makes it so: lightnet " in line)
    done = subprocess.run([LIGHTNET, *shlex.split(line.split("lightnet ", 1)[1])], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "rule no_relu [exact] (wrong.rules:1)" in done.stdout, (line, done)
    assert done.args[1] == "blame" and "round" not in said, said
    right, said = verify(case(numbers, numbers, "FLOAT", "Relu"))
    assert not right and "gives something else than what is stored as well" in said and "lightnet" not in said, said
    assert "as it was read" not in verify(folder, "--rules=none")[1]


def test_without_stored_outputs_the_model_as_it_was_read_says_them():
    numbers = np.array([3, -2, 5], "f4")
    folder = case(numbers, numbers, "FLOAT", "Relu")
    pathlib.Path(folder, "test_data_set_0/output_0.pb").unlink()
    for args in ((), ("--summary",)):
        right, said = verify(folder, *args)
        assert right and "1 data set without outputs, so as the model as it was read" in said, said
    assert "output 0 y, against the model as it was read: float32 [3]" in verify(folder)[1]
    for target in ("ref", "cpu"):
        right, said = verify(folder, "--rules=wrong.rules", "-t", target)
        assert not right and f"      what makes it so: lightnet blame -t {target} --rules=wrong.rules -i x=" in said, said
    right, said = verify(folder, "--rules=none")
    assert not right and "test_data_set_0 holds no output_0.pb" in said, said


def test_a_model_that_rounds_in_the_run_is_compared_step_by_step():
    numbers = np.array([3, -2, 5], "f4")
    ends = [("q", ow.tensor_type("UINT8", [3])), ("s", ow.tensor_type("FLOAT", [])), ("z", ow.tensor_type("UINT8", []))]
    folder = case(numbers, numbers, "FLOAT", "Relu")
    relu = ow.node("Relu", ["x"], ["y"])
    round_it = [ow.node("DynamicQuantizeLinear", ["y"], [name for name, _ in ends])]
    given = [("x", ow.tensor_type(ow.NUMPY["f4"], [3]))]
    pathlib.Path(folder, "model.onnx").write_bytes(ow.model([relu, *round_it], given, ends[:1]))
    stored = pathlib.Path(folder, "test_data_set_0/output_0.pb")
    stored.write_bytes(ow.message(ow.tensor(np.array([153, 0, 255], "u1"))))
    assert verify(folder)[0]
    for is_stored in (True, False):
        right, said = verify(folder, "--rules=wrong.rules")
        assert not right and "1 operator rounds in the run (quantize_dynamic): last digits" in said and "blame" not in said, said
        assert ("a rewrite or a kernel for cpu makes the difference\n" in said) == is_stored, said
        line = next(line for line in said.splitlines() if "whether each operator is right by what it reads: lightnet " in line)
        done = subprocess.run([LIGHTNET, *shlex.split(line.split("lightnet ", 1)[1])], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.args[1:4] == ["compare", "-b", "cpu"] and "deviate" in done.stdout, (line, done)
        stored.unlink(missing_ok=True)
    # What is stored may be of an engine that adds up in another order.
    stored.write_bytes(ow.message(ow.tensor(np.array([150, 0, 255], "u1"))))
    right, said = verify(folder)
    assert not right and "no rewrite is at fault" in said and "1 operator rounds in the run" in said and "lightnet compare -b cpu -i x=" in said, said
    stored.unlink()
    # Of the format of TensorFlow Lite's models of dynamic range: rounded to whole numbers alone. The first type is named.
    pathlib.Path(folder, "model.onnx").write_bytes(ow.model([relu, ow.node("Round", ["y"], ["r"]), ow.node("DynamicQuantizeLinear", ["r"], [name for name, _ in ends])],
                                                            given, ends[:1]))
    assert "2 operators round in the run (Round)" in verify(folder, "--rules=wrong.rules")[1]


def test_real_models():
    """Each with its defaults, and a small one with outputs that are wrong."""
    folders = sorted(path.parent for path in MODELS.glob("*/model.onnx"))
    assert len(folders) >= 20, folders
    for folder in folders:
        right, said = verify(folder, "--summary")
        assert right, said
    for name in ("mnist-8", "mnist-float16", "rten-mnist", "silero-vad-16k-op15"):
        check_wrong_outputs(MODELS / name)


def check_wrong_outputs(folder):
    """One element off by a hundredth of the largest, and one that is not a number."""
    for stored in sorted((folder / "test_data_set_0").glob("output_*.pb")):
        shutil.rmtree("copy", ignore_errors=True)
        shutil.copytree(folder, "copy")
        target = pathlib.Path("copy/test_data_set_0") / stored.name
        numbers = values_of(stored)
        for value in (numbers.flat[0] + abs(numbers).max() / 100, np.nan):
            wrong = numbers.copy()
            wrong.flat[0] = value
            target.write_bytes(ow.message(ow.tensor(wrong)))
            right, said = verify("copy")
            assert not right and "WRONG set 0" in said, (stored, said)
        target.write_bytes(ow.message(ow.tensor(numbers)))
        assert verify("copy")[0], stored


def values_of(path):
    """The numbers of a TensorProto with raw data, or of packed floats."""
    dims, dtype, data = [], 0, b""
    content, at = path.read_bytes(), 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = content[at]
            at += 1
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(content):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = varint()
            value = content[at:at + size]
            at += size
        if key >> 3 == 1:
            dims += [value] if isinstance(value, int) else list(value)
        elif key >> 3 == 2:
            dtype = value
        elif key >> 3 in (4, 9):
            data = value
    kind = {number: name for name, number in ow.DTYPES.items()}[dtype]
    return np.frombuffer(data, {name: kind for kind, name in ow.NUMPY.items()}[kind]).reshape(dims)


def main():
    is_real = sys.argv[2:] == ["real"]
    if is_real and not MODELS.is_dir():
        print("no models in", MODELS)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_") and (name == "test_real_models") == is_real:
                print(name, flush=True)
                test()


main()
