#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks in the words of the core are written in ONNX and read again: they compute the same bits on `cpu`, and the
official checker, where it is installed, accepts the files.

    through_onnx.py LIGHTNET FILE.net ...

Random constants become numbers first, as ONNX has none.
"""
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import iltest

try:
    import onnx.checker
    CHECKER = onnx.checker.check_model
except (ImportError, AttributeError):
    CHECKER = None

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve())
CREATE = re.compile(r"(create\(\| dst=(\w+) \|)([^;]*)(\);)")

# Why a network is not written: it is in words of an arch, prints, or has no data.
WITHOUT_FORM = re.compile(r"operator '[^']*' \((linear_pack|attention|attention_mask|quant_conv|quant_matmul|scale_shift|take|print|rescale)\): "
                          r"with these parameters it has no form in ONNX|comes from a data file, which is not given|"
                          r"a model that is compiled cannot be written in ONNX any more|"
                          r"no opset has both|does not take (int32|bool) for input")
# Decomposed operators that round otherwise; first values of inputs, which ONNX has not.
OTHER_BITS = {"onnx_swish", "ms_quick_gelu", "zeros_are_an_input"}
# What the core's text cannot say, or a test of what is refused.
NO_TEXT = re.compile(r"the argument 'axes' twice|tensors `stem_wts` and `planes`|`create0` unknown param")
# Types of the core, those that ONNX has no form for, and those of the networks that were written and read again.
CORE = set(re.findall(r"(?m)^W\((\w+),", (pathlib.Path(__file__).parents[2] / "src/desc/core_types.inc").read_text()))
FORMLESS = set("""linear_pack attention_mask quant_act quant_conv quant_elew quant_matmul rescale
    input output create zeros forward print fprint interleave put_channels bn_fold_weight bn_fold_bias wait""".split())
OP = re.compile(r"(?m)^(?:\S+: )?(\w+)\(")
written = set()
# Types that no rule and no pass of those networks is about.
MORE = {
    "cumsum": "create(| dst=k | dtype=TL_INT64, dims=[], data=[1]); cumsum(src=x, axis=k | dst=y | exclusive=1);",
    "lrn": "lrn(src=x | dst=y | size=2, alpha=0.5, beta=0.5, bias=2);",
    "trilu": "trilu(src=x | dst=y | upper=0);",
    "einsum": "create(| dst=w | dtype=TL_FLOAT, dims=[4, 5], ran=[-1, 1]); einsum(src1=x, src2=w | dst=y | equation=\"abc,cd->adb\");",
    "rnn": "create(| dst=w | dtype=TL_FLOAT, dims=[1, 8, 4], ran=[-1, 1]);\n"
           "create(| dst=r | dtype=TL_FLOAT, dims=[1, 8, 2], ran=[-1, 1]);\nrnn(src=x, weight=w, recurrence=r | dst=y | kind=lstm);",
}
RULES = pathlib.Path(__file__).resolve().parent / "rules"
# Forms that are newer than the checker.
NEWER = re.compile(r"No Op registered for|Unrecognized attribute: (axes|antialias) for operator Resize|has input size 2 not in range \[min=1, max=1\]")


def numbers(match):
    head, name, params, tail = match.groups()
    span = re.search(r", ran=\[([^\]]*)\]", params)
    low, high = (float(x) for x in span.group(1).split(",")) if span else (0, 0)
    if low == high:
        return match.group(0)
    generator, count = random.Random(name), 1
    for dim in re.findall(r"\d+", re.search(r"dims=\[([^\]]*)\]", params).group(1)):
        count *= int(dim)
    data = ", ".join("%.4g" % generator.uniform(low, high) for _ in range(count))
    params = re.sub(r", (data|from_file)=(\[[^\]]*\]|\w+)", "", params.replace(span.group(0), ""))
    return "%s%s, data=[%s]%s" % (head, params, data, tail)


def lightnet(*args):
    done = subprocess.run([LIGHTNET, *map(str, args)], capture_output=True, text=True, errors="replace", timeout=120,
                          check=False)
    if done.returncode:
        raise iltest.Failure(done.stderr.strip().split("\n")[-1])


def outputs(model, inputs, folder):
    lightnet("run", model, "-t", "cpu", *inputs, "--zero", "-o", folder)
    return {file.name: file.read_bytes() for file in folder.glob("*.npy")}


def check(path):
    if not CHECKER:
        return ""
    model = onnx.load(str(path))
    model.ir_version = min(model.ir_version, onnx.IR_VERSION)
    try:
        CHECKER(model)
    except onnx.checker.ValidationError as error:
        if not NEWER.search(str(error)):
            raise iltest.Failure("the checker refuses it: %s" % error) from error
        return "newer than the checker"
    return "checked"


def through(path, folder):
    """What came of one network: a word that is counted."""
    plain, core, again = folder / "plain.net", folder / "core.net", folder / "core.onnx"
    try:
        lightnet("opt", "--passes=core", "-o", plain, path)
    except iltest.Failure as failure:
        if NO_TEXT.search(str(failure)):
            return "without text"
        raise
    core.write_text(CREATE.sub(numbers, plain.read_text()))
    try:
        lightnet("convert", "-o", again, core)
    except iltest.Failure as failure:
        if WITHOUT_FORM.search(str(failure)):
            return "without form"
        raise
    inputs = iltest.write_inputs(plain, folder)
    before, after = outputs(core, inputs, folder / "a"), outputs(again, inputs, folder / "b")
    # Constants that rules make needless are outputs of a text without `output`, and of no file.
    different = [name for name in after if before.get(name) != after[name]]
    if not after or (different and path.stem not in OTHER_BITS):
        raise iltest.Failure("other bits in %s" % ", ".join(different or ["no output"]))
    written.update(OP.findall(plain.read_text()))
    return check(again)


def one(path):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return through(pathlib.Path(path), pathlib.Path(folder)), None
        except (iltest.Failure, KeyError, AttributeError) as failure:
            return "failed", "%s: %s" % (path, failure)


def more_networks(folder):
    paths = []
    for name, text in MORE.items():
        paths.append("%s/%s.net" % (folder, name))
        pathlib.Path(paths[-1]).write_text("input(| dst=x | dtype=TL_FLOAT, dims=[3, 2, 4]);\n%s\n" % text.replace("; ", ";\n"))
    return paths


def main():
    counts = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for what, why in pool.map(one, sys.argv[2:] + more_networks(folder)):
            counts[what] = counts.get(what, 0) + 1
            if why:
                print(why)
    if not CHECKER:
        print("python3-onnx is not installed: nobody checks the files")
    print(", ".join("%d %s" % (count, what or "read again") for what, count in sorted(counts.items())))
    # With fewer networks, as sanitized builds have them, some types are in none.
    given = {pathlib.Path(path).resolve() for path in sys.argv[2:]}
    unwritten = sorted(CORE - FORMLESS - written) if given.issuperset(RULES.glob("*.net")) else []
    for name in unwritten:
        print("no network with the core type '%s' is written in ONNX: give it a rule in src/serial/onnx/to_onnx.rules, and "
              "MORE here or tests/il/rules a network" % name)
    good = sum(counts.get(what, 0) for what in ("", "checked", "newer than the checker"))
    return 0 if "failed" not in counts and not unwritten and good > len(sys.argv[2:]) * 3 / 4 else 1


if __name__ == "__main__":
    sys.exit(main())
