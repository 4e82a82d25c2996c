#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No general rule moves operators from arch `cpu` to its fallback `ref`.

    fallback.py LIGHTNET MODEL...

Each model, and each of those made here, is lowered with all rewrites, and where that leaves operators on `ref`,
once without each of the rewrites of `core`, `fold` and `settle`. With a rewrite there are no more of them than without
it, and as many only if they are of the same types.
"""
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REWRITE = re.compile(r"firing (\d+): (?:core|fold|settle): (\S+) \[\w+\] at '([^']*)'")
# The type of a statement in IL, its inputs and its outputs; what an argument says; a name in a model.
STATEMENT = re.compile(r"^(?:[\w.\-/]+: )?(\w+)\(([^|\n]*)\|([^|\n]*)", re.MULTILINE)
ARGUMENT = re.compile(r"=\s*([\w.\-/]+)")
WORD = re.compile(r"[\w.\-/]+")
# One operator under two names: the core has one type for them; or what stays on ref of one that becomes several.
SAME = {"Clip_ref": "act_ref", "Abs_ref": "act_ref", "Neg_ref": "act_ref", "Sqrt_ref": "act_ref",
        "Add_ref": "elew_ref", "Sub_ref": "elew_ref", "Mul_ref": "elew_ref", "Div_ref": "elew_ref",
        "Max_ref": "elew_ref", "Min_ref": "elew_ref", "Sum_ref": "elew_ref", "Mod_ref": "elew_ref",
        "BatchNormalization_ref": "batchnorm_ref", "LayerNormalization_ref": "layernorm_ref",
        "RMSNormalization_ref": "layernorm_ref", "MaxPool_ref": "pool_ref", "MatMul_ref": "matmul_ref", "Gemm_ref": "linear_ref",
        "ml_LinearClassifier_ref": "ArgMax_ref", "ms_QLinearAveragePool_ref": "pool_ref"}
# Views, which copy nothing, and what runs once, when a model is loaded.
FREE = ("input_ref", "create_ref", "output_ref", "reshape_ref", "forward_ref", "bn_fold_weight_ref",
        "bn_fold_bias_ref")


# ---- Models ----

AFTER = [  # statements from tensor c to tensor y
    "Relu(X=c | Y=y |);",
    "Clip(input=c, min=low0, max=high0 | output=y |);",
    "LeakyRelu(X=c | Y=y | alpha=0.25);",
    "Sigmoid(X=c | Y=y |);",
    "Tanh(input=c | output=y |);",
    "HardSigmoid(X=c | Y=y |);",
    "Elu(X=c | Y=y |);",
    "Sigmoid(X=c | Y=g |);\nMul(A=c, B=g | C=y |);",
    "Add(A=c, B=z | C=y |);",
    "Add(A=c, B=z | C=s |);\nRelu(X=s | Y=y |);",
    "Add(A=z, B=c | C=s |);\nClip(input=s, min=low0, max=high0 | output=y |);",
    "Relu(X=c | Y=s |);\nAdd(A=s, B=z | C=y |);",
    "Add(A=c, B=k | C=y |);",
    "Mul(A=c, B=k | C=s |);\nAdd(A=s, B=k | C=y |);",
    "BatchNormalization(X=c, scale=k1, B=k1, input_mean=k1, input_var=v1 | Y=y |);",
]


def ints(values):
    return "[" + ", ".join(map(str, values)) + "]"


def model(dtype, src, dst, weight, statement, after, axes):
    """`statement` makes c of x, w and b; `after` makes y of it. What neither reads is left out."""
    channels = dst[1]
    tensors = {
        "x": f"input(| dst=x | dtype={dtype}, dims={ints(src)});",
        "z": f"input(| dst=z | dtype={dtype}, dims={ints(dst)});",
        "w": f"create(| dst=w | dtype={dtype}, dims={ints(weight)}, ran=[-1, 1]);",
        "b": f"create(| dst=b | dtype={dtype}, dims=[{channels}], ran=[-1, 1]);",
        "k": f"create(| dst=k | dtype={dtype}, dims={ints([1, channels] + [1] * axes)}, ran=[0, 1]);",
        "k1": f"create(| dst=k1 | dtype={dtype}, dims=[{channels}], ran=[0, 1]);",
        "v1": f"create(| dst=v1 | dtype={dtype}, dims=[{channels}], ran=[0.5, 1]);",
        "low": f"create(| dst=low | dtype={dtype}, dims=[1], data=[0]);\n"
               "reshape(src=low | dst=low0 | dims=[]);",
        "high": f"create(| dst=high | dtype={dtype}, dims=[1], data=[6]);\n"
                "reshape(src=high | dst=high0 | dims=[]);",
    }
    needed = [text for name, text in tensors.items() if re.search(rf"={name}0?\b", statement + after)]
    return "\n".join([*needed, statement, after, ""])


def conv(dtype, op, axes, group, stride, after):
    length, channels = [6, 7, 5][:axes], 4
    out = [(n - 1) * stride + 1 if op == "ConvTranspose" else (n - 1) // stride + 1 for n in length]
    return model(dtype, [2, channels, *length], [2, channels, *out], [channels, channels // group] + [3] * axes,
                 f"{op}(X=x, W=w, B=b | Y=c | group={group}, pads={ints([1] * 2 * axes)}, "
                 f"strides={ints([stride] * axes)});", after, axes)


def models():
    for axes, group, op in itertools.product((1, 2, 3), (1, 2, 4), ("Conv", "ConvTranspose")):
        for number, after in enumerate(AFTER):
            yield f"{op}_{axes}_{group}_{number}", conv("TL_FLOAT", op, axes, group, 1 + (number + axes) % 2, after)
    for number, after in enumerate(AFTER):
        yield f"double_{number}", conv("TL_DOUBLE", "Conv", 2, 1, 1, after)
        yield f"Gemm_{number}", model("TL_FLOAT", [3, 5], [3, 4], [5, 4], "Gemm(A=x, B=w, C=b | Y=c |);", after, 0)
        if "BatchNormalization" not in after:
            yield f"MatMul_{number}", model("TL_FLOAT", [2, 3, 5], [2, 3, 4], [5, 4], "MatMul(A=x, B=w | Y=c |);",
                                            after, 1)


# ---- The count ----

def run_each_time(lowered, model):
    """The types of the statements of `lowered`, less those that read nothing but constants which rewrites made of
    parameters: such are computed once, when a model is loaded. Constants of the model itself may be its inputs here."""
    named = {name for line in model.splitlines() if not line.startswith("//") for name in WORD.findall(line)}
    once, types = set(), []
    for op, inputs, outputs in STATEMENT.findall(lowered):
        made = ARGUMENT.findall(outputs)
        read = ARGUMENT.findall(inputs)
        is_made_here = op == "create_ref" and not named & set(made)
        if is_made_here or (read and once.issuperset(read)):
            once.update(made)
        else:
            types.append(op)
    return types


def lower(lightnet, path, skipped=None):
    """(types of the operators on `ref`, rewrites), or (None, message) if the model is refused."""
    arguments = [lightnet, "opt", "--verbose", "-o", "-", str(path)]
    if skipped:
        arguments.insert(2, f"--skip={skipped}")
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None, done.stderr
    types = collections.Counter(SAME.get(t, t) for t in run_each_time(done.stdout, path.read_text()))
    found = collections.Counter({t: n for t, n in types.items() if t.endswith("_ref") and t not in FREE})
    return found, REWRITE.findall(done.stderr)


def wrong_rewrites(lightnet, path):
    """(messages, number of rewrites tried, why the model is refused or None)"""
    after, rewrites = lower(lightnet, path)
    if after is None:
        return [], 0, rewrites
    messages, count = [], 0
    for number, rule, at in rewrites if after else ():  # there are no fewer than none
        before, _ = lower(lightnet, path, number)
        count += 1
        if before is None:
            continue  # nothing takes the model without it
        if after.total() > before.total() or (after.total() == before.total() and after != before):
            messages.append(f"{path.name}: rule {rule} at '{at}' makes {dict(after - before)}, and without it "
                            f"there is {dict(before - after)}")
    return messages, count, None


def main():
    lightnet, *given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(path) for path in given]
        made = []
        for name, text in models():
            made.append(pathlib.Path(folder) / f"{name}.net")
            made[-1].write_text(text)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda path: wrong_rewrites(lightnet, path), made + paths))
    failed = 0
    for path, (messages, _, error) in zip(made + paths, results):
        if error and path in made:
            messages.append(f"{path.name}: refused: {error.strip().splitlines()[-1]}")
        for message in messages:
            print(message)
        failed += len(messages)
    lowered = sum(1 for result in results if result[2] is None)
    tried = sum(result[1] for result in results)
    print(f"{lowered} models lowered, {tried} rewrites left out one by one, {failed} move operators to ref")
    return 1 if failed else 0


sys.exit(main())
